// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// rewriteBundle changes the fields of the responses to requests for a link.
func (h *harness) rewriteBundle(change func(body map[string]any)) {
	h.service.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointBundle {
			change(body)
		}
		return body
	})
}

func TestLinkThatTheServiceKeepsIsRenewedOnceEarlyAndThenAfterItsExpiry(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour, KeepLink: true})
	c := h.cli(t, export(`renew_before = "20m"`))
	c.apply(t, 0)
	for _, after := range []time.Duration{45 * time.Minute, 6 * time.Minute} {
		h.clock.Advance(after)
		wantPhrases(t, c.apply(t, 0), "0 added, 1 changed")
		h.clock.Advance(10 * time.Minute)
		c.wantEmptyPlan(t)
	}
	h.wantCounts(t, counts{start: 1, job: some, bundle: 3})
}

func TestLinkWithoutAnExpiryIsNotRenewed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.rewriteBundle(func(body map[string]any) {
		body["bundleUrl"], body["expiresAt"], body["sizeBytes"] = "http://127.0.0.1:9/bundle.tar.gz?token=abc", nil, simulator.Omit
	})
	c := h.cli(t, export())
	wantPhrases(t, c.apply(t, 0), "Warning: Expiry of the bundle link is unknown")
	if state := c.values(t)[site]; state["expires_at"] != nil || state["bundle_size_bytes"] != nil || state["bundle_url"] == nil {
		t.Errorf("the state is %v", state)
	}
	h.clock.Advance(1000 * time.Hour)
	c.wantEmptyPlan(t)
}

func TestSavedPlanCreatesTheLinkAtApplyTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before time.Duration // the plan is created this long after the first apply
		config string
		failed bool // the job has failed since the first apply
		starts int
	}{
		"of a renewal": {2 * time.Hour, revision("1"), false, 0},
		"of another change, made before the expiry":                 {0, revision("1", `poll_interval = "5s"`), false, 0},
		"of another change of a failed job, made before the expiry": {0, revision("1", `poll_interval = "5s"`), true, 1},
		"of new content": {0, revision("2"), false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
			c := h.cli(t, revision("1"))
			c.apply(t, 0)
			h.clock.Advance(test.before)
			h.service.ResetRequests()
			h.service.Rewrite(func(endpoint string, body map[string]any) any {
				if test.failed && endpoint == simulator.EndpointJob && len(h.service.JobIDs()) == 1 {
					body["status"] = client.JobFailed
				}
				return body
			})
			c.write(t, test.config)
			plan := c.terraform.Run(t, 2, "plan", "-out=saved", "-detailed-exitcode")
			if exports := strings.Contains(plan, "~ job_id"); exports != (test.starts > 0) || !strings.Contains(plan, "will be updated in-place") {
				t.Errorf("the plan is:\n%s", plan)
			}
			h.wantCounts(t, counts{job: 1})

			h.clock.Advance(5 * time.Hour)
			c.terraform.Run(t, 0, "apply", "saved")
			h.wantCounts(t, counts{start: test.starts, job: some, bundle: 1})
			c.wantJob(t, test.starts)
			c.wantEmptyPlan(t)
		})
	}
}
