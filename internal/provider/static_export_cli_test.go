// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const exportConfig = `
resource "docs_static_export" "site" {
  domain   = "docs.example.com"
  triggers = { revision = "1" }
}
`

func secondRevision(config string) string {
	return strings.Replace(config, `revision = "1"`, `revision = "2"`, 1)
}

func TestSavedPlanOfAnotherChangeIsConsistentWhenAppliedAfterTheExpiry(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.newCLI(t, exportConfig)
	c.Run(t, 0, "apply", "-auto-approve")
	before := c.state(t, site)

	c.write(t, strings.Replace(exportConfig, "triggers", "poll_interval = \"5s\"\n triggers", 1))
	c.Run(t, 0, "plan", "-out=saved")
	h.clock.Advance(2 * time.Hour)
	h.ResetRequests()
	c.Run(t, 0, "apply", "saved")

	h.wantCounts(t, map[string]int{"start": 0, "bundle": 1})
	after := c.state(t, site)
	if after["job_id"] != before["job_id"] || after["bundle_url"] == before["bundle_url"] {
		t.Error("the apply after the expiry must make another link of the same job")
	}
	c.wantEmptyPlan(t)
}

func TestSavedPlanWithARenewalMakesTheLinkAtApplyTime(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.newCLI(t, exportConfig)
	c.Run(t, 0, "apply", "-auto-approve")

	h.clock.Advance(2 * time.Hour)
	c.Run(t, 0, "plan", "-out=saved")
	h.wantCounts(t, map[string]int{"bundle": 1})
	h.clock.Advance(5 * time.Hour)
	c.Run(t, 0, "apply", "saved")

	expires, err := time.Parse(time.RFC3339, c.state(t, site)["expires_at"].(string))
	if err != nil || !expires.After(h.clock.Now().Add(50*time.Minute)) {
		t.Errorf("the link expires at %v, but it is %v: it was not made at apply time", expires, h.clock.Now())
	}
	h.wantCounts(t, map[string]int{"start": 1, "bundle": 2})
	c.wantEmptyPlan(t)
}

// interrupt runs an apply and sends it a SIGINT while the service holds back the
// answer to a poll of the job.
func (c *cli) interrupt(t *testing.T, args ...string) string {
	t.Helper()
	c.SkipBelow(t, 5, 6, "a CLI that tells a provider in the test's process to stop")
	polled, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	c.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointJob {
			once.Do(func() { close(polled) })
			<-release
		}
		return body
	})
	defer func() {
		close(release)
		c.Rewrite(nil)
	}()
	command, output := c.Command(append(args, "-no-color")...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait()
	}()
	select {
	case <-polled:
	case <-ended:
		t.Fatalf("the apply ended before it polled:\n%s", output)
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = command.Process.Kill()
		t.Fatal("the interrupt did not end the apply")
	}
	if command.ProcessState.ExitCode() != 1 {
		t.Errorf("the interrupted apply ended with %d:\n%s", command.ProcessState.ExitCode(), output)
	}
	return output.String()
}

func TestInterruptedCreateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.newCLI(t, exportConfig)
	output := c.interrupt(t, "apply", "-auto-approve")
	if !strings.Contains(output, "Static export interrupted") {
		t.Errorf("the interrupt is not explained:\n%s", output)
	}
	if c.state(t, site)["job_id"] != h.JobIDs()[0] {
		t.Fatalf("the state does not hold the job's id:\n%s", output)
	}

	c.Run(t, 0, "apply", "-auto-approve")
	h.wantCounts(t, map[string]int{"start": 1, "bundle": 1})
	c.wantEmptyPlan(t)
}

func TestInterruptedUpdateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.newCLI(t, exportConfig)
	c.Run(t, 0, "apply", "-auto-approve")
	before := c.state(t, site)

	c.write(t, secondRevision(exportConfig))
	h.ResetRequests()
	output := c.interrupt(t, "apply", "-auto-approve", "-refresh=false")
	if !strings.Contains(output, "Static export interrupted") {
		t.Errorf("the interrupt is not explained:\n%s", output)
	}
	if now := c.state(t, site); now["job_id"] != before["job_id"] || now["bundle_url"] != before["bundle_url"] {
		t.Error("the interrupted update must leave the earlier export")
	}

	c.Run(t, 0, "apply", "-auto-approve")
	h.wantCounts(t, map[string]int{"start": 1, "bundle": 1})
	if now := c.state(t, site); now["job_id"] != h.JobIDs()[1] {
		t.Error("the state must hold the new job")
	}
	c.wantEmptyPlan(t)
}

func TestExpiredLinkIsRenewedWithoutARefresh(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.newCLI(t, exportConfig)
	c.Run(t, 0, "apply", "-auto-approve")
	before := c.state(t, site)

	h.ResetRequests()
	c.wantEmptyPlan(t, "-refresh=false")
	if made := len(h.Requests()); made > 0 {
		t.Errorf("%d requests by a plan without refresh", made)
	}
	h.clock.Advance(2 * time.Hour)
	output := c.Run(t, 0, "apply", "-auto-approve", "-refresh=false")
	if !strings.Contains(output, "0 added, 1 changed, 0 destroyed") {
		t.Errorf("unexpected apply:\n%s", output)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 1, simulator.EndpointJob: 0})
	if after := c.state(t, site); after["job_id"] != before["job_id"] || after["bundle_url"] == before["bundle_url"] {
		t.Error("not another link of the same job")
	}
	c.wantEmptyPlan(t, "-refresh=false")
}

func TestCreateThatTimesOutIsResumedAfterUntaint(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{Run: 2 * time.Hour})
	c := h.newCLI(t, exportConfig)
	output := c.Run(t, 1, "apply", "-auto-approve")
	for _, want := range []string{"Static export not finished in time", h.JobIDs()[0], `status "running"`, "progress 49", "terraform untaint"} {
		if !words(want).MatchString(output) {
			t.Errorf("the timeout's message has no %q:\n%s", want, output)
		}
	}
	c.Run(t, 0, "untaint", site)
	output = c.Run(t, 1, "apply", "-auto-approve")
	if !words(`To go on with the same job, run "terraform apply" again.`).MatchString(output) {
		t.Errorf("unexpected message:\n%s", output)
	}
	c.Run(t, 0, "apply", "-auto-approve")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 1})
	c.wantEmptyPlan(t)
}

func TestOfAHundredExportsOnlyThoseThatExpiredAreRenewed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{Queue: -1, Run: -1, LinkLifetime: 10 * time.Hour})
	many := func(count string) string {
		return "resource \"docs_static_export\" \"site\" {\n  count = " + count + "\n  domain = \"docs${count.index}.example.com\"\n}\n"
	}
	c := h.newCLI(t, many("50"))
	c.Run(t, 0, "apply", "-auto-approve")
	h.clock.Advance(6 * time.Hour)
	c.write(t, many("100"))
	c.Run(t, 0, "apply", "-auto-approve")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 100, simulator.EndpointBundle: 100})

	h.clock.Advance(6 * time.Hour)
	h.ResetRequests()
	output := c.Run(t, 0, "apply", "-auto-approve")
	if !strings.Contains(output, "0 added, 50 changed, 0 destroyed") {
		t.Errorf("unexpected apply:\n%s", output)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 50})
	c.wantEmptyPlan(t)
}

func TestDependentsFollowTheExport(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	dependents := `
resource "terraform_data" "new_content" {
  lifecycle { replace_triggered_by = [docs_static_export.site.job_id] }
}
resource "terraform_data" "new_link" {
  lifecycle { replace_triggered_by = [docs_static_export.site.expires_at] }
}
`
	c := h.newCLI(t, exportConfig+dependents)
	c.SkipBelow(t, 4, 6, "replace_triggered_by and terraform_data")
	c.Run(t, 0, "apply", "-auto-approve")
	h.clock.Advance(2 * time.Hour)
	output := c.Run(t, 0, "apply", "-auto-approve")
	if !strings.Contains(output, "1 added, 1 changed, 1 destroyed") || strings.Contains(output, "terraform_data.new_content: Creating") {
		t.Errorf("a renewal must replace what follows the link, and only that:\n%s", output)
	}
	c.write(t, secondRevision(exportConfig)+dependents)
	if output := c.Run(t, 0, "apply", "-auto-approve"); !strings.Contains(output, "2 added, 1 changed, 2 destroyed") {
		t.Errorf("new content must replace both:\n%s", output)
	}

	h.ResetRequests()
	ignoring := strings.Replace(exportConfig, `revision = "1" }`, "revision = \"3\" }\n  lifecycle { ignore_changes = [triggers] }", 1)
	c.write(t, ignoring+dependents)
	c.wantEmptyPlan(t)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0})
}

func TestClampedRenewBeforeIsSaidOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: 10 * time.Minute})
	c := h.newCLI(t, export(`renew_before = "1h"`))
	output := c.Run(t, 0, "apply", "-auto-approve")
	if got := strings.Count(output, "Warning: renew_before is longer than the link lives"); got != 1 {
		t.Errorf("%d warnings, want 1:\n%s", got, output)
	}
	if output := c.Run(t, 0, "plan", "-detailed-exitcode"); strings.Contains(output, "Warning") {
		t.Errorf("the plan repeats the warning:\n%s", output)
	}
}

func TestDestroyCallsNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.newCLI(t, exportConfig)
	c.Run(t, 0, "apply", "-auto-approve")
	h.ResetRequests()
	c.Run(t, 0, "destroy", "-auto-approve", "-refresh=false")
	if requests := h.Requests(); len(requests) > 0 {
		t.Errorf("%d requests, want none: %+v", len(requests), requests)
	}
}
