// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const loginPage = "<!DOCTYPE html><html><title>Sign in</title></html>"

func TestStartThatFailsSaysWhetherAJobWasStarted(t *testing.T) {
	t.Parallel()
	const none, perhaps = "No job was started.", "A job may have been started, but its ID was not received."
	for name, test := range map[string]struct {
		fault  simulator.Fault
		starts int // requests
		says   []string
	}{
		"unknown domain":               {simulator.Fault{Status: 404}, 1, []string{none, "HTTP 404", "Check that the organization of the API key owns the domain"}},
		"refused before acting":        {simulator.Fault{Status: 503, Header: http.Header{"Retry-After": {"1"}}}, 5, []string{none, "HTTP 503"}},
		"throttled beyond the timeout": {simulator.Fault{Status: 429, Header: http.Header{"Retry-After": {"7200"}}}, 1, []string{none, "HTTP 429", "It asked the provider to wait until 2030-01-31T14:00:"}},
		"uncertain, and it has acted":  {simulator.Fault{Status: 502, Acts: true}, 1, []string{perhaps, "HTTP 502", `See "A job may have been started" in https://registry.terraform.io/`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			test.fault.Endpoint = simulator.EndpointStart
			h.AddFault(test.fault)
			c := h.cli(t, export())
			output := c.apply(t, 1)
			wantPhrases(t, output, append(test.says, "Could not start the static export", "Domain: docs.example.com.")...)
			if strings.Contains(output, none) == (len(h.JobIDs()) > 0) {
				t.Errorf("the jobs are %v, but the output is:\n%s", h.JobIDs(), output)
			}
			h.wantCounts(t, map[string]int{simulator.EndpointStart: test.starts})
			if state := c.values(t)[site]; state != nil {
				t.Errorf("the state holds %v", state)
			}
		})
	}
}

func TestFailedJobIsReportedAndExportedAgain(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.NextJob(simulator.JobSpec{Fail: "page /broken does not render"})
	h.NextJob(simulator.JobSpec{Fail: "page /broken still does not render"})
	c := h.cli(t, export())
	wantPhrases(t, c.apply(t, 1), "Static export job failed", `ended with status "failed". The service says: page /broken does not render. The state contains the job as tainted.`, "Fix the cause, and apply again to start a new export.")
	c.Run(t, 0, "untaint", site)
	wantPhrases(t, c.apply(t, 1), "page /broken still does not render. The state is unchanged.", "Fix the cause, and apply again to start a new export.")
	wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 3})
	c.wantJob(t, 2)
	c.wantEmptyPlan(t)
}

func TestFailedExportOfNewContentKeepsTheOldOneWithALinkThatWorks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault simulator.Fault // of the start
		says  []string
	}{
		"if the job fails":         {simulator.Fault{}, []string{"page /broken does not render", "The state keeps the earlier export and its link."}},
		"if no job can be started": {simulator.Fault{Endpoint: simulator.EndpointStart, Status: 403, Times: 1}, []string{"HTTP 403", "No job was started. The state keeps the earlier export and its link."}},
		"if the ID of the job is lost": {
			simulator.Fault{Endpoint: simulator.EndpointStart, Status: 502, Times: 1, Acts: true},
			[]string{"HTTP 502", "A job may have been started, but its ID was not received. The state keeps the earlier export and its link."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
			c := h.cli(t, revision("1"))
			c.apply(t, 0)
			h.clock.Advance(2 * time.Hour)
			if test.fault.Status != 0 {
				h.AddFault(test.fault)
			} else {
				h.NextJob(simulator.JobSpec{Fail: "page /broken does not render"})
			}
			c.write(t, revision("2"))
			wantPhrases(t, c.apply(t, 1), test.says...)
			c.wantJob(t, 0)
			c.apply(t, 0)
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 3, simulator.EndpointBundle: 3})
			c.wantJob(t, len(h.JobIDs())-1)
		})
	}
}

func TestRenewalThatFailsLeavesTheStateAndIsRepeated(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export())
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	h.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Times: 1, Status: 403})
	wantPhrases(t, c.apply(t, 1), "Could not renew the bundle link", "HTTP 403", "The state is unchanged.", "Use an admin API key", "The next apply tries again.")
	c.apply(t, 0)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
	c.wantJob(t, 0)
}

func TestExportWhoseFilesAreGoneIsExportedAgainByTheApplyAfterThat(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export())
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	h.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Times: 1, Status: 410}) // the job itself is still known
	wantPhrases(t, c.apply(t, 1), "Static export job not found", "The next apply exports the site again.")
	c.apply(t, 0)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
	c.wantJob(t, 1)
	c.wantEmptyPlan(t)
}

func TestReadOfAnExportSendsOneGETRequestARenewalNeedsNoneAndADestroyNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Minute})
	c := h.cli(t, export())
	c.apply(t, 0)
	h.clock.Advance(time.Hour)
	for _, step := range []struct {
		flag, endpoint string
		works          bool
	}{{"-refresh-only", simulator.EndpointJob, false}, {"-refresh=false", simulator.EndpointBundle, true}} {
		h.ResetRequests()
		c.apply(t, 0, step.flag)
		if requests := h.Requests(); len(requests) != 1 || requests[0].Endpoint != step.endpoint {
			t.Errorf("%s: the requests are %v, want one of %s", step.flag, requests, step.endpoint)
		}
		if left := c.linkLeft(t); (left > 0) != step.works {
			t.Errorf("%s: the link works for %s", step.flag, left)
		}
	}
	h.ResetRequests()
	c.Run(t, 0, "destroy", "-auto-approve", "-refresh=false")
	h.wantNoRequests(t)
}

func TestJobThatIsNotFoundIsExportedAgainInPlaceWithAWarning(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export())
	c.apply(t, 0)
	id := h.JobIDs()[0]
	h.ForgetJob(id)
	wantPhrases(t, c.apply(t, 0), "Warning: Static export job not found", "The state is kept. The plan shows a new export instead of job "+id,
		"check base_url and the API key before you apply", "0 added, 1 changed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
	c.wantJob(t, 0) // of those that the service still knows
	c.wantEmptyPlan(t, "-refresh=false")
}

func TestReadThatFailsKeepsTheState(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault   simulator.Fault
		baseURL string // with which the service knows no endpoint
		says    []string
	}{
		"with a server error":                      {simulator.Fault{Status: 500}, "", []string{"HTTP 500", "Try again later."}},
		"with 404 of a base URL without a version": {simulator.Fault{Status: 404}, "/api", []string{"HTTP 404 Not Found", "Add the version segment, such as /v1, to base_url"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			c := h.cli(t, export())
			c.apply(t, 0)
			right := h.env[baseURLVariable]
			if test.baseURL != "" {
				h.env[baseURLVariable] = strings.TrimSuffix(right, "/v1") + test.baseURL
			} else {
				test.fault.Endpoint = simulator.EndpointJob
				defer h.AddFault(test.fault)()
			}
			wantPhrases(t, c.apply(t, 1), append(test.says, "Could not read the static export job", "The state is unchanged.", "To destroy without a refresh, use -refresh=false.")...)
			h.env[baseURLVariable] = right
			c.wantEmptyPlan(t, "-refresh=false")
		})
	}
}

func TestWrongBaseURLLosesNothing(t *testing.T) {
	t.Parallel()
	wrong := newHarness(t, simulator.Options{})
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "")
	old, pending := c.cutOff(t)
	right := h.env[baseURLVariable]
	refreshAtWrong := func() {
		t.Helper()
		h.env[baseURLVariable] = wrong.BaseURL
		output := c.Run(t, 0, "apply", "-refresh-only", "-auto-approve")
		wantPhrases(t, unwrapped(output), "Warning: Static export job not found", "The state is kept.")
	}
	refreshAtWrong()
	wantPhrases(t, c.apply(t, 1), "Error: Static export job not found", "Job: "+pending, "Check base_url and the API key.", "terraform apply -replace")
	wrong.wantCounts(t, map[string]int{simulator.EndpointStart: 0})
	if state := c.values(t)[site]; state["job_id"] != old {
		t.Errorf("the state is %v", state)
	}

	h.env[baseURLVariable] = right
	c.apply(t, 0)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
	c.wantJob(t, 1)

	refreshAtWrong()
	h.env[baseURLVariable] = right
	c.wantEmptyPlan(t)
}
