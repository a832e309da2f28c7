package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// Terraform replaces what a failed create has left without asking the provider.
func TestFirstExportThatFailedIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport())
	refuse := h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 422})
	wantPhrases(t, c.apply(t, 1), "Error: "+summaryLinkFailed)
	refuse()
	resumed := c.apply(t, 0)
	if wantPhrases(t, resumed, "1 added, 0 changed, 1 destroyed"); strings.Contains(resumed, "Warning") {
		t.Errorf("the apply that resumes the job warns:\n%s", resumed)
	}
	h.wantWork(t, counts{start: 1, bundle: h.service.Count(simulator.EndpointBundle)})
	c.wantEmptyPlan(t)
}

// Whoever replaces a first export that was interrupted wants another job, because only a failed create is tainted.
func TestReplacementOfAnInterruptedFirstExportExportsAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport())
	c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve")
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "apply", "-auto-approve", "-replace="+site)), "1 added, 0 changed, 1 destroyed")
	if jobs := h.service.JobIDs(); len(jobs) != 2 || c.values(t)[site]["job_id"] != jobs[1] {
		t.Errorf("the state has job %v of %v", c.values(t)[site]["job_id"], jobs)
	}
	c.wantEmptyPlan(t)
}

// An update in place that was interrupted leaves its job beside the link. Whatever the next plan wants, the attributes
// and the plan show what happens to the job, so nothing warns about it. The row's name is its domain.
func TestInterruptedUpdateIsResumedOrLeftAsThePlanShows(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		next, known, action string // the triggers of the next plan, the value that it learns in the apply, and its action
		resumes             bool
		starts              int // in the next apply
	}{
		"resumed":            {next: `"2"`, action: "update", resumes: true},
		"no-longer-wanted":   {next: `"1"`},
		"other-content":      {next: `"3"`, action: "update", starts: 1},
		"replaced":           {next: `"2"`, action: "replace", starts: 1},
		"turns-out-the-same": {next: "terraform_data.turns-out-the-same.output", known: "1", action: "update"},
		"turns-out-the-next": {next: "terraform_data.turns-out-the-next.output", known: "2", action: "update", resumes: true},
		"destroyed":          {action: "delete"},
	}
	h := newHarness(t, simulator.Options{})
	config := func(next bool) string {
		var all strings.Builder
		for name, test := range tests {
			revision := map[bool]string{false: `"2"`, true: test.next}[next]
			if test.known != "" && next {
				fmt.Fprintf(&all, "resource \"terraform_data\" %q {\n  input = %q\n}\n", name, test.known)
			}
			if revision != "" {
				fmt.Fprintf(&all, "resource \"docs_static_export\" %q {\n  domain = \"%[1]s.example.com\"\n"+
					"  triggers = { revision = %s }\n}\n", name, revision)
			}
		}
		return all.String()
	}
	c := h.cli(t, strings.ReplaceAll(config(false), `"2"`, `"1"`))
	c.terraform.SkipBelow(t, 4, 0, "terraform_data")
	c.apply(t, 0)
	c.write(t, config(false))
	jobs := func(name string) []string { return h.service.JobIDsOf(name + ".example.com") }
	polls := h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Delay: simulator.Forever})
	interrupted := c.interruptWhen(t, func() bool { return h.service.Count(simulator.EndpointStart) == len(tests) }, "apply",
		"-auto-approve", "-refresh=false")
	polls()
	before := c.values(t)
	c.write(t, config(true))
	planned := c.report(t, 0, "plan", "-replace=docs_static_export.replaced", "-out=plan")
	next := c.report(t, 0, "apply", "plan")
	after := c.values(t)
	again := c.report(t, 0, "plan")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			all, address := jobs(name), "docs_static_export."+name
			unfinished := all[1]
			wantPhrases(t, interrupted, "The state keeps job "+unfinished+" as latest_job_id. The link in the state expires at",
				"If nothing else changes, the next apply resumes job "+unfinished+".")
			wantAttributes(t, before[address], map[string]any{"job_id": all[0], "latest_job_id": unfinished})
			planned.wantNothingSaid(t, name)
			if said := next.said[name] + again.said[name]; said != "" {
				t.Errorf("the apply, or the plan after it, says:\n%s", said)
			}
			if planned.planned[name] != test.action || again.planned[name] != "" || len(all) != 2+test.starts {
				t.Errorf("planned %q, and then %q, with the jobs %v", planned.planned[name], again.planned[name], all)
			}
			want := map[string]any{"job_id": all[len(all)-1], "latest_job_id": all[len(all)-1]}
			switch {
			case test.next == "":
				return
			case !test.resumes && test.starts == 0:
				want["job_id"] = all[0]
			}
			wantAttributes(t, after[address], want)
		})
	}
}

// A plan knows the job that its apply resumes. If the service does not find it by then, nothing is started before a
// plan has shown that.
func TestJobThatAPlanKnewAndThatIsMissingInItsApplyIsReplacedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport()+"ephemeral \"docs_static_export_bundle\" \"site\" {\n  job_id = docs_static_export.site.job_id\n}\n")
	c.terraform.SkipBelow(t, 10, 11, "ephemeral resources")
	wantPhrases(t, c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve"), "Warning: "+summaryExportInterrupted+": job se_")
	job := h.service.JobIDs()[0]
	resumes := unwrapped(c.terraform.Run(t, 0, "plan", "-out=plan"))
	wantPhrases(t, resumes, "~ job_id = \""+job+"\" -> (known after apply)")
	if strings.Contains(resumes, "latest_job_id") || strings.Contains(resumes, "Warning") {
		t.Errorf("the plan shows a change of latest_job_id, or warns:\n%s", resumes)
	}
	h.service.ForgetJob(job)
	wantPhrases(t, unwrapped(c.terraform.Run(t, 1, "apply", "plan")), "Error: "+summaryJobNotFound)
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), "~ latest_job_id = \""+job+"\" -> (known after apply)")
	h.service.ResetRequests()
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	if starts := h.service.Count(simulator.EndpointStart); starts != 1 {
		t.Errorf("%d starts, want 1", starts)
	}
	c.wantEmptyPlan(t)
}

// Terraform runs all Deletes first, and a stop halts the Creates that are queued.
func TestInterruptedReplacementLosesOnlyJobsThatThePlanHasShown(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	config := siteExport() + strings.ReplaceAll(siteExport(), "site", "other")
	c := h.cli(t, strings.Replace(config, "docs.example.com", "first.example.com", 1))
	c.apply(t, 1)
	planned := unwrapped(c.terraform.Run(t, 0, "plan"))
	c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve", "-refresh=false", "-parallelism=1")
	left := c.values(t)
	for domain, address := range map[string]string{"first.example.com": site, "docs.example.com": "docs_static_export.other"} {
		if job := h.service.JobIDsOf(domain)[0]; left[address] == nil {
			wantPhrases(t, planned, "latest_job_id = \""+job+"\" -> (known after apply)")
			c.terraform.Run(t, 0, "import", address, domain+","+job)
		}
	}
	for _, job := range h.service.JobIDs() {
		h.service.FinishJob(job)
	}
	c.apply(t, 0)
	if starts := h.service.Count(simulator.EndpointStart); starts > 0 {
		t.Errorf("%d starts since the interrupt", starts)
	}
	c.wantEmptyPlan(t)
}
