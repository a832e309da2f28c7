package provider

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// Terraform replaces what a failed create has left without asking the provider.
func TestFirstExportThatFailedIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	type row struct {
		domain                    string // twins have the same one
		then                      string // the arguments in the second apply
		starts                    int    // for the domain, in both
		says                      string // the summary of the warning in the second plan
		untaint, fails, forgotten bool
	}
	const revision1 = `triggers = { revision = "1" }`
	tests := map[string]row{
		"same content":     {domain: "same", then: revision1, starts: 1, says: summaryUnfinished},
		"new timeout":      {domain: "timeout", then: revision1 + "\ntimeouts { create = \"2h\" }", starts: 1, says: summaryUnfinished},
		"other content":    {domain: "other", then: `triggers = { revision = "2" }`, starts: 2, says: summaryUnfinished},
		"unknown content":  {domain: "unknown", then: `triggers = { revision = terraform_data.revision.output }`, starts: 1, says: summaryUnfinished},
		"twin one":         {domain: "twin", then: revision1, starts: 2, says: summaryUnfinished},
		"twin two":         {domain: "twin", then: revision1, starts: 2, says: summaryUnfinished},
		"failed since":     {domain: "failed", then: revision1, starts: 2, says: summaryJobFailed, fails: true},
		"missing since":    {domain: "missing", then: revision1, starts: 2, says: summaryJobNotFound, forgotten: true},
		"replaced instead": {domain: "replaced", then: revision1, starts: 1, says: summaryUnfinished, untaint: true},
		// Terraform gives no sign of the job before it creates the replacement, so these need an untaint.
		"creates first":   {domain: "first", then: revision1 + "\nlifecycle { create_before_destroy = true }", starts: 2, says: summaryUnfinished},
		"dependent first": {domain: "dependent", then: revision1, starts: 2, says: summaryUnfinished},
	}
	domain := func(row row) string { return row.domain + ".example.com" }
	config := func(arguments func(row) string) string {
		var text strings.Builder
		text.WriteString("resource \"terraform_data\" \"revision\" {\n  input = \"1\"\n  triggers_replace = \"%s\"\n}\n")
		for name, test := range tests {
			fmt.Fprintf(&text, "resource \"docs_static_export\" %q {\n  domain = %q\n  %s\n}\n", label(name), domain(test), arguments(test))
		}
		text.WriteString("resource \"terraform_data\" \"chart\" {\n  input = docs_static_export.dependent_first.job_id\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n")
		return text.String()
	}
	c := h.cli(t, fmt.Sprintf(config(func(row) string { return revision1 }), "1"))
	c.terraform.SkipBelow(t, 4, 0, "terraform_data")
	refuse := h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 422})
	said := c.report(t, 1, "apply", "-auto-approve")
	refuse()
	failing, flags, jobs := map[string]bool{}, []string{}, map[string]string{}
	stored := c.values(t)
	for name, test := range tests {
		said.wantSaid(t, name, "error: "+summaryLinkFailed)
		id, _ := stored["docs_static_export."+label(name)]["job_id"].(string)
		jobs[name] = id
		switch {
		case test.fails:
			failing[id] = true
		case test.forgotten:
			h.service.ForgetJob(id)
		case test.untaint:
			c.terraform.Run(t, 0, "untaint", "docs_static_export."+label(name))
			flags = append(flags, "-replace=docs_static_export."+label(name))
		}
	}
	defer h.service.AddFault(simulator.Fault{
		Endpoint: simulator.EndpointJob, Status: 200, Body: `{"status":"failed"}`, Match: func(r simulator.Request) bool { return failing[r.ID] },
	})()

	c.write(t, fmt.Sprintf(config(func(r row) string { return r.then }), "2"))
	plan := c.report(t, 0, append([]string{"plan", "-out=saved"}, flags...)...)
	c.report(t, 0, "apply", "saved")
	again := c.report(t, 0, "plan")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			starts := 0
			for _, request := range h.service.Requests() {
				if request.Endpoint == simulator.EndpointStart && request.Domain == domain(test) {
					starts++
				}
			}
			if starts != test.starts {
				t.Errorf("%d starts, want %d", starts, test.starts)
			}
			plan.wantSaid(t, name, "warning: "+test.says+": job "+jobs[name]+" ")
			again.wantNothingSaid(t, name)
			if again.planned[label(name)] != "" {
				t.Errorf("the plan after it is an %s", again.planned[label(name)])
			}
		})
	}
}

func TestInterruptedCreateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport())
	wantPhrases(t, c.interruptApply(t), "Warning: "+summaryExportInterrupted+": job se_")
	if state := c.values(t)[site]; state["job_id"] != h.service.JobIDs()[0] || state["bundle_url"] != nil {
		t.Fatalf("the state is %v", state)
	}
	wantPhrases(t, c.apply(t, 0), "Warning: "+summaryUnfinished+": job "+h.service.JobIDs()[0], "0 added, 1 changed")
	h.wantWork(t, counts{start: 1, bundle: 1})
	c.wantEmptyPlan(t)
}

// Terraform runs all Deletes first, and a stop halts the Creates that are queued.
func TestInterruptedReplacementNamesTheJobsThatNobodyHasResumed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	config := siteExport() + strings.ReplaceAll(siteExport(), "site", "other")
	c := h.cli(t, strings.Replace(config, "docs.example.com", "first.example.com", 1))
	c.apply(t, 1)
	output := unwrapped(c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve", "-refresh=false", "-parallelism=1"))
	wantPhrases(t, output, "Warning: "+summaryExportInterrupted+": job se_", "Warning: "+summaryNotResumed+": job se_")
	lost := regexp.MustCompile(`terraform import ADDRESS (\S+),(se_\w+)"`).FindStringSubmatch(output)
	if lost == nil {
		t.Fatalf("there is no command that imports the other job:\n%s", output)
	}
	address := map[string]string{"first.example.com": site, "docs.example.com": "docs_static_export.other"}[lost[1]]
	c.terraform.Run(t, 0, "import", address, lost[1]+","+lost[2])
	for _, job := range h.service.JobIDs() {
		h.service.FinishJob(job, "")
	}
	c.apply(t, 0)
	h.wantStarts(t, 0) // since the interrupt
	c.wantEmptyPlan(t)
}

// cutOff interrupts the export of a second revision, and empties the request log before. It
// returns the IDs of the old job, which stays in the state, and of the pending one.
func (c *cli) cutOff(t *testing.T) (old, pending string) {
	t.Helper()
	c.write(t, revision("1"))
	c.apply(t, 0)
	before := c.values(t)[site]
	c.write(t, revision("2"))
	wantPhrases(t, c.interruptApply(t), "Error: "+summaryExportInterrupted)
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
	c.report(t, 0, "plan").wantSaid(t, "site", "warning: "+summaryAbandons+": job "+pending)
	c.write(t, revision("2"))
	// An unknown ID, because an ephemeral link to a pending job that has failed would block the plan.
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), `~ job_id = "`+old+`" -> (known after apply)`, "Warning: "+summaryCanResume+": job "+pending)
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantWork(t, counts{start: 1, bundle: 2, download: 1})
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
}

// With -replace, Terraform gives Delete the private state.
func TestReplacementOnRequestResumesThePendingJob(t *testing.T) {
	t.Parallel()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	_, pending := c.cutOff(t)
	wantPhrases(t, c.apply(t, 0, "-replace="+site), "Warning: "+summaryCanResume+": job "+pending, "1 added, 0 changed, 1 destroyed")
	c.wantJob(t, 1)
	c.wantStarts(t, 1)
	c.apply(t, 0, "-replace="+site)
	c.wantJob(t, 2)
}
