// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package verify runs the provider against a real service, through the real CLI, and
// reports what the service does where its contract leaves something open. It is the
// acceptance test behind `make verify-service`. Nothing that ships imports it.
package verify

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

// settings say which service to verify, and how.
type settings struct {
	base     *url.URL
	apiKey   string
	domain   string
	statusID string        // of an update to read, or empty
	wait     time.Duration // the longest wait for a link to expire
	commit   string        // of the provider
	time     clock.Clock
}

// readSettings reads and checks the settings. It sends nothing.
func readSettings(getenv func(string) string) (settings, error) {
	get := func(name string) string { return strings.TrimSpace(getenv(name)) }
	s := settings{apiKey: get("DOCS_API_KEY"), domain: get("DOCS_DOMAIN"), statusID: get("DOCS_STATUS_ID"), commit: get("COMMIT"), time: clock.System{}}
	for _, name := range []string{"DOCS_BASE_URL", "DOCS_API_KEY", "DOCS_DOMAIN"} {
		if get(name) == "" {
			return s, errors.New("set " + name)
		}
	}
	c, err := client.New(client.Config{BaseURL: get("DOCS_BASE_URL"), APIKey: s.apiKey})
	if err != nil {
		return s, fmt.Errorf("DOCS_BASE_URL or DOCS_API_KEY: %w", err)
	}
	if wait := get("WAIT"); wait != "" {
		if s.wait, err = time.ParseDuration(wait); err != nil {
			return s, fmt.Errorf("WAIT is %q: set a duration such as 20m", wait)
		}
	}
	if get("YES") != "1" { // the Makefile asks for it
		return s, errors.New("this starts an export, which the API cannot delete: to agree, set YES=1")
	}
	s.base, err = url.Parse(c.BaseURL())
	return s, err
}

// The steps that the report describes.
const (
	stepNoUpdate = "Read an update that does not exist"
	stepExport   = "Export, download, and unpack"
	stepNoJob    = "Read a job that does not exist"
	stepWrongKey = "Read with a wrong API key"
	stepRenewal  = "Renew the expired link"
)

// configurations are what the steps apply, by directory. Values come from TF_VAR_ variables.
var configurations = map[string]string{
	"update": `variable "id" { type = string }
data "docs_update_status" "update" { status_id = var.id }`,
	"job": `variable "id" { type = string }
data "docs_static_export_job" "job" { job_id = var.id }`,
	"wrong-key": `variable "id" { type = string }
provider "docs" { api_key = "wrong_00000000000000000000000000000000" }
data "docs_static_export_job" "job" { job_id = var.id }`,
	"import": `variable "domain" { type = string }
resource "docs_static_export" "site" { domain = var.domain }`,
	"ephemeral": `variable "id" { type = string }
ephemeral "docs_static_export_bundle" "site" { job_id = var.id }`,
	"site": `variable "domain" { type = string }
resource "docs_static_export" "site" { domain = var.domain }
resource "docs_bundle_download" "site" {
  job_id     = docs_static_export.site.job_id
  path       = "${abspath(path.root)}/bundle"
  extract_to = "${abspath(path.root)}/files"
}
output "job_id" { value = docs_static_export.site.job_id }
output "expires_at" { value = docs_static_export.site.expires_at }`,
}

// step is the result of a step.
type step struct{ name, result, note, output string }

const (
	ok      = "ok"
	failed  = "failed"
	skipped = "skipped"
)

// run is one run of all steps.
type run struct {
	settings
	*recorder
	cli     *clitest.CLI
	version string // of the CLI
	console io.Writer
	steps   []step
	archive string    // describes the bundle, empty if there is none
	expires time.Time // when the first link expires, zero if the provider cannot tell
}

// verify runs all steps. It returns the report, and whether every step that ran was ok.
func verify(t *testing.T, s settings, console io.Writer) (report string, success bool) {
	t.Helper()
	r := &run{settings: s, recorder: newRecorder(s.base, s.time), console: console}
	defer r.Close()
	environment := map[string]string{"DOCS_BASE_URL": r.URL + s.base.EscapedPath(), "DOCS_API_KEY": s.apiKey}
	r.cli = clitest.New(t, "docs-hosting/docs", provider.NewServer(provider.Options{
		Version: "verify", Clock: s.time, Getenv: func(name string) string { return environment[name] },
	}))
	for directory, configuration := range configurations {
		r.cli.Write(t, directory+"/main.tf", r.cli.Require()+configuration+"\n")
	}
	r.version, _, _ = strings.Cut(r.cli.Run(t, 0, "version"), "\n")
	r.cli.Env = append(r.cli.Env, "TF_VAR_domain="+s.domain, "TF_INPUT=0", "TF_CLI_ARGS=-no-color")

	const noID = "verify_0000000000000000" // of no update and no job
	if s.statusID == "" {
		r.skip("Read an update", "DOCS_STATUS_ID is not set")
	} else {
		r.succeed("Read an update", "update", s.statusID, "plan")
	}
	r.refuse(stepNoUpdate, "update", noID, "plan")
	exported := r.succeed(stepExport, "site", "", "apply", "-auto-approve")
	r.archive = archiveOf(filepath.Join(r.cli.Folder, "site", "bundle"), filepath.Join(r.cli.Folder, "site", "files"))
	jobID := noID
	if exported {
		_, jobID = r.command(stepExport, "site", "", "output", "-raw", "job_id")
		_, expires := r.command(stepExport, "site", "", "output", "-raw", "expires_at")
		r.expires, _ = time.Parse(time.RFC3339, expires) // an error if there is no such output
		r.succeed("Plan again: nothing to do", "site", "", "plan", "-detailed-exitcode")
	}
	r.refuse(stepNoJob, "job", noID, "plan")
	r.refuse(stepWrongKey, "wrong-key", jobID, "plan")
	if exported {
		r.succeed("Import the job into another state", "import", "", "import", "docs_static_export.site", s.domain+","+jobID)
		r.succeed("Create an ephemeral link", "ephemeral", jobID, "plan")
		r.renew(t)
	} else {
		r.skip("Plan, import, create an ephemeral link, and renew", "there is no bundle")
	}
	r.succeed("Destroy", "site", "", "destroy", "-auto-approve")
	return r.report(), !slices.ContainsFunc(r.steps, func(s step) bool { return s.result == failed })
}

// renew waits until the link in the state has expired, and applies.
func (r *run) renew(t *testing.T) {
	t.Helper()
	const margin = 2 * time.Second // links are often dated in whole seconds
	left := (r.expires.Sub(r.time.Now()) + margin).Round(time.Second)
	if r.expires.IsZero() {
		r.skip(stepRenewal, "the provider cannot tell when the link expires")
		return
	}
	if left > r.wait {
		r.skip(stepRenewal, fmt.Sprintf("the link expires in %s; to wait for that, set WAIT=%dm", left, int(left.Minutes())+1))
		return
	}
	fmt.Fprintf(r.console, "Waiting %s until the link has expired.\n", left)
	if err := r.time.Sleep(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	if r.succeed(stepRenewal, "site", "", "apply", "-auto-approve") && len(r.of(stepRenewal, getLink)) == 0 {
		r.steps[len(r.steps)-1] = step{stepRenewal, failed, "the apply created no link", ""}
	}
}

// succeed runs a command that must succeed, and returns whether it did.
func (r *run) succeed(name, directory, id string, args ...string) bool {
	exit, output := r.command(name, directory, id, args...)
	s := step{name, failed, said(output), output}
	switch {
	case exit == 0:
		s.result = ok
	case exit == 2:
		s.note = "the plan has changes"
	case strings.Contains(output, "Unsupported block type"):
		s.result, s.note = skipped, "this version of the CLI has no ephemeral resources"
	}
	r.add(s)
	return exit == 0
}

// refuse runs a command for which the service must refuse the request.
func (r *run) refuse(name, directory, id string, args ...string) {
	exit, output := r.command(name, directory, id, args...)
	s := step{name, ok, said(output), output}
	if exit != 1 || r.last(name).status/100 != 4 {
		s.result, s.note = failed, strings.TrimSuffix("the service did not refuse it; "+s.note, "; ")
	}
	r.add(s)
}

// command runs a command of the CLI. The ID is a variable of the configuration.
func (r *run) command(name, directory, id string, args ...string) (exit int, output string) {
	r.begin(name)
	command, buffer := r.cli.Command(args...)
	command.Dir = filepath.Join(r.cli.Folder, directory)
	command.Env = append(command.Env, "TF_VAR_id="+id)
	if err := command.Run(); command.ProcessState == nil {
		return -1, "Error: " + err.Error()
	}
	return command.ProcessState.ExitCode(), buffer.String()
}

func (r *run) skip(name, reason string) { r.add(step{name, skipped, reason, ""}) }

// add records a step. The output of a failed one goes to the console only, because it can
// quote the service.
func (r *run) add(s step) {
	r.steps = append(r.steps, s)
	fmt.Fprintf(r.console, "%-8s %s\n", s.result, s.name)
	if s.result == failed {
		fmt.Fprint(r.console, s.output)
	}
}

var diagnostic = regexp.MustCompile(`(?m)^[│╷ ]*(?:Error|Warning): (.+)$`)

// said returns the summaries of the provider's diagnostics in an output. Their details can
// quote the service.
func said(output string) string {
	var said []string
	for _, d := range diagnostic.FindAllStringSubmatch(output, -1) {
		if !slices.Contains(said, d[1]) {
			said = append(said, d[1])
		}
	}
	return strings.Join(said, "; ")
}
