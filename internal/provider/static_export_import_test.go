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
	h.wantCounts(t, counts{job: 2})

	wantPhrases(t, c.apply(t, 0), "Configured inputs are recorded without another job", "0 added, 1 changed")
	h.wantCounts(t, counts{job: 4, bundle: 1})
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
	c := h.cli(t, export(`poll_interval = "1m"`))
	c.terraform.Run(t, 0, "import", site, id)
	if output := c.apply(t, 0); strings.Contains(output, "Configured inputs") {
		t.Errorf("nothing is adopted but the domain:\n%s", output)
	}
	h.wantWork(t, counts{bundle: 1})
	c.wantJob(t, 0)
	c.wantEmptyPlan(t)
}

func TestImportWithoutADomainThatIsIgnoredIsAnError(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.service.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour)})
	c := h.cli(t, revision("1", "lifecycle {\n    ignore_changes = [domain]\n  }"))
	c.terraform.Run(t, 0, "import", site, id)
	c.report(t, 1, "plan").wantSaid(t, "site", "error: Imported export has no domain (domain)", "import DOMAIN,JOB_ID")
	c.terraform.Run(t, 0, "state", "rm", site)
	c.terraform.Run(t, 0, "import", site, "docs.example.com,"+id)
	c.apply(t, 0)
	c.wantJob(t, 0)
	h.wantCounts(t, counts{job: 6, bundle: 1, download: 1})
}

func TestImportThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	const forms = "Import JOB_ID or DOMAIN,JOB_ID, such as docs.example.com,se_3f9a2c1b8e7d4a06."
	h := newHarness(t, simulator.Options{})
	failed := h.service.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour), Fail: "no such branch"})
	c := h.cli(t, export())
	for _, test := range []struct {
		id    string
		wants []string
	}{
		{"", []string{"Invalid import ID", "The ID is empty.", forms}},
		{" ", []string{"Invalid import ID", "The ID is empty.", forms}},
		{"docs.example.com,", []string{"Invalid import ID", "The ID is empty.", forms}},
		{"https://docs.example.com," + failed, []string{"Invalid import ID", "is not a domain", forms}},
		{"docs.example.com", []string{"Could not import the static export job", `"docs.example.com" looks like a domain or a path, not like a job ID. ` + forms}},
		{"docs.example.com,se_1,part", []string{"Could not import the static export job", "/v1/static-export/jobs/se_1%2Cpart"}},
		{"intranet,se_1", []string{"Could not import the static export job", "/v1/static-export/jobs/se_1"}},
		{",se_1", []string{"Invalid import ID", "is not a domain", forms}},
		{"se_missing", []string{"Could not import the static export job", "HTTP 404 Not Found", "Check the ID"}},
		{failed, []string{"Could not import the static export job", "no such branch", "A failed job has no bundle."}},
	} {
		wantPhrases(t, unwrapped(c.terraform.Run(t, 1, "import", site, test.id)), test.wants...)
	}
	h.wantWork(t, counts{})
}
