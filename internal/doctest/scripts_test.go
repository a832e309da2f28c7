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
		s.command(t, name, command)
	}
	s.Env = append(s.Env, "PATH="+filepath.Join(s.Folder, "bin")+":"+os.Getenv("PATH"), "HOME="+s.Folder)
	return s
}

// command puts a command on the path of scripts.
func (s *service) command(t *testing.T, name, script string) {
	t.Helper()
	s.Write(t, "bin/"+name, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(filepath.Join(s.Folder, "bin", name), 0o700); err != nil {
		t.Fatal(err)
	}
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
	// run runs the steps of a job in order. The last one must be the process that a canceled job interrupts.
	step := regexp.MustCompile(`(?m)^\s+- (?:run: )?((?:exec )?(?:terraform|sh) .+)$`)
	run := func(t *testing.T, s *service, job string) {
		t.Helper()
		var last string
		for _, match := range step.FindAllStringSubmatch(job, -1) {
			last = match[1]
			s.shell(t, 0, last)
		}
		if !strings.HasPrefix(last, "exec ") {
			t.Errorf("the step %q is not replaced by its command", last)
		}
	}
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
			run(t, s, pipeline.publish)
			s.unset("TF_VAR_status_id") // a run on a schedule has no update
			s.clock.Advance(time.Hour)
			run(t, s, pipeline.renew)
			if jobs, links := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); jobs != 1 || links != 2 {
				t.Errorf("%d jobs and %d links, want 1 and 2", jobs, links)
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
