package provider

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestImportAdoptsTheConfigurationAndCreatesTheLinkInTheFirstApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.service.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour)})
	c := h.cli(t, revision("1")+fmt.Sprintf("\nimport {\n  to = %s\n  id = \"docs.example.com,%s\"\n}\n", site, id))
	c.terraform.SkipBelow(t, 5, 5, "import blocks")
	c.terraform.Run(t, 2, "plan", "-detailed-exitcode")
	h.wantCounts(t, counts{job: 1})

	wantPhrases(t, c.apply(t, 0), "Warning: "+summaryImportAdopts, "0 added, 1 changed")
	h.wantCounts(t, counts{job: 2, bundle: 1})
	c.wantJob(t, 0)
	c.wantEmptyPlan(t)

	c.write(t, revision("2"))
	c.apply(t, 0)
	h.wantWork(t, counts{start: 1, bundle: 2, download: 1})
	c.wantJob(t, 1)
}

// TestImportOfARunningJobIsFinishedByTheNextApply also polls in the configured interval.
func TestImportOfARunningJobIsFinishedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.service.AddJob(simulator.JobSpec{Run: 10 * time.Minute})
	c := h.cli(t, siteExport(`poll_interval = "1m"`))
	c.terraform.Run(t, 0, "import", site, "docs.example.com,"+id)
	if output := c.apply(t, 0); strings.Contains(output, "Warning") {
		t.Errorf("nothing is adopted:\n%s", output)
	}
	h.wantWork(t, counts{bundle: 1})
	c.wantJob(t, 0)
	c.wantEmptyPlan(t)
}

func TestImportByIdentityNeedsTheDomainAndTheJob(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.service.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour)})
	by := func(identity string) string {
		return siteExport() + fmt.Sprintf("\nimport {\n  to = %s\n  identity = { %s }\n}\n", site, identity)
	}
	c := h.cli(t, by(fmt.Sprintf("job_id = %q", id)))
	c.terraform.SkipBelow(t, 12, 12, "import by identity")
	wantPhrases(t, c.apply(t, 1), "domain")
	h.wantCounts(t, counts{})
	c.write(t, by(fmt.Sprintf("job_id = %q, domain = \"docs.example.com\"", id)))
	c.apply(t, 0)
	c.wantJob(t, 0)
	c.wantEmptyPlan(t)
	h.wantWork(t, counts{bundle: 1, download: 1})
}

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
