// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// rewriteBundle changes the members of the answers to bundle requests.
func (h *harness) rewriteBundle(change func(body map[string]any)) {
	h.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointBundle {
			change(body)
		}
		return body
	})
}

func TestLinkIsRenewedWhenItIsDue(t *testing.T) {
	t.Parallel()
	const (
		creates = "1 added, 0 changed"
		renews  = "0 added, 1 changed"
		idles   = "0 added, 0 changed"

		clamped = "renew_before is too long for the link"
		expired = "Bundle link expired on arrival"
		stale   = "The service returned an expired link"
	)
	// moment is an apply at some time after the one before it: what it does, and the
	// summary of its only warning, if it has one.
	type moment struct {
		after   time.Duration
		does    string
		warning string
	}
	for name, test := range map[string]struct {
		arguments string
		options   simulator.Options
		rewrite   func(body map[string]any)
		moments   []moment
	}{
		"after its expiry": {
			moments: []moment{{0, creates, ""}, {59 * time.Minute, idles, ""}, {2 * time.Minute, renews, ""}},
		},
		"renew_before its expiry": {
			arguments: `renew_before = "20m"`,
			moments:   []moment{{0, creates, ""}, {39 * time.Minute, idles, ""}, {2 * time.Minute, renews, ""}},
		},
		"after half its lifetime if renew_before is longer, with one warning": {
			arguments: `renew_before = "24h"`,
			moments:   []moment{{0, creates, clamped}, {29 * time.Minute, idles, ""}, {2 * time.Minute, renews, clamped}},
		},
		"never with link_renewal never": {
			arguments: "link_renewal = \"never\"\n renew_before = \"24h\"",
			moments:   []moment{{0, creates, ""}, {48 * time.Hour, idles, ""}},
		},
		"once early and then after its expiry if the service keeps its links": {
			arguments: `renew_before = "20m"`, options: simulator.Options{KeepLink: true},
			moments: []moment{{0, creates, ""}, {45 * time.Minute, renews, ""}, {10 * time.Minute, idles, ""}, {6 * time.Minute, renews, ""}, {time.Minute, idles, ""}},
		},
		"never if it expired on arrival": {
			rewrite: func(body map[string]any) { body["expiresAt"] = "2030-01-31T12:00:00Z" },
			moments: []moment{{0, creates, expired}, {48 * time.Hour, idles, ""}},
		},
		"again and again if the service returns an expired link": {
			rewrite: func(body map[string]any) { body["expiresAt"] = "2030-01-31T13:00:00Z" },
			moments: []moment{{0, creates, ""}, {time.Hour, renews, stale}, {time.Minute, renews, stale}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.options.LinkLifetime = time.Hour
			h := newHarness(t, test.options)
			if test.rewrite != nil {
				h.rewriteBundle(test.rewrite)
			}
			c := h.cli(t, export(test.arguments))
			made := 0
			for n, moment := range test.moments {
				h.clock.Advance(moment.after)
				output := c.apply(t, 0)
				wantTexts(t, output, moment.does, moment.warning)
				warnings := strings.Count(output, "Warning: ")
				if moment.warning != "" {
					warnings--
				}
				if warnings != 0 {
					t.Errorf("apply %d gives %+d warnings more than expected:\n%s", n, warnings, output)
				}
				if moment.does != idles {
					made++
				}
			}
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: made})
		})
	}
}

func TestLinkWithoutAnExpiryIsNotRenewed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.rewriteBundle(func(body map[string]any) {
		body["bundleUrl"], body["expiresAt"], body["sizeBytes"] = "http://127.0.0.1:9/bundle.tar.gz?token=abc", nil, simulator.Omit
	})
	c := h.cli(t, export())
	wantTexts(t, c.apply(t, 0), "Warning: Expiry of the bundle link is unknown")
	if state := c.state(t, site); state["expires_at"] != nil || state["bundle_size_bytes"] != nil || state["bundle_url"] == nil {
		t.Errorf("the state is %v", state)
	}
	h.clock.Advance(1000 * time.Hour)
	c.wantEmptyPlan(t)
}

func TestLinkOfANewJobIsRenewedEarlyAlthoughItExpiresWithTheOldOne(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.rewriteBundle(func(body map[string]any) { body["expiresAt"] = "2030-02-01T00:00:00Z" })
	c := h.cli(t, revision("1", `renew_before = "2h"`))
	c.apply(t, 0)
	c.write(t, revision("2", `renew_before = "2h"`))
	c.apply(t, 0)
	h.clock.Advance(11 * time.Hour)
	wantTexts(t, c.apply(t, 0), "0 added, 1 changed")
}

func TestExpiredLinkIsRenewedWithoutARefresh(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	c := h.cli(t, export())
	c.apply(t, 0)
	h.ResetRequests()
	c.wantEmptyPlan(t, "-refresh=false")
	h.clock.Advance(2 * time.Hour)
	wantTexts(t, c.apply(t, 0, "-refresh=false"), "0 added, 1 changed")
	if requests := h.Requests(); len(requests) != 1 || requests[0].Endpoint != simulator.EndpointBundle {
		t.Errorf("the requests are %v, want one for a link", requests)
	}
	c.wantJob(t, 0)
}

func TestSavedPlanMakesTheLinkAtApplyTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before time.Duration // the plan is made this long after the first apply
		config string
		starts int
	}{
		"of a renewal": {2 * time.Hour, revision("1"), 0},
		"of another change, made before the expiry": {0, revision("1", `poll_interval = "5s"`), 0},
		"of new content": {0, revision("2"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
			c := h.cli(t, revision("1"))
			c.apply(t, 0)
			h.clock.Advance(test.before)
			h.ResetRequests()
			c.write(t, test.config)
			c.Run(t, 2, "plan", "-out=saved", "-detailed-exitcode")
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointJob: 1, simulator.EndpointBundle: 0})

			h.clock.Advance(5 * time.Hour)
			c.Run(t, 0, "apply", "saved")
			h.wantCounts(t, map[string]int{simulator.EndpointStart: test.starts, simulator.EndpointBundle: 1})
			c.wantJob(t, test.starts)
			c.wantEmptyPlan(t)
		})
	}
}

func TestOfAHundredExportsOnlyThoseThatExpiredAreRenewed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{Queue: -1, Run: -1, LinkLifetime: 10 * time.Hour})
	exports := func(count string) string {
		return strings.Replace(export("count = "+count), "docs.example.com", "docs${count.index}.example.com", 1)
	}
	c := h.cli(t, exports("50"))
	c.apply(t, 0)
	h.clock.Advance(6 * time.Hour)
	c.write(t, exports("100"))
	c.apply(t, 0)

	h.clock.Advance(6 * time.Hour)
	h.ResetRequests()
	wantTexts(t, c.apply(t, 0), "0 added, 50 changed, 0 destroyed")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 50, simulator.EndpointJob: 100})
}
