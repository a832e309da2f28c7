// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"strings"
	"testing"
	"time"

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
	}{
		"of a renewal": {2 * time.Hour, revision("1")},
		"of another change, made before the expiry": {0, revision("1", `poll_interval = "5s"`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
			c := h.cli(t, revision("1"))
			c.apply(t, 0)
			h.clock.Advance(test.before)
			h.service.ResetRequests()
			c.write(t, test.config)
			if plan := c.terraform.Run(t, 2, "plan", "-out=saved", "-detailed-exitcode"); !strings.Contains(plan, "~ bundle_url") || strings.Contains(plan, "~ job_id") {
				t.Errorf("the plan is:\n%s", plan)
			}
			h.clock.Advance(5 * time.Hour)
			c.terraform.Run(t, 0, "apply", "saved")
			h.wantCounts(t, counts{job: 1, bundle: 1})
			c.wantJob(t, 0)
			c.wantEmptyPlan(t)
		})
	}
}
