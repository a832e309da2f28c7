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
	wantPhrases(t, c.apply(t, 0), "1 added, 0 changed, 1 destroyed")
	h.wantWork(t, counts{start: 1, bundle: 2})
	c.wantEmptyPlan(t)
}

// An update in place that was interrupted leaves its job beside the link. Whatever the next plan wants, the attributes
// and the plan show what happens to the job, so nothing warns about it. The row's name is its domain.
func TestInterruptedUpdateIsResumedOrLeftAsThePlanShows(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		next, action string // the triggers of the next plan, and its action
		resumes      bool
	}{
		"resumed":            {`"2"`, "update", true},
		"no-longer-wanted":   {`"1"`, "", false},
		"replaced":           {`"2"`, "replace", true},
		"turns-out-the-same": {"terraform_data.same.output", "update", false},
		"turns-out-the-next": {"terraform_data.next.output", "update", true},
	}
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	c.terraform.SkipBelow(t, 4, 0, "terraform_data")
	write := func(known string, next bool, others string) {
		for name, test := range tests {
			revision := known
			if next {
				revision = test.next
			}
			others += fmt.Sprintf("resource \"docs_static_export\" %q {\n  domain = \"%[1]s.example.com\"\n  triggers = { revision = %s }\n}\n", name, revision)
		}
		c.write(t, others)
	}
	write(`"1"`, false, "")
	c.apply(t, 0)
	write(`"2"`, false, "")
	polls := h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Delay: simulator.Forever})
	c.interruptWhen(t, func() bool { return h.service.Count(simulator.EndpointStart) == len(tests) }, "apply", "-auto-approve", "-refresh=false")
	polls()
	before := c.values(t)
	write("", true, "resource \"terraform_data\" \"same\" {\n  input = \"1\"\n}\nresource \"terraform_data\" \"next\" {\n  input = \"2\"\n}\n")
	planned := c.report(t, 0, "plan", "-replace=docs_static_export.replaced", "-out=plan")
	applied := c.report(t, 0, "apply", "plan")
	after := c.values(t)
	c.wantEmptyPlan(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			jobs, address := h.service.JobIDsOf(name+".example.com"), "docs_static_export."+name
			if len(jobs) != 2 || planned.planned[name] != test.action || applied.said[name] != "" {
				t.Fatalf("the jobs are %v; planned %q; the apply says:\n%s", jobs, planned.planned[name], applied.said[name])
			}
			planned.wantNothingSaid(t, name)
			wantAttributes(t, before[address], map[string]any{"job_id": jobs[0], "latest_job_id": jobs[1]})
			want := map[string]any{"job_id": jobs[0], "latest_job_id": jobs[1]}
			if test.resumes {
				want["job_id"] = jobs[1]
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
	wantPhrases(t, c.apply(t, 0), summaryReplaced+": job "+job, "0 added, 1 changed")
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
