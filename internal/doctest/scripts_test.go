// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

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

// newScripts returns a service whose CLI is the command terraform of scripts. aws only prints its arguments.
func newScripts(t *testing.T) *service {
	t.Helper()
	for _, program := range []string{"sh", "curl", "jq"} {
		clitest.Program(t, program)
	}
	s := newService(t)
	for name, command := range map[string]string{"terraform": "exec '" + s.Binary + "' \"$@\"", "aws": "printf '%s|' \"$@\"; echo"} {
		s.Write(t, "bin/"+name, "#!/bin/sh\n"+command+"\n")
		if err := os.Chmod(filepath.Join(s.Folder, "bin", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.Env = append(s.Env, "PATH="+filepath.Join(s.Folder, "bin")+":"+os.Getenv("PATH"), "HOME="+s.Folder)
	return s
}

// newPipeline returns a service whose folder holds the files of a pipeline, with a local state.
func newPipeline(t *testing.T, backend string) *service {
	t.Helper()
	s := newScripts(t)
	for _, name := range []string{"install-provider.sh", "renew.sh"} {
		s.Write(t, name, read(t, filepath.Join(examples, pipelines, name)))
	}
	s.enter(t, pipelines+"main.tf", pipelines+backend)
	var archive bytes.Buffer
	release := zip.NewWriter(&archive)
	if _, err := release.Create("terraform-provider-docs_v0.1.0"); err != nil || release.Close() != nil {
		t.Fatal(err)
	}
	s.Write(t, "releases/v0.1.0/terraform-provider-docs_0.1.0_linux_amd64.zip", archive.String())
	s.Env = append(s.Env, "PROVIDER_RELEASES=file://"+filepath.Join(s.Folder, "releases"))
	return s
}

// shell runs a command as a step of a pipeline does, and returns its output.
func (s *service) shell(t *testing.T, wantExit int, command string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-euc", command)
	c.Dir, c.Env = s.Folder, append(slices.Clone(s.Env), "TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_apply=-auto-approve")
	output, err := c.CombinedOutput()
	if exit := c.ProcessState.ExitCode(); exit != wantExit {
		t.Fatalf("%s ended with %d (%v), want %d:\n%s", command, exit, err, wantExit, output)
	}
	return string(output)
}

// unset removes a variable from the environment.
func (s *service) unset(name string) {
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
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
			for _, match := range step.FindAllStringSubmatch(pipeline.publish, -1) {
				s.shell(t, 0, match[1])
			}
			s.unset("TF_VAR_status_id") // a run on a schedule has no update
			s.clock.Advance(time.Hour)
			for _, match := range step.FindAllStringSubmatch(pipeline.renew, -1) {
				s.shell(t, 0, match[1])
			}
			if jobs, links := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); jobs != 1 || links != 2 {
				t.Errorf("%d jobs and %d links, want 1 and 2", jobs, links)
			}
		})
	}
}

func TestRenewalKeepsTheJobOrStops(t *testing.T) {
	t.Parallel()
	const stops = "The plan changes job_id, so it was not applied."
	publish := func(t *testing.T, s *service) { s.Run(t, 0, "apply", "-auto-approve") }
	for name, test := range map[string]struct {
		before      func(t *testing.T, s *service)
		exit        int
		output      string
		jobs, links int
	}{
		"nothing published yet": {func(*testing.T, *service) {}, 0, "Nothing published yet.", 0, 0},
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
			s.unset("TF_VAR_status_id")
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
	s.unset("TF_REATTACH_PROVIDERS")
	s.shell(t, 0, "sh install-provider.sh")
	if output := s.Run(t, 0, "init"); !strings.Contains(output, "Installed docs-hosting/docs v0.1.0") {
		t.Errorf("the provider was not installed:\n%s", output)
	}
}

func TestCommandsOfGuidesRunInOrder(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile("(?ms)^```shell\n(.*?)^```$")
	for guide, want := range map[string][]string{
		"getting-started": {"1 added, 0 changed", "0 added, 1 changed"},
		"air-gapped":      {"2 added", "bundle.tar.gz: OK"},
		"object-storage": {
			"s3://example-documentation|--exclude|*.html|--cache-control|public, max-age=3600|\n",
			"s3://example-documentation|--exclude|*|--include|*.html|--cache-control|no-cache|--content-type|text/html; charset=utf-8|\n",
			"s3://example-documentation|--delete|--size-only|\ncloudfront|create-invalidation|--distribution-id|computed|--paths|/*|\n",
			"https://computed",
			"0 added, 2 changed",
		},
	} {
		t.Run(guide, func(t *testing.T) {
			t.Parallel()
			s := newScripts(t)
			s.enter(t, "guides/"+guide)
			_, page, _ := strings.Cut(read(t, root+"/templates/guides/"+guide+".md.tmpl"), "\nexport ") // after the installation
			page, _, _ = strings.Cut("```shell\nexport "+page, "\n## Upgrade\n")
			var script strings.Builder
			for _, match := range commands.FindAllStringSubmatch(page, -1) {
				script.WriteString(match[1])
			}
			output := s.shell(t, 0, script.String())
			for _, text := range want {
				_, after, found := strings.Cut(output, text)
				if !found {
					t.Fatalf("%q is missing in:\n%s", text, output)
				}
				output = after
			}
		})
	}
}
