package provider

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestStartThatFailsSaysWhetherAJobWasStarted(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export())
	later := http.Header{"Retry-After": {"7200"}}
	for _, test := range []struct {
		fault simulator.Fault
		jobs  int
		says  []string
	}{
		{simulator.Fault{Status: 429, Header: later}, 0, []string{"No job was started for docs.example.com.", "HTTP 429", "The service asked the provider to wait until 2130-01-31T14:00:"}},
		{simulator.Fault{Status: 503, Header: later, Acts: true}, 1, []string{
			"A job may have been started for docs.example.com, but its ID was not received.", "HTTP 503", `See "A job may have been started" in https://github.com/`,
		}},
	} {
		test.fault.Endpoint, test.fault.Times = simulator.EndpointStart, 1
		h.service.AddFault(test.fault)
		h.service.ResetRequests()
		wantPhrases(t, c.apply(t, 1), append(test.says, "Could not start the static export")...)
		h.wantCounts(t, counts{start: 1})
		if jobs := len(h.service.JobIDs()); jobs != test.jobs || c.values(t)[site] != nil {
			t.Errorf("%d jobs, want %d, and no state: %v", jobs, test.jobs, c.values(t))
		}
	}
}

func TestFailedJobIsReportedAndExportedAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.NextJob(simulator.JobSpec{Fail: "page /broken does not render"})
	h.service.NextJob(simulator.JobSpec{Fail: "page /broken still does not render"})
	c := h.cli(t, export())
	wantPhrases(t, c.apply(t, 1), "Static export job failed", `ended with status "failed". The service's message: page /broken does not render. The state contains the job, and the resource is tainted.`)
	if plan := c.terraform.Run(t, 0, "plan"); strings.Contains(plan, "Warning") {
		t.Errorf("the error has said it, and the job cannot be resumed, but the plan says:\n%s", plan)
	}
	c.terraform.Run(t, 0, "untaint", site)
	wantPhrases(t, c.apply(t, 1), "page /broken still does not render. The state has no link yet.")
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantWork(t, counts{start: 3, bundle: 1})
	c.wantJob(t, 2)
	c.wantEmptyPlan(t)
}

func TestPlanOfAnotherChangeSaysThatAFailedJobCannotRenewItsLink(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export())
	c.apply(t, 0)
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Status: 200, Body: `{"status":"failed"}`})
	c.apply(t, 0, "-refresh-only")
	c.wantEmptyPlan(t)
	c.write(t, export(`poll_interval = "5s"`))
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), "~ job_id", "Warning: Another job may be started: job "+h.service.JobIDs()[0], "If the link is due for renewal at the time of the apply")
}

func TestRenewalThatFailsSaysWhetherTheLinkWorksAndIsRepeated(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export(`renew_before = "30m"`))
	c.apply(t, 0)
	for _, says := range []string{"The link in the state expires at 2130-01-31T13:00:", "The link in the state expired at 2130-01-31T13:00:"} {
		h.clock.Advance(45 * time.Minute)
		h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Times: 1, Status: 403})
		wantPhrases(t, c.apply(t, 1), "Could not renew the bundle link", "HTTP 403", says, "Check that the key is an admin API key", "The next apply tries again.")
	}
	c.apply(t, 0)
	h.wantWork(t, counts{start: 1, bundle: 4})
	c.wantJob(t, 0)
}

func TestFailedExportThatAlsoCannotKeepItsLinkEndsSoonAfterItsTimeout(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, revision("1"))
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 429})
	c.write(t, revision("2", `timeouts { update = "1m" }`))
	began := h.clock.Now()
	wantPhrases(t, c.apply(t, 1), "did not finish within 1m (timeouts.update)", "The link in the state expired at")
	if took := h.clock.Now().Sub(began); took > 95*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestReadOfAnExportSendsOneGETRequestARenewalNeedsNoneAndADestroyNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Minute})
	c := h.cli(t, export())
	c.apply(t, 0)
	h.clock.Advance(time.Hour)
	for _, step := range []struct {
		flag, endpoint, says string
		works                bool
	}{{"-refresh-only", simulator.EndpointJob, "No changes.", false}, {"-refresh=false", simulator.EndpointBundle, "0 added, 1 changed", true}} {
		h.service.ResetRequests()
		output := c.apply(t, 0, step.flag)
		wantPhrases(t, output, step.says)
		if strings.Contains(output, "~ status") || strings.Contains(output, "~ job_id") {
			t.Errorf("a renewal changes only the link, but the plan says:\n%s", output)
		}
		if requests := h.service.Requests(); len(requests) != 1 || requests[0].Endpoint != step.endpoint {
			t.Errorf("%s: the requests are %v, want one of %s", step.flag, requests, step.endpoint)
		}
		if left := c.linkLeft(t); (left > 0) != step.works {
			t.Errorf("%s: the link works for %s", step.flag, left)
		}
	}
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Status: 500})
	wantPhrases(t, c.apply(t, 1), "HTTP 500", "Try again later.", "Could not read the static export job", "The state is unchanged.")
	h.service.ResetRequests()
	c.terraform.Run(t, 0, "destroy", "-auto-approve", "-refresh=false")
	h.wantCounts(t, counts{})
}

func TestWrongBaseURLLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, "")
	c.cutOff(t)
	before := c.values(t)[site]
	h.clock.Advance(2 * time.Hour)
	h.env.Store(baseURLVariable, strings.TrimSuffix(h.service.BaseURL, "1")+"9")
	c.apply(t, 1, "-refresh=false")
	for range 2 {
		wantPhrases(t, c.apply(t, 1), "Warning: Static export job not found", "The refresh kept the job in the state", "check base_url and the API key")
	}
	if after := c.values(t)[site]; after["job_id"] != before["job_id"] || after["bundle_url"] != before["bundle_url"] {
		t.Errorf("the state was %v and is %v", before, after)
	}
	h.env.Store(baseURLVariable, h.service.BaseURL)
	c.apply(t, 0)
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
	if jobs := h.service.JobIDs(); len(jobs) != 2 {
		t.Errorf("%d jobs, want the two of before", len(jobs))
	}
}
