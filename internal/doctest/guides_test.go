package doctest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestEachConfigurationIsAppliedAndThenPlansNothing(t *testing.T) {
	t.Parallel()
	var directories []string
	for _, pattern := range []string{"quickstart", "guides/*", "guides/*/*", "guides/*/*/*", "modules/*"} {
		for _, file := range glob(t, "examples/"+pattern+"/main.tf") {
			directories = append(directories, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), examples+"/"))
		}
	}
	for _, directory := range directories {
		t.Run(directory, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			switch content := read(t, filepath.Join(examples, directory, "main.tf")); {
			case strings.Contains(content, "terraform_remote_state"):
				t.Skip("needs the state of another configuration: see TestGateOfAnotherConfiguration")
			case strings.Contains(content, "set_wo_revision"):
				s.enter(t, directory)
				s.Run(t, 0, "apply", "-auto-approve")
				s.Run(t, 0, "destroy", "-auto-approve") // each plan hands over a new link
			default:
				s.enter(t, directory)
				s.apply(t)
			}
		})
	}
}

// The provider's clock is in 2020, so its plan keeps the link. By the clock of the CLI, the link has expired.
func TestChartGetsNoExpiredLink(t *testing.T) {
	t.Parallel()
	s := newServiceIn(t, 2020)
	s.enter(t, "guides/self-hosting/link-in-state")
	s.Run(t, 0, "apply", "-auto-approve", "-target=docs_static_export.site")
	s.Run(t, 0, "plan", "-out=saved")
	if output := s.Run(t, 1, "apply", "saved"); !strings.Contains(output, "The bundle link expired at 2020-01-31T12:15:") {
		t.Errorf("the precondition does not name the expiry:\n%s", output)
	}
}

// On a fresh disk, the bundle is downloaded again, and the object in the bucket stays as it is.
func TestFreshDiskPlansADownloadAndNoUpload(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.enter(t, "guides/self-hosting/own-storage")
	s.Run(t, 0, "apply", "-auto-approve")
	if err := os.RemoveAll(filepath.Join(s.Folder, "out")); err != nil {
		t.Fatal(err)
	}
	output := s.Run(t, 0, "plan")
	if !strings.Contains(output, "docs_bundle_download.site will be updated in-place") || !strings.Contains(output, "0 to add, 1 to change, 0 to destroy") {
		t.Errorf("more than the download is planned:\n%s", output)
	}
}

func TestModulePassesItsOwnTests(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.needs(t, `required_version = ">= 1.7"`)
	s.enter(t, "modules/chart-handover")
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "TF_VAR_") })
	s.Run(t, 0, "test")
	if requests := len(s.Requests()); requests > 0 {
		t.Errorf("mocked tests made %d requests", requests)
	}
	s.SkipBelow(t, 7, 12, "references to earlier runs")
	s.Run(t, 0, "init", "-test-directory=tests/simulator")
	s.Run(t, 0, "test", "-test-directory=tests/simulator")
}

func TestPostconditionOfAFailedUpdateIsExpected(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.needs(t, `required_version = ">= 1.7"`)
	s.enter(t, "guides/testing")
	const file = "tests/failed_update.tftest.hcl"
	_, unmocked, _ := strings.Cut(read(t, filepath.Join(s.Folder, file)), "\n}\n")
	for _, prepare := range []func(){func() {}, func() { s.Write(t, file, unmocked) }} {
		prepare()
		if output := s.Run(t, 0, "test"); !strings.Contains(output, "1 passed, 0 failed") {
			t.Errorf("the test did not run:\n%s", output)
		}
	}
	if s.Count(simulator.EndpointUpdate) == 0 {
		t.Error("without the mock, the service was not asked")
	}
}

func TestFailedUpdateStopsEachKindOfGate(t *testing.T) {
	t.Parallel()
	for example, command := range map[string]string{
		"data-sources/docs_update_status/data-source.tf": "plan",
		"resources/docs_update_gate/resource.tf":         "apply",
		"guides/deploy-gates/gate":                       "apply",
		"actions/docs_await_update/action.tf":            "apply",
	} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.enter(t, example)
			s.Env = append(s.Env, "TF_VAR_status_id=upd_failure")
			if command == "apply" {
				s.Run(t, 0, "plan", "-out=saved")
				s.Run(t, 1, "apply", "saved")
			} else {
				s.Run(t, 1, "plan")
			}
			if s.Count(simulator.EndpointStart) > 0 {
				t.Error("the site was exported")
			}
			if id := s.output(t, "status_id"); id != nil {
				t.Errorf("the output names %v, although no update succeeded", id)
			}
		})
	}
}

// The configurations of the two workspaces, each with its own state.
func TestGateOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.enter(t, "guides/deploy-gates/workspaces")
	s.AddUpdate(simulator.UpdateSpec{ID: "upd_later", Queue: -1, Run: -1})
	update := func(id string, wantExit int) {
		t.Helper()
		s.Run(t, wantExit, "-chdir=update", "apply", "-auto-approve", "-var=status_id="+id)
	}
	export := func(wantExit int) {
		t.Helper()
		s.Run(t, wantExit, "-chdir=export", "plan", "-detailed-exitcode")
	}
	update("upd_failure", 1)
	export(1)
	update("upd_success", 0)
	export(2)
	s.Run(t, 0, "-chdir=export", "apply", "-auto-approve")
	update("upd_failure", 1)
	export(0)
	s.Run(t, 0, "-chdir=update", "apply", "-auto-approve", "-refresh-only", "-var=status_id=upd_failure")
	export(0)
	update("upd_later", 0)
	export(2)
}

// The output that another configuration reads must not name a job without a bundle, which a create
// that timed out leaves.
func TestOutputOfAnExportNamesNoJobWithoutALink(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.enter(t, "guides/hcp-terraform/export")
	s.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	s.Run(t, 1, "apply", "-auto-approve")
	s.Run(t, 0, "apply", "-auto-approve", "-refresh-only")
	if id := s.output(t, "job_id"); id != nil {
		t.Errorf("the output names %v, although no export completed", id)
	}
}

// output returns the value of an output: nil if the state has none.
func (s *service) output(t *testing.T, name string) any {
	t.Helper()
	var outputs map[string]struct{ Value any }
	if err := json.Unmarshal([]byte(s.Run(t, 0, "output", "-json")), &outputs); err != nil {
		t.Fatal(err)
	}
	return outputs[name].Value
}
