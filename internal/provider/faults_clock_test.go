// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// testWrongClocks lives through the life of a link while the clocks of the
// service and of this machine differ by an hour, twice the link's lifetime.
func testWrongClocks(t *testing.T, table *outcomes) {
	const lifetime = 30 * time.Minute
	for _, test := range []struct {
		name    string
		options simulator.Options
		fault   simulator.Fault
	}{
		{name: "clock an hour ahead of the service's", options: simulator.Options{ClockSkew: -time.Hour}},
		{name: "clock an hour behind the service's", options: simulator.Options{ClockSkew: time.Hour}},
		{name: "service without a Date", fault: simulator.Fault{Header: http.Header{"Date": nil}}},
		{name: "service with a nonsense Date", fault: simulator.Fault{Header: http.Header{"Date": {"yesterday"}}}},
		{name: "service whose Date is that of another age", fault: simulator.Fault{Header: http.Header{"Date": {"Thu, 01 Jan 1970 00:00:00 GMT"}}}},
	} {
		table.announce(test.name)
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.options.LinkLifetime = lifetime
			h := newHarness(t, test.options)
			h.AddFault(test.fault)
			export := h.newProtocol(t).newInstance("docs_static_export")
			export.applyWell(t)
			export.wantPlan(t, true, "straight after the create")
			h.clock.Advance(lifetime - time.Minute)
			export.wantPlan(t, true, "before the expiry")
			h.clock.Advance(2 * time.Minute)
			export.wantPlan(t, false, "after the expiry")
			export.applyWell(t)
			export.wantPlan(t, true, "straight after the renewal")
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 1, simulator.EndpointBundle: 2})
			table.add(test.name, "renewal", true, "at the link's expiry, and the next plan is empty", fmt.Sprint(h.Count(simulator.EndpointBundle), " for links"))
		})
	}
	for _, test := range []struct {
		name string
		skew time.Duration
	}{
		{"Date an hour ahead of the service's own clock", time.Hour},
		{"Date an hour behind the service's own clock", -time.Hour},
	} {
		table.announce(test.name)
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{DateSkew: test.skew, LinkLifetime: lifetime})
			export := h.newProtocol(t).newInstance("docs_static_export")
			for range 10 {
				if said := export.apply(t, map[string]any{"domain": "docs.example.com"}); export.tainted {
					t.Fatal(said)
				}
				export.wantPlan(t, true, "straight after an apply")
				h.clock.Advance(20 * time.Minute)
			}
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
			table.add(test.name, "renewal", true, "not at the expiry, but no plan repeats", fmt.Sprint(h.Count(simulator.EndpointBundle), " for links"))
		})
	}
}

func (i *instance) applyWell(t *testing.T) {
	t.Helper()
	if said := i.apply(t, map[string]any{"domain": "docs.example.com"}); said != "" {
		t.Fatalf("the apply says:\n%s", said)
	}
}

// wantPlan checks whether the plan of another run is empty, with and without a
// refresh.
func (i *instance) wantPlan(t *testing.T, empty bool, when string) {
	t.Helper()
	for _, refresh := range []bool{false, true} {
		i.protocol = i.newProtocol(t)
		if refresh {
			if said := i.refresh(t); said != "" {
				t.Fatal(said)
			}
		}
		planned, said := i.plan(t, map[string]any{"domain": "docs.example.com"})
		if planned.failed || planned.empty(i) != empty {
			t.Errorf("%s, with a refresh: %t: the plan is empty: %t, want %t %s", when, refresh, !empty, empty, said)
		}
	}
}
