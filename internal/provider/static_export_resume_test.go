package provider

import (
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

// An update in place that was interrupted leaves its job beside the link. The next plan does not know that its apply
// resumes the job.
func TestInterruptedUpdateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport())
	c.terraform.SkipBelow(t, 4, 0, "terraform_data")
	c.apply(t, 0)
	c.write(t, siteExport(`triggers = { revision = "2" }`))
	c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve", "-refresh=false")
	jobs := h.service.JobIDs()
	wantAttributes(t, c.values(t)[site], map[string]any{"job_id": jobs[0], "latest_job_id": jobs[1]})
	c.write(t, "resource \"terraform_data\" \"revision\" {\n  input = \"2\"\n}\n"+siteExport("triggers = { revision = terraform_data.revision.output }"))
	wantPhrases(t, c.apply(t, 0), "1 added, 1 changed")
	h.wantWork(t, counts{start: 1, bundle: 1})
	wantAttributes(t, c.values(t)[site], map[string]any{"job_id": jobs[1], "latest_job_id": jobs[1]})
	c.wantEmptyPlan(t)
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
