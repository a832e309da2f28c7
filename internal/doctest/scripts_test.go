// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package doctest

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const pipelines = "guides/pipelines/"

// newPipeline returns a service whose folder holds the files of a pipeline, with a local state.
func newPipeline(t *testing.T, backend string) *service {
	t.Helper()
	for _, program := range []string{"curl", "jq"} {
		clitest.Program(t, program)
	}
	s := newService(t)
	for _, name := range []string{"install-provider.sh", "renew.sh"} {
		s.Write(t, name, read(t, filepath.Join(examples, pipelines, name)))
	}
	s.enter(t, pipelines+"main.tf", pipelines+backend)
	s.Write(t, "bin/terraform", "#!/bin/sh\nexec '"+s.Binary+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(s.Folder, "bin/terraform"), 0o700); err != nil {
		t.Fatal(err)
	}
	// The program in the archive of the release need not run.
	var archive bytes.Buffer
	release := zip.NewWriter(&archive)
	if _, err := release.Create("terraform-provider-docs_v0.1.0"); err != nil || release.Close() != nil {
		t.Fatal(err)
	}
	s.Write(t, "releases/v0.1.0/terraform-provider-docs_0.1.0_linux_amd64.zip", archive.String())
	s.Env = append(s.Env,
		"PATH="+filepath.Join(s.Folder, "bin")+":"+os.Getenv("PATH"),
		"HOME="+s.Folder,
		"PROVIDER_RELEASES=file://"+filepath.Join(s.Folder, "releases"))
	return s
}

// shell runs a command as a step of a pipeline does, and returns its output.
func (s *service) shell(t *testing.T, wantExit int, command string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-e", "-c", command)
	c.Dir, c.Env = s.Folder, append(slices.Clone(s.Env), "TF_CLI_ARGS=-no-color")
	output, err := c.CombinedOutput()
	if exit := c.ProcessState.ExitCode(); exit != wantExit {
		t.Fatalf("%s ended with %d (%v), want %d:\n%s", command, exit, err, wantExit, output)
	}
	return string(output)
}

// scheduled removes what a run on a schedule does not have: the update.
func (s *service) scheduled() {
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "TF_VAR_status_id=") })
}

func TestPipelinesPublishAndRenew(t *testing.T) {
	t.Parallel()
	step := regexp.MustCompile(`(?m)^\s+- (?:run: )?((?:exec )?terraform .+|sh .+)$`)
	github := read(t, examples+"/guides/pipelines/github-actions/publish.yml")
	publish, gitlab, _ := strings.Cut(read(t, examples+"/guides/pipelines/gitlab-ci/gitlab-ci.yml"), "\nrenew:\n")
	for name, pipeline := range map[string]struct{ backend, publish, renew string }{
		"github-actions": {"github-actions/backend.tf", github, read(t, examples+"/guides/pipelines/github-actions/renew.yml")},
		"gitlab-ci":      {"gitlab-ci/backend.tf", publish, gitlab},
		"hcp-terraform":  {"github-actions/backend.tf", github, read(t, examples+"/guides/hcp-terraform/renew.yml")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPipeline(t, pipeline.backend)
			run := func(pipeline, last string) {
				t.Helper()
				steps := step.FindAllStringSubmatch(pipeline, -1)
				if len(steps) == 0 || steps[len(steps)-1][1] != last {
					t.Fatalf("the steps are %q, want %q last", steps, last)
				}
				for _, match := range steps {
					s.shell(t, 0, match[1])
				}
			}
			last := "terraform apply plan.tfplan"
			if strings.Contains(pipeline.publish, "exec ") {
				last = "exec " + last
			}
			run(pipeline.publish, last)
			s.scheduled()
			s.clock.Advance(time.Hour)
			run(pipeline.renew, "sh renew.sh")
			if jobs, links := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); jobs != 1 || links != 2 {
				t.Errorf("%d jobs and %d links, want 1 and 2", jobs, links)
			}
		})
	}
}

func TestRenewalKeepsTheJobOrStops(t *testing.T) {
	t.Parallel()
	const stops = "The plan changes job_id, so it was not applied."
	publish := func(t *testing.T, s *service) {
		t.Helper()
		s.Run(t, 0, "apply", "-auto-approve")
	}
	for name, test := range map[string]struct {
		before      func(t *testing.T, s *service)
		exit        int
		output      string
		jobs, links int
	}{
		"nothing published yet": {func(*testing.T, *service) {}, 0, "Nothing published yet.", 0, 0},
		"the first update failed": {func(t *testing.T, s *service) {
			s.Env = append(s.Env, "TF_VAR_status_id=upd_failure")
			s.Run(t, 1, "apply", "-auto-approve")
		}, 0, "Nothing published yet.", 0, 0},
		"the first export failed": {func(t *testing.T, s *service) {
			s.NextJob(simulator.JobSpec{Fail: "page guides/links.mdx does not render"})
			s.Run(t, 1, "apply", "-auto-approve")
		}, 0, "Nothing published yet.", 1, 0},
		"nothing to do": {publish, 0, "No changes.", 1, 1},
		"due": {func(t *testing.T, s *service) {
			publish(t, s)
			s.clock.Advance(time.Hour)
		}, 0, "0 added, 1 changed, 0 destroyed", 1, 2},
		"due after a later export failed": {func(t *testing.T, s *service) {
			publish(t, s)
			s.AddUpdate(simulator.UpdateSpec{ID: "upd_later", Queue: -1, Run: -1})
			s.Env = append(s.Env, "TF_VAR_status_id=upd_later")
			s.NextJob(simulator.JobSpec{Fail: "page guides/links.mdx does not render"})
			s.Run(t, 1, "apply", "-auto-approve")
			s.clock.Advance(time.Hour)
		}, 0, "1 changed", 2, 2},
		"the job is unknown": {func(t *testing.T, s *service) {
			publish(t, s)
			s.ForgetJob(s.JobIDs()[1]) // after exportedJob
		}, 1, stops, 1, 1},
		"the plan would export": {func(t *testing.T, s *service) {
			publish(t, s)
			s.Env = append(s.Env, "TF_VAR_domain=www.example.com")
		}, 1, stops, 1, 1},
		"the plan fails": {func(t *testing.T, s *service) {
			publish(t, s)
			s.RotateKey("sim_other")
		}, 1, "HTTP 401", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPipeline(t, "gitlab-ci/backend.tf")
			test.before(t, s)
			s.scheduled()
			if output := s.shell(t, test.exit, "sh renew.sh"); !strings.Contains(output, test.output) {
				t.Errorf("%q is missing:\n%s", test.output, output)
			}
			if jobs, links := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); jobs != test.jobs || links != test.links {
				t.Errorf("%d jobs and %d links, want %d and %d", jobs, links, test.jobs, test.links)
			}
		})
	}
}

// Without the reattached provider of the tests, init must find the archive.
func TestInitFindsTheInstalledProvider(t *testing.T) {
	t.Parallel()
	s := newPipeline(t, "gitlab-ci/backend.tf")
	if s.IsOpenTofu() { // as the script says
		s.Write(t, "install-provider.sh", strings.ReplaceAll(read(t, filepath.Join(s.Folder, "install-provider.sh")), "/registry.terraform.io/", "/registry.opentofu.org/"))
	}
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "TF_REATTACH_PROVIDERS=") })
	s.shell(t, 0, "sh install-provider.sh")
	if output := s.Run(t, 0, "init"); !strings.Contains(output, "Installed docs-hosting/docs v0.1.0") {
		t.Errorf("the provider was not installed:\n%s", output)
	}
}
