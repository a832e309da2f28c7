package provider

import (
	"fmt"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// dependents are replaced if the job or the link of the export changes.
const dependents = `
resource "terraform_data" "job" { triggers_replace = [docs_static_export.site.job_id] }
resource "terraform_data" "link" { triggers_replace = [docs_static_export.site.bundle_url] }
`

func TestNotFoundThatPassesReplacesNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, siteExport()+dependents)
	c.apply(t, 0)
	job := c.values(t)["terraform_data.job"]["id"]
	fault := simulator.Fault{Endpoint: simulator.EndpointJob, Status: 404, Lasts: 18 * time.Second}
	h.service.AddFault(fault)
	c.wantEmptyPlan(t)

	h.clock.Advance(2 * time.Hour)
	fault.Endpoint = simulator.EndpointBundle
	h.service.AddFault(fault)
	// The link is a new one, so what depends on it is replaced, and what depends on the job stays.
	wantPhrases(t, c.apply(t, 0), "1 added, 1 changed, 1 destroyed")
	c.wantJob(t, 0)
	c.wantEmptyPlan(t)
	if after := c.values(t)["terraform_data.job"]["id"]; after != job {
		t.Errorf("what depends on the job was replaced: its ID was %v and is %v", job, after)
	}
	h.wantStarts(t, 1)
}

func TestMissingExportIsNamedAfterHalfAMinuteAndExportedOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport())
	c.apply(t, 0)
	lost := h.service.JobIDs()[0]
	h.service.ForgetJob(lost)
	h.service.ResetRequests()
	within := func(from, to time.Duration, command func()) {
		t.Helper()
		began := h.clock.Now()
		command()
		if took := h.clock.Now().Sub(began); took < from || took > to {
			t.Errorf("took %s, want %s to %s", took, from, to)
		}
	}
	within(30*time.Second, 40*time.Second, func() {
		c.report(t, 0, "plan").wantSaid(t, "site", "warning: "+summaryJobNotFound+": job "+lost, "warning: "+summaryMissing+": job "+lost)
	})
	c.apply(t, 0, "-refresh-only")
	within(30*time.Second, 40*time.Second, func() { // also if the refresh knows that it is missing
		wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), "Warning: "+summaryJobNotFound+": job "+lost, "~ job_id")
	})
	c.apply(t, 0)
	h.wantWork(t, counts{start: 1, bundle: 1})
	c.wantEmptyPlan(t)
}

func TestDomainIsAnInput(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	domain := func(name, replace string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"domain\" {\n  input = %q\n  triggers_replace = %q\n}\n", name, replace) +
			"resource \"docs_static_export\" \"site\" {\n  domain = terraform_data.domain.output\n}\n" + dependents
	}
	c := h.cli(t, domain("docs.example.com", "1"))
	c.apply(t, 0)
	before := c.values(t)[site]

	c.write(t, domain("docs.example.com", "2"))
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), `~ domain = "docs.example.com" -> (known after apply)`, "~ job_id", "site will be updated in-place")
	c.apply(t, 0)
	if after := c.values(t)[site]; after["job_id"] != before["job_id"] || after["bundle_url"] != before["bundle_url"] {
		t.Errorf("the state was %v and is %v", before, after)
	}
	h.wantWork(t, counts{start: 1, bundle: 1})

	h.service.NextJob(simulator.JobSpec{Fail: "no such site"})
	c.write(t, domain("other.example.com", "2"))
	wantPhrases(t, c.apply(t, 1), "no such site", "The link in the state expires at")
	if after := c.values(t)[site]; after["domain"] != "docs.example.com" || after["bundle_url"] != before["bundle_url"] {
		t.Errorf("the state was %v and is %v", before, after)
	}
	c.apply(t, 0)
	c.wantJob(t, 2)
	c.wantEmptyPlan(t)
}
