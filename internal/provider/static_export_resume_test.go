// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// soon is a timeout in real time, which no job of Forever meets.
const soon = `timeouts = { create = "200ms", update = "200ms" }`

func TestInterruptedCreateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export())
	wantTexts(t, c.interrupt(t), "Warning: Static export interrupted", "The job keeps running.", "The state holds the job, without a link.")
	if state := c.state(t, site); state["job_id"] != h.JobIDs()[0] || state["bundle_url"] != nil {
		t.Fatalf("the state is %v", state)
	}
	wantTexts(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 1})
	c.wantEmptyPlan(t)
}

func TestFailedCreateIsResumedAfterUntaint(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job  simulator.JobSpec
		says []string
	}{
		"if it timed out": {
			simulator.JobSpec{Run: simulator.Forever},
			[]string{"Static export timed out", "Not finished after 200ms (`timeouts.create`).", "The job keeps running."},
		},
		"if it got no link": {
			simulator.JobSpec{Run: -1},
			[]string{"Could not finish the static export", "HTTP 502 Bad Gateway", `last seen with status "completed"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.NextJob(test.job)
			heal := h.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 502})
			c := h.cli(t, export(soon))
			wantTexts(t, c.apply(t, 1), append(test.says, "Job "+h.JobIDs()[0], "marked as tainted", `run "terraform untaint"`)...)

			heal()
			h.FinishJob(h.JobIDs()[0], "")
			c.Run(t, 0, "untaint", site)
			wantTexts(t, c.apply(t, 0), "0 added, 1 changed")
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
			c.wantJob(t, 0)
			c.wantEmptyPlan(t)
		})
	}
}

func TestTimeoutOfZeroStartsNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export(`timeouts = { create = "0s" }`))
	wantTexts(t, c.apply(t, 1), "Not finished after 0s (`timeouts.create`).", "No job was started.")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0})
}

// cutOff applies a second revision that a timeout cuts off. It returns the IDs of
// the old job, which stays in the state, and of the pending one.
func (c *cli) cutOff(t *testing.T) (old, pending string) {
	t.Helper()
	c.write(t, revision("1"))
	c.apply(t, 0)
	before := c.state(t, site)
	c.NextJob(simulator.JobSpec{Run: simulator.Forever})
	c.write(t, revision("2", soon))
	wantTexts(t, c.apply(t, 1), "Not finished after 200ms (`timeouts.update`).",
		"The state keeps the earlier export and its link.", `To resume the same job, run "terraform apply" again.`)
	if after := c.state(t, site); after["job_id"] != before["job_id"] || after["bundle_url"] != before["bundle_url"] {
		t.Fatalf("the state was %v and is %v", before, after)
	}
	return c.JobIDs()[0], c.JobIDs()[1]
}

func TestNewContentThatTimesOutIsResumed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	old, pending := c.cutOff(t)
	wantTexts(t, unwrapped(c.Run(t, 0, "plan")), fmt.Sprintf("~ job_id = %q -> %q", old, pending), "~ bundle_url = (sensitive value)")

	h.FinishJob(pending, "")
	wantTexts(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2, simulator.EndpointBundle: 2})
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
}

func TestInterruptedExportOfNewContentIsResumed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, revision("1"))
	c.apply(t, 0)
	c.write(t, revision("2"))
	wantTexts(t, c.interrupt(t), "Error: Static export interrupted", "The state keeps the earlier export and its link.")
	c.wantJob(t, 0)
	c.apply(t, 0)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2, simulator.EndpointBundle: 2})
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
}

func TestNewContentIsResumedAlthoughTheOldJobIsGone(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	old, pending := c.cutOff(t)
	h.ForgetJob(old)
	h.FinishJob(pending, "")
	wantTexts(t, c.apply(t, 0), "Warning: Static export job not found", "The next apply resumes it.", "0 added, 1 changed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
	c.wantJob(t, 0) // of those that the service still knows
	c.wantEmptyPlan(t)
}

func TestPendingJobThatIsGoneIsStartedAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	_, pending := c.cutOff(t)
	h.ForgetJob(pending)
	wantTexts(t, c.apply(t, 1), "Static export job not found", "The state keeps the earlier export and its link. The next apply exports the site again.")
	c.apply(t, 0)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 3})
	c.wantJob(t, 1)
}

func TestPendingJobOfOtherContentIsGivenUp(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, "")
	_, pending := c.cutOff(t)
	h.FinishJob(pending, "")
	h.clock.Advance(2 * time.Hour)
	c.write(t, revision("1"))
	c.apply(t, 0) // renews the link of the first job
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
	c.wantJob(t, 0)
	c.write(t, revision("2"))
	c.apply(t, 0)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 3})
	c.wantJob(t, 2)
}
