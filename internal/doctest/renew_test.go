//go:build linux

package doctest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestRenewalKeepsTheJobOrStops(t *testing.T) {
	t.Parallel()
	const (
		stops      = "The plan changes job_id, so it was not applied. Rerun the last publish or plan job."
		unfinished = "The export has no link yet, because its first export or its import did not finish. Rerun the last publish or plan job."
		names      = "check that each trigger has the name of the variable it is set from"
		nothing    = "Nothing published yet."
		renews     = "1 changed"
	)
	publish := func(t *testing.T, s *service) { s.Run(t, 0, "apply", "-auto-approve") }
	expire := func(t *testing.T, s *service) {
		publish(t, s)
		s.clock.Advance(time.Hour)
	}
	// publishLater publishes a later update, which fails, and lets the link expire.
	publishLater := func(t *testing.T, s *service, job simulator.JobSpec) {
		publish(t, s)
		s.AddUpdate(simulator.UpdateSpec{ID: "upd_later", Queue: -1, Run: -1})
		s.NextJob(job)
		s.Env = append(s.Env, "TF_VAR_status_id=upd_later")
		s.Run(t, 1, "apply", "-auto-approve")
		// The service no longer says that the earlier update succeeded.
		s.AddUpdate(simulator.UpdateSpec{ID: "upd_success", Queue: -1, Run: -1, Fail: "unknown"})
		s.clock.Advance(time.Hour)
	}
	for name, test := range map[string]struct {
		before      func(t *testing.T, s *service)
		exit        int
		output      string
		jobs, links int
	}{
		"nothing published yet": {func(*testing.T, *service) {}, 0, nothing, 0, 0},
		"the first export timed out": {func(t *testing.T, s *service) {
			s.NextJob(simulator.JobSpec{Queue: simulator.Forever})
			s.Run(t, 1, "apply", "-auto-approve")
		}, 1, unfinished, 1, 0},
		"only the gate of the publication is left over": {publish, 0, "0 changed, 1 destroyed", 1, 1},
		"due": {expire, 0, renews, 1, 2},
		"due with OpenTofu alone": {func(t *testing.T, s *service) {
			expire(t, s)
			s.command(t, "terraform", "exit 127")
			s.command(t, "tofu", "exec '"+s.Binary+`' "$@"`)
			s.Env = append(s.Env, "TF=tofu")
		}, 0, renews, 1, 2},
		"due while the gate of another run fails": {func(t *testing.T, s *service) {
			expire(t, s)
			s.command(t, "terraform", `if [ "$1" = apply ]; then
				'`+s.Binary+`' apply -var=gate=true -var=status_id=upd_failure >/dev/null 2>&1 && exit 1
			fi
			exec '`+s.Binary+`' "$@"`)
		}, 0, renews, 1, 2},
		"due after a later export failed": {func(t *testing.T, s *service) {
			publishLater(t, s, simulator.JobSpec{Fail: "Page guides/links.mdx cannot be parsed"})
		}, 0, renews, 2, 2},
		"due again after a later export timed out": {func(t *testing.T, s *service) {
			publishLater(t, s, simulator.JobSpec{Queue: simulator.Forever})
		}, 0, renews, 2, 3},
		"the job is unknown": {func(t *testing.T, s *service) {
			publish(t, s)
			s.ForgetJob(s.JobIDs()[1]) // after exportedJob
		}, 1, stops, 1, 1},
		"a trigger does not have the name of its variable": {func(t *testing.T, s *service) {
			s.Write(t, "main.tf", strings.Replace(read(t, s.Folder+"/main.tf"), "status_id = var.status_id # ", "update = var.status_id # ", 1))
			expire(t, s)
		}, 1, names, 1, 1},
		"the plan fails": {func(t *testing.T, s *service) {
			publish(t, s)
			s.RotateKey("sim_other")
		}, 1, "HTTP 401", 1, 1},
		"the state cannot be read": {func(t *testing.T, s *service) {
			publish(t, s)
			s.Write(t, "terraform.tfstate", "{")
		}, 1, "Unsupported state file", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPipeline(t, pipelines+"gitlab-ci/backend.tf")
			test.before(t, s)
			s.unset("TF_VAR_status_id") // a run on a schedule has no update
			s.Write(t, "plan.tfplan", "of the publication")
			if output := s.shell(t, test.exit, "exec sh renew.sh"); !strings.Contains(output, test.output) {
				t.Errorf("%q is missing:\n%s", test.output, output)
			}
			if jobs, links := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); jobs != test.jobs || links != test.links {
				t.Errorf("%d jobs and %d links, want %d and %d", jobs, links, test.jobs, test.links)
			}
			if plan := read(t, filepath.Join(s.Folder, "plan.tfplan")); plan != "of the publication" {
				t.Error("the plan of the publication was overwritten")
			}
			_, err := os.Stat(filepath.Join(s.Folder, "renew.tfplan"))
			if applied := test.exit == 0 && strings.Contains(test.output, " changed"); !applied && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a plan that was not applied remains (%v)", err)
			}
		})
	}
}

// The configurations of other guides have no gate, and variables of their own.
func TestRenewalWorksWithEachConfigurationThatRenews(t *testing.T) {
	t.Parallel()
	for _, directory := range []string{"guides/link-lifetime/renewal", "guides/self-hosting/link-in-state"} {
		t.Run(directory, func(t *testing.T) {
			t.Parallel()
			s := newScripts(t)
			s.Write(t, "renew.sh", read(t, examples+"/"+pipelines+"renew.sh"))
			s.enter(t, directory)
			s.Run(t, 0, "apply", "-auto-approve")
			s.unset("TF_VAR_revision")
			s.clock.Advance(time.Hour)
			s.shell(t, 0, "exec sh renew.sh")
			if jobs, links := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); jobs != 1 || links != 2 {
				t.Errorf("%d jobs and %d links, want 1 and 2", jobs, links)
			}
		})
	}
}

// A runner interrupts only the process of the step, so that must be the CLI.
func TestCanceledRenewalLeavesNoLock(t *testing.T) {
	t.Parallel()
	s := newPipeline(t, pipelines+"gitlab-ci/backend.tf")
	s.Run(t, 0, "apply", "-auto-approve")
	s.unset("TF_VAR_status_id")
	s.clock.Advance(time.Hour)
	s.hung = make(chan string, 1)
	s.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Times: 1, Delay: simulator.Forever})

	c := s.step(t, "exec sh renew.sh")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-s.hung:
	case err := <-ended:
		t.Fatalf("the renewal ended before it was canceled: %v", err)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("a canceled renewal succeeded")
	}
	if _, err := os.Stat(filepath.Join(s.Folder, ".terraform.tfstate.lock.info")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock remains (%v)", err)
	}
}
