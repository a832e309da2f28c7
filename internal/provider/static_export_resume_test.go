package provider

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// Terraform replaces what a failed create has left without asking the provider. If it creates the replacement first, it
// gives no sign of the job before that, and the export starts again.
func TestFirstExportThatFailedIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	const createsFirst = "\n  lifecycle {\n    create_before_destroy = true\n  }\n"
	h := newHarness(t, simulator.Options{})
	tests := map[string]struct {
		arguments, then string
		starts          int
	}{
		"replaced":        {"", "", 1},
		"creates first":   {createsFirst, "", 2},
		"dependent first": {"", "resource \"terraform_data\" \"chart\" {\n  input = docs_static_export.dependent_first.job_id" + createsFirst + "}\n", 2},
	}
	var config strings.Builder
	for name, test := range tests {
		fmt.Fprintf(&config, "resource \"docs_static_export\" %q {\n  domain = \"%[1]s.example.com\"%s\n}\n%s", label(name), test.arguments, test.then)
	}
	c := h.cli(t, config.String())
	c.terraform.SkipBelow(t, 4, 0, "terraform_data")
	refuse := h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 422})
	failed := c.report(t, 1, "apply", "-auto-approve")
	refuse()
	jobs := c.values(t)
	next := c.report(t, 0, "apply", "-auto-approve")
	again := c.report(t, 0, "plan", "-detailed-exitcode")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			failed.wantSaid(t, name, "error: "+summaryLinkFailed)
			job := fmt.Sprint(jobs["docs_static_export."+label(name)]["job_id"])
			next.wantSaid(t, name, "warning: "+summaryUnfinished+": job "+job+" ")
			again.wantNothingSaid(t, name)
			if all := h.service.JobIDsOf(label(name) + ".example.com"); len(all) != test.starts || all[0] != job {
				t.Errorf("the jobs are %v, want %d that begin with %s", all, test.starts, job)
			}
		})
	}
}

// Terraform does not taint what an interrupted create leaves, because it is only a warning.
func TestInterruptedCreateIsResumedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, siteExport())
	wantPhrases(t, unwrapped(c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve")), "Warning: "+summaryExportInterrupted+": job se_")
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantWork(t, counts{start: 1, bundle: 1})
	c.wantEmptyPlan(t)
}

// Terraform drops the warnings of the refresh before a destroy. With -replace, it gives Delete the private state.
func TestJobBesideALinkIsNamedBeforeADestroyAndResumedByAReplacement(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, revision("1"))
	c.apply(t, 0)
	c.write(t, revision("2"))
	c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve", "-refresh=false")
	unfinished := h.service.JobIDs()[1]
	wantPhrases(t, c.terraform.Run(t, 0, "plan", "-destroy"), summaryUnfinished+": job "+unfinished, "terraform import ADDRESS docs.example.com,"+unfinished)
	wantPhrases(t, c.apply(t, 0, "-replace="+site), "1 added, 0 changed, 1 destroyed")
	wantAttributes(t, c.values(t)[site], map[string]any{"job_id": unfinished})
}

// Terraform runs all Deletes first, and a stop halts the Creates that are queued.
func TestInterruptedReplacementLosesOnlyJobsThatTheRefreshHasNamed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	config := siteExport() + strings.ReplaceAll(siteExport(), "site", "other")
	c := h.cli(t, strings.Replace(config, "docs.example.com", "first.example.com", 1))
	c.apply(t, 1)
	refreshed := unwrapped(c.terraform.Run(t, 0, "plan"))
	c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve", "-refresh=false", "-parallelism=1")
	left, addresses := c.values(t), map[string]string{"first.example.com": site, "docs.example.com": "docs_static_export.other"}
	for _, named := range regexp.MustCompile(`terraform import ADDRESS (\S+),(se_\w+)`).FindAllStringSubmatch(refreshed, -1) {
		if address := addresses[named[1]]; left[address] == nil {
			left[address] = map[string]any{}
			c.terraform.Run(t, 0, "import", address, named[1]+","+named[2])
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
