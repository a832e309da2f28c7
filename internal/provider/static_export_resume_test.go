// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// soon is a timeout in real time. Tests let the service hold back a response for
// longer.
const soon = `timeouts = { create = "500ms", update = "500ms" }`

func TestInterruptedCreateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export())
	wantPhrases(t, c.interruptApply(t), "Warning: Static export interrupted", "The job keeps running.", "The state contains the job without a link.")
	if state := c.values(t)[site]; state["job_id"] != h.JobIDs()[0] || state["bundle_url"] != nil {
		t.Fatalf("the state is %v", state)
	}
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 1})
	c.wantEmptyPlan(t)
}

func TestFailedCreateIsResumedAfterUntaint(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault     simulator.Fault
		arguments string
		says      []string
	}{
		"if it timed out": {
			simulator.Fault{Endpoint: simulator.EndpointJob, Skip: 1, Times: 1, Delay: simulator.Forever},
			soon,
			[]string{"Static export timed out", "The operation did not finish within 500ms (`timeouts.create`).", `last seen with status "queued"`, "The job keeps running."},
		},
		"if it got no link": {
			simulator.Fault{Endpoint: simulator.EndpointBundle, Times: 5, Status: 502},
			"",
			[]string{"Could not create a bundle link", "HTTP 502 Bad Gateway", "completed, but its link was not created."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.AddFault(test.fault)
			c := h.cli(t, export(test.arguments))
			wantPhrases(t, c.apply(t, 1), append(test.says, "Job "+h.JobIDs()[0], "contains the job as tainted", `run "terraform untaint"`)...)
			c.write(t, export())
			c.Run(t, 0, "untaint", site)
			wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
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
	wantPhrases(t, c.interruptApply(t), "Error: Static export interrupted", "The job keeps running. The state keeps the earlier export and its link.",
		`To resume the same job, run "terraform apply" again.`)
	if after := c.values(t)[site]; after["job_id"] != before["job_id"] || after["bundle_url"] != before["bundle_url"] {
		t.Fatalf("the state was %v and is %v", before, after)
	}
	return c.JobIDs()[0], c.JobIDs()[1]
}

func TestInterruptedExportOfNewContentIsResumed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	old, pending := c.cutOff(t)
	wantPhrases(t, unwrapped(c.Run(t, 0, "plan")), fmt.Sprintf("~ job_id = %q -> %q", old, pending), "~ bundle_url = (sensitive value)")

	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 1})
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
}

func TestNewContentIsResumedAlthoughTheOldJobIsGone(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	old, pending := c.cutOff(t)
	h.ForgetJob(old)
	wantPhrases(t, c.apply(t, 0), "Warning: Static export job not found", "or resumes job "+pending, "0 added, 1 changed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
	c.wantJob(t, 0) // of those that the service still knows
	c.wantEmptyPlan(t)
}

func TestPendingJobThatIsGoneIsStartedAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	_, pending := c.cutOff(t)
	h.ForgetJob(pending)
	wantPhrases(t, c.apply(t, 1), "Static export job not found", "The state keeps the earlier export and its link. The next apply exports the site again.")
	c.apply(t, 0)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
	c.wantJob(t, 1)
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
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
	c.wantJob(t, 1)
}
