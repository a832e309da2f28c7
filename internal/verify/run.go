// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package verify runs the provider against a real service, through the real CLI, and
// reports what the service does where its contract leaves something open. It is the
// acceptance test behind `make verify-service`. Nothing that ships imports it.
package verify

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
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
	s := settings{
		apiKey: strings.TrimSpace(getenv("DOCS_API_KEY")), domain: strings.TrimSpace(getenv("DOCS_DOMAIN")),
		statusID: strings.TrimSpace(getenv("DOCS_STATUS_ID")), commit: getenv("COMMIT"), time: clock.System{},
	}
	var missing []string
	for _, name := range []string{"DOCS_BASE_URL", "DOCS_API_KEY", "DOCS_DOMAIN"} {
		if strings.TrimSpace(getenv(name)) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return s, errors.New("set " + strings.Join(missing, ", "))
	}
	c, err := client.New(client.Config{BaseURL: strings.TrimSpace(getenv("DOCS_BASE_URL")), APIKey: s.apiKey})
	if err != nil {
		return s, fmt.Errorf("DOCS_BASE_URL or DOCS_API_KEY: %w", err)
	}
	if s.base, err = url.Parse(c.BaseURL()); err != nil {
		return s, err
	}
	if wait := getenv("WAIT"); wait != "" {
		if s.wait, err = time.ParseDuration(wait); err != nil || s.wait < 0 {
			return s, fmt.Errorf("WAIT is %q: set a duration such as 20m", wait)
		}
	}
	return s, nil
}

// confirm says what is about to happen, and asks for a yes unless there is one already.
func (s settings) confirm(yes string, input io.Reader, console io.Writer) error {
	links := "3 requests"
	if s.wait > 0 {
		links = fmt.Sprintf("3 requests (4 if the link expires within %s)", s.wait)
	}
	fmt.Fprintf(console, `This runs the provider against %s and sends:
  - 1 request that starts an export of %s; the API cannot delete the job
  - up to %s for a link to the bundle, and 1 download
  - about 10 reads, 1 of them with a wrong API key and 2 with IDs that do not exist
  - the polls of the job, every 1 to 15 seconds
Files are written to a temporary directory, and deleted at the end.
`, s.base, s.domain, links)
	if yes == "1" {
		return nil
	}
	fmt.Fprint(console, "Type yes to continue: ")
	line, _ := bufio.NewReader(input).ReadString('\n') // an error leaves no yes
	if strings.TrimSpace(line) != "yes" {
		return errors.New("nothing was sent: type yes, or set YES=1")
	}
	return nil
}

// The steps, in their order.
const (
	stepUpdate    = "Read an update"
	stepNoUpdate  = "Read an update that does not exist"
	stepExport    = "Export, download, and unpack"
	stepPlan      = "Plan again: nothing to do"
	stepNoJob     = "Read a job that does not exist"
	stepWrongKey  = "Read with a wrong API key"
	stepImport    = "Import the job into another state"
	stepEphemeral = "Create an ephemeral link"
	stepRenewal   = "Renew the expired link"
	stepDestroy   = "Destroy"
)

// configurations are what the steps apply, by directory. Values come from TF_VAR_ variables.
var configurations = map[string]string{
	"update": `variable "id" { type = string }
data "docs_update_status" "update" { status_id = var.id }`,
	"job": `variable "id" { type = string }
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
}`,
}

// step is the result of a step.
type step struct{ name, result, note string }

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
	archive string // describes the bundle, empty if there is none
}

// verify runs all steps. It returns the report, and whether every step that ran was ok.
func verify(t *testing.T, s settings, console io.Writer) (report string, success bool) {
	t.Helper()
	r := &run{settings: s, recorder: newRecorder(s.base, s.time), console: console}
	defer r.Close()
	var key atomic.Value
	key.Store(s.apiKey)
	r.cli = clitest.New(t, "docs-hosting/docs", provider.NewServer(provider.Options{Version: "verify", Clock: s.time, Getenv: func(name string) string {
		return map[string]string{"DOCS_BASE_URL": r.URL + s.base.EscapedPath(), "DOCS_API_KEY": key.Load().(string)}[name]
	}}))
	for folder, configuration := range configurations {
		r.cli.Write(t, folder+"/main.tf", r.cli.Require()+configuration+"\n")
	}
	r.version, _, _ = strings.Cut(r.cli.Run(t, 0, "version"), "\n")
	r.cli.Env = append(r.cli.Env, "TF_VAR_domain="+s.domain)

	const noID = "verify_0000000000000000" // of no update and no job
	if s.statusID == "" {
		r.skip(stepUpdate, "DOCS_STATUS_ID is not set")
	} else {
		r.try(stepUpdate, s.statusID, "update", "plan")
	}
	r.refused(stepNoUpdate, noID, "update", "plan")
	exported := r.try(stepExport, "", "site", "apply", "-auto-approve")
	r.archive = archiveOf(filepath.Join(r.cli.Folder, "site", "bundle"), filepath.Join(r.cli.Folder, "site", "files"))
	jobID := ""
	if exported {
		jobID = fmt.Sprint(field(successes(r.of(stepExport, startJob)), "jobId")[0])
		r.try(stepPlan, "", "site", "plan", "-detailed-exitcode")
	} else {
		for _, name := range []string{stepPlan, stepImport, stepEphemeral, stepRenewal} {
			r.skip(name, "there is no bundle")
		}
	}
	r.refused(stepNoJob, noID, "job", "plan")
	prefix, _, found := strings.Cut(s.apiKey, "_")
	if !found {
		prefix = "key"
	}
	key.Store(prefix + "_" + strings.Repeat("0", 32))
	r.refused(stepWrongKey, cmp.Or(jobID, noID), "job", "plan")
	key.Store(s.apiKey)
	if exported {
		r.try(stepImport, "", "import", "import", "docs_static_export.site", s.domain+","+jobID)
		r.ephemeral(jobID)
		r.renew(t.Context())
	}
	r.try(stepDestroy, "", "site", "destroy", "-auto-approve")
	return r.report(), !slices.ContainsFunc(r.steps, func(s step) bool { return s.result == failed })
}

// ephemeral creates a link that Terraform does not store, if the CLI can.
func (r *run) ephemeral(jobID string) {
	oldest := 10
	if r.cli.IsOpenTofu() {
		oldest = 11
	}
	var name string
	var minor int
	if _, err := fmt.Sscanf(r.version, "%s v1.%d.", &name, &minor); err != nil || minor < oldest {
		r.skip(stepEphemeral, fmt.Sprintf("needs version 1.%d of the CLI", oldest))
		return
	}
	r.try(stepEphemeral, jobID, "ephemeral", "plan")
}

// renew waits until the link in the state has expired, and applies.
func (r *run) renew(ctx context.Context) {
	const margin = 2 * time.Second // links are often dated in whole seconds
	link, err := replay(r, successes(r.of(stepExport, getLink))[0], (*client.Client).GenerateBundle)
	if err != nil || link.ExpiresAt.IsZero() {
		r.skip(stepRenewal, "the provider cannot tell when the link expires")
		return
	}
	left := (link.ExpiresAt.Sub(r.time.Now()) + margin).Round(time.Second)
	if left > r.wait {
		r.skip(stepRenewal, fmt.Sprintf("the link expires in %s; to wait for that, set WAIT=%dm", left, int(left.Minutes())+1))
		return
	}
	fmt.Fprintf(r.console, "Waiting %s until the link has expired.\n", left)
	if err := r.time.Sleep(ctx, left); err != nil {
		r.skip(stepRenewal, "interrupted")
		return
	}
	if r.try(stepRenewal, "", "site", "apply", "-auto-approve") && len(r.of(stepRenewal, getLink)) == 0 {
		r.steps[len(r.steps)-1] = step{stepRenewal, failed, "the apply created no link"}
	}
}

// try runs a command that must succeed, and returns whether it did.
func (r *run) try(name, id, folder string, args ...string) bool {
	exit, output := r.command(name, id, folder, args)
	switch exit {
	case 0:
		r.add(step{name, ok, said("Warning", output)}, "")
	case 2: // of plan -detailed-exitcode
		r.add(step{name, failed, "the plan has changes"}, output)
	default:
		r.add(step{name, failed, said("Error", output)}, output)
	}
	return exit == 0
}

// refused runs a command for which the service must refuse the request.
func (r *run) refused(name, id, folder string, args ...string) {
	exit, output := r.command(name, id, folder, args)
	if responses := r.of(name, ""); exit == 1 && len(responses) > 0 && responses[len(responses)-1].refused() {
		r.add(step{name, ok, said("Error", output)}, "")
	} else {
		r.add(step{name, failed, strings.TrimSuffix("the service did not refuse it; "+said("Error", output), "; ")}, output)
	}
}

// command runs a command of the CLI. The ID is a variable of the configuration.
func (r *run) command(name, id, folder string, args []string) (exit int, output string) {
	r.begin(name)
	command, buffer := r.cli.Command(slices.Insert(args, 1, "-no-color", "-input=false")...)
	command.Dir = filepath.Join(r.cli.Folder, folder)
	command.Env = append(command.Env, "TF_VAR_id="+id)
	if err := command.Run(); command.ProcessState == nil {
		return -1, "Error: " + err.Error()
	}
	return command.ProcessState.ExitCode(), buffer.String()
}

func (r *run) skip(name, reason string) { r.add(step{name, skipped, reason}, "") }

// add records a step. The output goes to the console only, because it can quote the service.
func (r *run) add(s step, output string) {
	r.steps = append(r.steps, s)
	fmt.Fprintf(r.console, "%-8s %s\n%s", s.result, s.name, output)
}

var diagnostic = regexp.MustCompile(`(?m)^[│╷ ]*(Error|Warning): (.+)$`)

// said returns the summaries of the provider's diagnostics in an output. Their details can
// quote the service.
func said(severity, output string) string {
	var said []string
	for _, d := range diagnostic.FindAllStringSubmatch(output, -1) {
		if d[1] == severity && !slices.Contains(said, d[2]) {
			said = append(said, d[2])
		}
	}
	return strings.Join(said, "; ")
}
