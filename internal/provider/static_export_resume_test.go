package provider

import (
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestInterruptedCreateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export())
	wantPhrases(t, c.interruptApply(t), "Warning: Static export interrupted: job se_", "which may still be running. The state contains the job, which has no link yet.")
	if state := c.values(t)[site]; state["job_id"] != h.service.JobIDs()[0] || state["bundle_url"] != nil {
		t.Fatalf("the state is %v", state)
	}
	c.write(t, revision("2"))
	c.report(t, 0, "plan").wantSaid(t, "site", "warning: Unfinished job is not resumed: job "+h.service.JobIDs()[0])
	c.write(t, export())
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantWork(t, counts{start: 1, bundle: 1})
	c.wantEmptyPlan(t)
}

// Terraform replaces what a failed create has left without asking the provider.
func TestFirstExportThatDidNotFinishIsWarnedAboutAndResumedAfterUntaint(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job  simulator.JobSpec
		link simulator.Fault
		says []string
	}{
		"if it timed out": {
			job:  simulator.JobSpec{Queue: simulator.Forever},
			says: []string{"Error: Static export timed out", "The operation did not finish within 1h (timeouts.create).", `had status "queued" when last checked (progress 0, page count 0). It may still be running.`},
		},
		"if its link was refused for half a minute": {
			link: simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 409, Lasts: 40 * time.Second},
			says: []string{"Error: Could not create a bundle link", "HTTP 409 Conflict", "completed, but no link was received.", "The provider made "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.service.NextJob(test.job)
			if test.link.Status != 0 {
				h.service.AddFault(test.link)
			}
			c := h.cli(t, export())
			wantPhrases(t, c.apply(t, 1), append(test.says, "ob "+h.service.JobIDs()[0], "The state contains the job, and the resource is tainted.", `run "terraform untaint ADDRESS" for this resource, then run "terraform apply" again.`)...)
			h.service.FinishJob(h.service.JobIDs()[0], "")
			h.clock.Advance(time.Minute)

			plan := c.report(t, 0, "plan")
			plan.wantSaid(t, "site", "warning: First export did not finish: job "+h.service.JobIDs()[0], "If the plan shows the resource as tainted, applying the plan starts another job.", `run "terraform untaint ADDRESS" for this resource, and plan again.`)
			if plan.planned["site"] != "replace" {
				t.Errorf("planned %q, want a replacement", plan.planned["site"])
			}
			c.terraform.Run(t, 0, "untaint", site)
			wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
			h.wantStarts(t, 1)
			c.wantJob(t, 0)
			if output := c.terraform.Run(t, 0, "plan", "-detailed-exitcode"); strings.Contains(output, "First export did not finish") {
				t.Errorf("the warning is still there:\n%s", output)
			}
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
	wantPhrases(t, c.interruptApply(t), "Error: Static export interrupted", "which may still be running. The link in the state expires at",
		resumeByApply)
	if after := c.values(t)[site]; after["job_id"] != before["job_id"] || after["bundle_url"] != before["bundle_url"] {
		t.Fatalf("the state was %v and is %v", before, after)
	}
	return c.service.JobIDs()[0], c.service.JobIDs()[1]
}

func TestPendingJobIsKeptDuringAnUpdateOfOtherContentAndResumed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, "")
	old, pending := c.cutOff(t)
	h.clock.Advance(2 * time.Hour)
	c.write(t, revision("1"))
	c.apply(t, 0) // renews the link of the first job
	c.wantJob(t, 0)
	c.write(t, revision("3"))
	c.report(t, 0, "plan").wantSaid(t, "site", "warning: Unfinished job is not resumed: job "+pending)
	c.write(t, strings.Replace(revision("2"), "docs.example.com", "other.example.com", 1))
	c.report(t, 0, "plan").wantSaid(t, "site", "warning: Unfinished job is not resumed: job "+pending)
	c.write(t, revision("2"))
	// An unknown ID, because an ephemeral link to a pending job that has failed would block the plan.
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), `~ job_id = "`+old+`" -> (known after apply)`, "Warning: Unfinished job can be resumed: job "+pending,
		"it resumes job "+pending+".")
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, counts{start: 1, job: 7, bundle: 2, download: 1})
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
}

func TestResumedJobThatHasFailedIsReportedBeforeAnotherIsStarted(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	_, pending := c.cutOff(t)
	h.service.FinishJob(pending, "page /a is broken")
	wantPhrases(t, c.apply(t, 1), "Error: Static export job failed", "page /a is broken")
	h.wantStarts(t, 1)
	if output := c.apply(t, 0); strings.Contains(output, "Warning") {
		t.Errorf("nothing was missing, but the apply says:\n%s", output)
	}
	h.wantStarts(t, 2)
	c.wantJob(t, 2)
}
