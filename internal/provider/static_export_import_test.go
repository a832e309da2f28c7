package provider

import (
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

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
