package provider

import (
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestImportThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	failed := h.service.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour), Fail: "no such branch"})
	c := h.cli(t, siteExport())
	for id, wants := range map[string][]string{
		"":                                   {summaryInvalidImport, importForm},
		failed:                               {summaryInvalidImport, importForm},
		"docs.example.com,\t":                {summaryInvalidImport, "The ID is empty.", importForm},
		"https://docs.example.com," + failed: {summaryInvalidImport, "is not a domain", importForm},
		",se_1":                              {summaryInvalidImport, "is not a domain", importForm},
		"docs.example.com,se_1,part":         {summaryImportFailed, "HTTP 404", "/v1/static-export/jobs/se_1%2Cpart"},
		"docs.example.com," + failed:         {summaryImportFailed, "no such branch"},
	} {
		output := unwrapped(c.terraform.Run(t, 1, "import", site, id))
		if wantPhrases(t, output, wants...); strings.Count(output, "Error: ") != 1 {
			t.Errorf("want one error:\n%s", output)
		}
	}
	h.wantWork(t, counts{})
}
