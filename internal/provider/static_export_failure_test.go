// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestStartThatFailsSaysWhetherAJobWasStarted(t *testing.T) {
	t.Parallel()
	const none, perhaps = "No job was started for docs.example.com.", "A job may have been started for docs.example.com, but its ID was not received."
	for name, test := range map[string]struct {
		fault  simulator.Fault
		starts int // requests
		says   []string
	}{
		"unknown domain":               {simulator.Fault{Status: 404}, 1, []string{none, "HTTP 404", "Check that the organization of the API key owns the domain"}},
		"refused before acting":        {simulator.Fault{Status: 503, Header: http.Header{"Retry-After": {"1"}}}, 5, []string{none, "HTTP 503"}},
		"throttled beyond the timeout": {simulator.Fault{Status: 429, Header: http.Header{"Retry-After": {"7200"}}}, 1, []string{none, "HTTP 429", "The service asked the provider to wait until 2130-01-31T14:00:"}},
		"uncertain, and it has acted":  {simulator.Fault{Status: 502, Acts: true}, 1, []string{perhaps, "HTTP 502", `See "A job may have been started" in https://github.com/`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			test.fault.Endpoint = simulator.EndpointStart
			h.service.AddFault(test.fault)
			c := h.cli(t, export())
			output := c.apply(t, 1)
			wantPhrases(t, output, append(test.says, "Could not start the static export")...)
			if strings.Contains(output, none) == (len(h.service.JobIDs()) > 0) {
				t.Errorf("the jobs are %v, but the output is:\n%s", h.service.JobIDs(), output)
			}
			h.wantCounts(t, counts{start: test.starts})
			if state := c.values(t)[site]; state != nil {
				t.Errorf("the state holds %v", state)
			}
		})
	}
}

func TestFailedJobIsReportedAndExportedAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.NextJob(simulator.JobSpec{Fail: "page /broken does not render"})
	h.service.NextJob(simulator.JobSpec{Fail: "page /broken still does not render"})
	c := h.cli(t, export())
	wantPhrases(t, c.apply(t, 1), "Static export job failed", `ended with status "failed". The service's message: page /broken does not render. The state contains the job, and the resource is tainted.`, "Fix the cause, and apply again to start a new export.")
	if plan := c.terraform.Run(t, 0, "plan"); strings.Contains(plan, "First export did not finish") {
		t.Errorf("the job of a failed export cannot be resumed:\n%s", plan)
	}
	c.terraform.Run(t, 0, "untaint", site)
	wantPhrases(t, c.apply(t, 1), "page /broken still does not render. The state has no link yet.", "Fix the cause, and apply again to start a new export.")
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, counts{start: 3, job: some, bundle: 1})
	c.wantJob(t, 2)
	c.wantEmptyPlan(t)
}

func TestFailedExportOfNewContentKeepsTheOldOneWithALinkThatWorks(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, revision("1"))
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	h.service.NextJob(simulator.JobSpec{Fail: "page /broken does not render"})
	c.write(t, revision("2"))
	wantPhrases(t, c.apply(t, 1), "page /broken does not render. The link in the state expires at 2130-01-31T15:")
	c.wantJob(t, 0)
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointStart, Status: 403, Times: 1})
	wantPhrases(t, c.apply(t, 1), "HTTP 403", "No job was started for docs.example.com. The link in the state expires at 2130-01-31T15:")
	c.apply(t, 0)
	h.wantCounts(t, counts{start: 4, job: some, bundle: 3})
	c.wantJob(t, 2)
}

func TestRenewalThatFailsSaysWhetherTheLinkWorksAndIsRepeated(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export(`renew_before = "30m"`))
	c.apply(t, 0)
	for _, says := range []string{"The link in the state expires at 2130-01-31T13:00:", "The link in the state expired at 2130-01-31T13:00:"} {
		h.clock.Advance(45 * time.Minute)
		h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Times: 1, Status: 403})
		wantPhrases(t, c.apply(t, 1), "Could not renew the bundle link", "HTTP 403", says, "Use an admin API key", "The next apply tries again.")
	}
	c.apply(t, 0)
	h.wantCounts(t, counts{start: 1, job: some, bundle: 4})
	c.wantJob(t, 0)
}

// TestWhatIsReallyGoneCostsOneStart lets the service lose jobs and bundles for good. Nothing
// is started in their place before the same apply has asked for them for 30 seconds.
func TestWhatIsReallyGoneCostsOneStart(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		pending bool // the second job, whose export was cut off, is lost instead of the first one
		bundle  bool // only the bundle is lost
		says    []string
	}{
		{"job", false, false, []string{"warning: Static export job not found: job LOST", "warning: Missing export is looked for: job LOST", "The apply asks for 30 seconds. If it is still missing, the apply starts another job.", "warning: Missing export was replaced: job LOST"}},
		{"bundle", false, true, []string{"error: Could not renew the bundle link", "look for job LOST", "The next apply asks again before it starts another job."}},
		{"pending-job", true, false, []string{"warning: Unfinished export is resumed: job LOST", "It starts another job only if the service cannot find this one for 30 seconds.", "warning: Missing export was replaced: job LOST"}},
		{"pending-bundle", true, true, []string{"warning: Unfinished export is resumed: job LOST"}},
	}
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, "")
	configure := func(revisionOfPending string) {
		var config strings.Builder
		for _, row := range rows {
			content := "1"
			if row.pending {
				content = revisionOfPending
			}
			fmt.Fprintf(&config, "resource \"docs_static_export\" %q {\n  domain = \"%s.example.com\"\n  triggers = { revision = %q }\n}\n", label(row.name), row.name, content)
		}
		c.write(t, config.String())
	}
	configure("1")
	c.apply(t, 0)
	configure("2")
	h.service.NextJob(simulator.JobSpec{Run: simulator.Forever})
	h.service.NextJob(simulator.JobSpec{Run: simulator.Forever})
	c.apply(t, 1)
	h.clock.Advance(2 * time.Hour)
	lost := map[string]string{}
	for _, row := range rows {
		jobs := h.service.JobIDsOf(row.name + ".example.com")
		id := jobs[len(jobs)-1]
		lost[row.name] = id
		h.service.FinishJob(id, "")
		if row.bundle {
			h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Match: func(r simulator.Request) bool { return r.ID == id }, Status: 410})
		} else {
			h.service.ForgetJob(id)
		}
	}
	first := c.report(t, 1, "apply", "-auto-approve")
	h.clock.Advance(time.Hour)
	c.apply(t, 0)
	c.wantEmptyPlan(t)
	for _, row := range rows {
		for _, says := range row.says {
			first.wantSaid(t, row.name, strings.ReplaceAll(says, "LOST", lost[row.name]))
		}
		var starts []simulator.Request
		var asked []time.Duration // how long before the last start
		for _, r := range h.service.Requests() {
			if r.Endpoint == simulator.EndpointStart && r.Domain == row.name+".example.com" {
				starts = append(starts, r)
			}
		}
		want := 2
		if row.pending {
			want++
		}
		if len(starts) != want {
			t.Errorf("%s: %d starts, want %d", row.name, len(starts), want)
			continue
		}
		for _, r := range h.service.Requests() {
			if before := starts[want-1].Time.Sub(r.Time); r.ID == lost[row.name] && before >= 0 && before < time.Minute {
				asked = append(asked, before)
			}
		}
		if len(asked) < 3 || asked[0] < 25*time.Second {
			t.Errorf("%s: asked only at %v before the start", row.name, asked)
		}
	}
}

// A job that had a link has completed, whatever the service calls its status later.
func TestLinkOfAJobWithALaterStatusIsRenewed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export())
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	h.rewriteJobs(map[string]map[string]any{h.service.JobIDs()[0]: {"status": "archived"}})
	h.service.ResetRequests()
	c.apply(t, 0)
	h.wantCounts(t, counts{job: 1, bundle: 1})
	c.wantLink(t)
	c.wantEmptyPlan(t)
}

func TestFailedExportThatAlsoCannotKeepItsLinkEndsSoonAfterItsTimeout(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, revision("1"))
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	h.service.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 429})
	c.write(t, revision("2", `timeouts = { update = "1m" }`))
	began := h.clock.Now()
	wantPhrases(t, c.apply(t, 1), "did not finish within 1m (timeouts.update)", "The link in the state expired at")
	if took := h.clock.Now().Sub(began); took > 95*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestNewJobThatIsNotFoundForLongIsLookedForByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, revision("1"))
	c.apply(t, 0)
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Status: 404, Skip: 1, Lasts: 40 * time.Second}) // after the refresh
	c.write(t, revision("2"))
	wantPhrases(t, c.apply(t, 1), "Error: Static export job not found", "HTTP 404 Not Found",
		"Check base_url and the API key, and look for job "+h.service.JobIDs()[1]+" in the service's dashboard. The next apply asks again before it starts another job.")
	h.clock.Advance(time.Minute)
	c.apply(t, 0)
	c.wantJob(t, 1)
	h.wantCounts(t, counts{start: 2, job: some, bundle: 2})
	c.wantEmptyPlan(t)
}

// What is missing is asked for only if the plan needs it.
func TestLinkThatIsNotDueStaysAlthoughItsBundleWasNotFound(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export())
	c.apply(t, 0)
	link := c.values(t)[site]["bundle_url"]
	h.clock.Advance(2 * time.Hour)
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Times: 1, Status: 404})
	c.apply(t, 1)
	h.service.ResetRequests()
	c.write(t, export(`link_renewal = "never"`))
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Times: 1, Status: 404})
	c.apply(t, 0)
	h.wantCounts(t, counts{job: 2})
	if got := c.values(t)[site]["bundle_url"]; got != link {
		t.Error("the link was replaced")
	}
	c.wantEmptyPlan(t)
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
		wantPhrases(t, c.apply(t, 0, step.flag), step.says)
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
	h.env[baseURLVariable] = strings.TrimSuffix(h.service.BaseURL, "1") + "9"
	c.apply(t, 1, "-refresh=false")
	for range 2 {
		wantPhrases(t, c.apply(t, 1), "Warning: Static export job not found", "The provider keeps the state.", "check base_url and the API key")
	}
	if after := c.values(t)[site]; after["job_id"] != before["job_id"] || after["bundle_url"] != before["bundle_url"] {
		t.Errorf("the state was %v and is %v", before, after)
	}
	h.env[baseURLVariable] = h.service.BaseURL
	c.apply(t, 0)
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
	if jobs := h.service.JobIDs(); len(jobs) != 2 {
		t.Errorf("%d jobs, want the two of before", len(jobs))
	}
}
