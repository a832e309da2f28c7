// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestInterruptedCreateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export())
	wantPhrases(t, c.interruptApply(t), "Warning: Static export interrupted", "may still be running. Its status has not been read. The state contains the job without a link.")
	if state := c.values(t)[site]; state["job_id"] != h.service.JobIDs()[0] || state["bundle_url"] != nil {
		t.Fatalf("the state is %v", state)
	}
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, counts{start: 1, job: some, bundle: 1})
	c.wantEmptyPlan(t)
}

func TestFailedCreateIsResumedAfterUntaint(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job   simulator.JobSpec
		fault simulator.Fault
		links int // requests
		says  []string
	}{
		"if it timed out": {
			simulator.JobSpec{Queue: simulator.Forever},
			simulator.Fault{Endpoint: simulator.EndpointStart}, // changes nothing
			1,
			[]string{"Static export timed out", "The operation did not finish within 1h0m0s (`timeouts.create`).", `last seen with status "queued"`, "The job keeps running."},
		},
		"if it got no link": {
			simulator.JobSpec{},
			simulator.Fault{Endpoint: simulator.EndpointBundle, Times: 5, Status: 502},
			6,
			[]string{"Could not create a bundle link", "HTTP 502 Bad Gateway", "completed, but no link was created."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.service.NextJob(test.job)
			h.service.AddFault(test.fault)
			c := h.cli(t, export())
			wantPhrases(t, c.apply(t, 1), append(test.says, "Job "+h.service.JobIDs()[0], "contains the job, and the resource is tainted", `run "terraform untaint"`)...)
			h.service.FinishJob(h.service.JobIDs()[0], "")
			c.terraform.Run(t, 0, "untaint", site)
			wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
			h.wantCounts(t, counts{start: 1, job: some, bundle: test.links})
			c.wantJob(t, 0)
			c.wantEmptyPlan(t)
		})
	}
}

// cutOff interrupts the export of a second revision, and empties the request log
// before. It returns the IDs of the old job, which stays in the state, and of the
// pending one.
func (c *cli) cutOff(t *testing.T) (old, pending string) {
	t.Helper()
	c.write(t, revision("1"))
	c.apply(t, 0)
	before := c.values(t)[site]
	c.write(t, revision("2"))
	wantPhrases(t, c.interruptApply(t), "Error: Static export interrupted", "may still be running. Its status has not been read. The link in the state works until",
		`To resume the same job, run "terraform apply" again.`)
	if after := c.values(t)[site]; after["job_id"] != before["job_id"] || after["bundle_url"] != before["bundle_url"] {
		t.Fatalf("the state was %v and is %v", before, after)
	}
	return c.service.JobIDs()[0], c.service.JobIDs()[1]
}

func TestInterruptedExportOfNewContentIsResumed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	_, pending := c.cutOff(t)
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), "-> (known after apply)", "Warning: The apply resumes a static export job",
		"The apply resumes job "+pending+", which was started for this content. It does not start another one.")

	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, counts{start: 1, job: some, bundle: 1})
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
}

func TestPendingJobIsKeptDuringAnUpdateOfOtherContent(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, "")
	c.cutOff(t)
	h.clock.Advance(2 * time.Hour)
	c.write(t, revision("1"))
	c.apply(t, 0) // renews the link of the first job
	c.wantJob(t, 0)
	c.write(t, revision("2"))
	c.apply(t, 0)
	h.wantCounts(t, counts{start: 1, job: some, bundle: 2})
	c.wantJob(t, 1)
}

func TestNewerContentReplacesThePendingJob(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	c.cutOff(t)
	c.write(t, revision("3"))
	c.apply(t, 0)
	c.wantJob(t, 2)
	c.write(t, revision("2"))
	c.apply(t, 0)
	c.wantJob(t, 3)
	c.wantEmptyPlan(t)
}

func TestPendingJobThatFailsBlocksNoPlanWithAnEphemeralLink(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	c.terraform.SkipBelow(t, 10, 11, "ephemeral resources")
	_, pending := c.cutOff(t)
	h.service.FinishJob(pending, "page /broken does not render")
	c.write(t, revision("2")+"ephemeral \"docs_static_export_bundle\" \"link\" {\n  job_id = "+site+".job_id\n}\n")
	c.terraform.Run(t, 2, "plan", "-detailed-exitcode")
	wantPhrases(t, c.apply(t, 1), "page /broken does not render. The link in the state works until", "apply again to start a new export")
	c.apply(t, 0)
	c.wantJob(t, 2)
	c.wantEmptyPlan(t)
}
