package provider

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestImportNeedsADomainAndAJob(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for name, id := range map[string]string{
		"nothing": "", "job": "se_1", "domain and no job": "docs.example.com,\t", "no domain": ",se_1", "website": "https://docs.example.com,se_1",
		"domain and job": "docs.example.com , se_1,part",
	} {
		var diags diag.Diagnostics
		identity := parseImport(t.Context(), resource.ImportStateRequest{ID: id}, &diags)
		if texts[name] = textOf(diags); len(diags) == 0 {
			texts[name] = identity.JobID.ValueString() + " of " + identity.Domain.ValueString()
		}
	}
	wantTexts(t, "import_of_export.txt", texts)
}

func TestImportOfAJobWithoutABundleFails(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	failed := h.service.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour), Fail: "no such branch"})
	c := h.cli(t, siteExport())
	for id, want := range map[string]string{"se_1": "HTTP 404", failed: "no such branch"} {
		wantPhrases(t, unwrapped(c.terraform.Run(t, 1, "import", site, "docs.example.com,"+id)), "Error: "+summaryImportFailed, want)
	}
	h.wantWork(t, counts{})
}
