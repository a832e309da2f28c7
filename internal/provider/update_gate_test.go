// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	updateGate = "docs_update_gate"
	deployed   = updateGate + ".deployed"
)

// gate is the configuration of a gate.
func gate(statusID, arguments string) string {
	return fmt.Sprintf("resource %q \"deployed\" {\n  status_id = %q\n  %s\n}\n", updateGate, statusID, arguments)
}

func plannedAs(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(deployed, action)}}
}

func TestGateIsPassedOnceTheUpdateHasSucceededAndStaysPassed(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: ended, Run: ended, Fields: map[string]any{"summary": simulator.Omit, "endedAt": nil}})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_2", Queue: time.Minute, Run: 4 * time.Minute})
	state := func(summary, endedAt knownvalue.Check) []statecheck.StateCheck {
		return []statecheck.StateCheck{
			statecheck.ExpectKnownValue(deployed, attribute("status"), knownvalue.StringExact("success")),
			statecheck.ExpectKnownValue(deployed, attribute("summary"), summary),
			statecheck.ExpectKnownValue(deployed, attribute("ended_at"), endedAt),
		}
	}
	// Plans and refreshes around an apply count as well.
	requests := func(want int) func() {
		return func() {
			h.wantCounts(t, map[string]int{simulator.EndpointUpdate: want})
			h.ResetRequests()
		}
	}
	h.run(t,
		resource.TestStep{
			Config:            gate("upd_1", `triggers = { revision = "1" }`),
			ConfigPlanChecks:  plannedAs(plancheck.ResourceActionCreate),
			ConfigStateChecks: state(knownvalue.Null(), knownvalue.Null()),
			PostApplyFunc:     requests(1),
		},
		resource.TestStep{ // what matters to the next wait only is recorded
			Config:            gate("upd_1", "triggers = { revision = \"1\" }\n poll_interval = \"30s\"\n timeouts = { create = \"20m\" }"),
			ConfigPlanChecks:  plannedAs(plancheck.ResourceActionUpdate),
			ConfigStateChecks: state(knownvalue.Null(), knownvalue.Null()),
			PostApplyFunc:     requests(0),
		},
		resource.TestStep{
			Config:           gate("upd_1", `triggers = { revision = "2" }`),
			ConfigPlanChecks: plannedAs(plancheck.ResourceActionReplace),
			PostApplyFunc:    requests(1),
		},
		resource.TestStep{
			Config:            gate("upd_2", "triggers = { revision = \"2\" }\n poll_interval = \"1m\""),
			ConfigPlanChecks:  plannedAs(plancheck.ResourceActionReplace),
			ConfigStateChecks: state(knownvalue.StringExact("The site is live"), knownvalue.StringExact("2030-01-31T12:05:00.000Z")),
			PostApplyFunc:     requests(6),
		},
	)
}

func TestGateThatIsNotPassedFailsTheApplyAndLeavesNothingBehind(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_failed", Queue: ended, Run: ended, Fail: "page guides/links.mdx does not render"})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_failing", Run: 2 * time.Minute, Fail: "no space"})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_stuck", Run: simulator.Forever})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_paused", Run: simulator.Forever, RunningStatus: "paused"})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_good", Queue: ended, Run: ended})
	const next = "resource \"docs_static_export\" \"next\" {\n  domain     = \"docs.example.com\"\n  depends_on = [" + deployed + "]\n}\n"
	fails := func(id, text string) resource.TestStep {
		return resource.TestStep{Config: gate(id, ``) + next, ExpectError: words(text)}
	}
	h.run(t,
		fails("upd_failed", `Error: Update failed with docs_update_gate.deployed,`),
		fails("upd_failing", `Update upd_failing ended with status "failure". Summary: no space`),
		fails("upd_stuck", `Error: Update not finished in time`),
		fails("upd_paused", `Update upd_paused was last seen with status "paused", which is not documented and counts as still running.`),
		resource.TestStep{
			PreConfig:        func() { h.wantCounts(t, map[string]int{simulator.EndpointStart: 0}) },
			Config:           gate("upd_good", ``) + next,
			ConfigPlanChecks: plannedAs(plancheck.ResourceActionCreate),
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
}

func TestGateFailsClosed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		update simulator.UpdateSpec
		fault  *simulator.Fault
		said   []string
		lasts  time.Duration // until 2 min more
	}{
		"on a failure": {
			update: simulator.UpdateSpec{Queue: ended, Run: ended, Fail: "no space"},
			said:   []string{"ERROR: Update failed", "Summary: no space", "Commit: ", "Author: Ada Example", "The end of its log:", "  Error: no space"},
		},
		"on a failure after a wait": {
			update: simulator.UpdateSpec{Queue: time.Minute, Run: 10 * time.Minute, Fail: "no space"},
			said:   []string{"ERROR: Update failed"}, lasts: 11 * time.Minute,
		},
		"on a timeout": {
			update: simulator.UpdateSpec{Queue: simulator.Forever},
			said:   []string{"ERROR: Update not finished in time", `was last seen with status "queued"`}, lasts: 20 * time.Minute,
		},
		"on a status that it does not know": {
			update: simulator.UpdateSpec{Run: simulator.Forever, RunningStatus: "succeeded"},
			said:   []string{"ERROR: Update not finished in time", `was last seen with status "succeeded", which is not documented and counts as still running`}, lasts: 20 * time.Minute,
		},
		"on a service that never answers": {
			fault: &simulator.Fault{Delay: time.Hour},
			said:  []string{"ERROR: Could not read the update upd_1", "got no answer from 127.0.0.1"}, lasts: 2 * time.Minute,
		},
		"on a service that stops to answer": {
			update: simulator.UpdateSpec{Run: simulator.Forever}, fault: &simulator.Fault{Skip: 5, Status: http.StatusBadGateway},
			said: []string{"ERROR: Could not read the update upd_1", "HTTP 502 Bad Gateway", `Update upd_1 was last seen with status "in_progress"`}, lasts: 5 * time.Minute,
		},
		"on a key that is revoked meanwhile": {
			update: simulator.UpdateSpec{Run: simulator.Forever}, fault: &simulator.Fault{Skip: 5, Status: http.StatusUnauthorized},
			said: []string{"ERROR: Could not read the update upd_1", "HTTP 401 Unauthorized", `Update upd_1 was last seen`},
		},
		"on an answer without a status": {
			fault: &simulator.Fault{Status: http.StatusOK, Body: `{"_id": "upd_1", "endedAt": "2030-01-31T12:00:00Z"}`},
			said:  []string{"ERROR: Could not read the update upd_1", "the answer has no status"},
		},
		"on an answer that is an array of successes": {
			fault: &simulator.Fault{Status: http.StatusOK, Body: `[{"status": "success"}]`},
			said:  []string{"ERROR: Could not read the update upd_1", "an array instead of an object"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			test.update.ID = "upd_1"
			h.AddUpdate(test.update)
			if test.fault != nil {
				h.AddFault(*test.fault)
			}
			p := h.newProtocol(t)
			state, diagnostics := p.create(p.ctx, t, updateGate, map[string]any{"status_id": "upd_1", "timeouts": map[string]any{"create": "20m"}})
			if state != nil {
				t.Errorf("the state is %v", state)
			}
			wantSaid(t, diagnostics, test.said...)
			if lasted := h.clock.Now().Sub(startOfTime); lasted < test.lasts || lasted > test.lasts+2*time.Minute {
				t.Errorf("the gate gave up after %s, want %s", lasted, test.lasts)
			}
		})
	}
}

func TestGateOutlastsAnOutageOfTheService(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Run: 10 * time.Minute})
	h.AddFault(simulator.Fault{Skip: 3, Times: 12, Status: http.StatusServiceUnavailable})
	p := h.newProtocol(t)
	if state, diagnostics := p.create(p.ctx, t, updateGate, map[string]any{"status_id": "upd_1"}); diagnostics != "" || state["status"] != "success" {
		t.Errorf("the state is %v, and this was said: %s", state, diagnostics)
	}
}

func TestGateThatIsInterruptedIsNotPassed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
	p := h.newProtocol(t)
	ctx, interrupt := context.WithCancel(p.ctx)
	h.Rewrite(func(_ string, body map[string]any) any {
		if h.Count(simulator.EndpointUpdate) == 2 {
			interrupt()
		}
		return body
	})
	state, diagnostics := p.create(ctx, t, updateGate, map[string]any{"status_id": "upd_1"})
	if state != nil {
		t.Errorf("the state is %v", state)
	}
	wantSaid(t, diagnostics, "ERROR: Wait for the update interrupted", "Update upd_1 was last seen with status \"queued\". The update itself goes on.", "Run Terraform again to go on waiting.")
	h.wantCounts(t, map[string]int{simulator.EndpointUpdate: 2})
}

func TestGateRefusesArgumentsThatMakeNoSense(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	refused := func(id, arguments, text string) resource.TestStep {
		return resource.TestStep{Config: gate(id, arguments), ExpectError: words(text), PlanOnly: true}
	}
	h.run(t,
		refused(" ", ``, `The value is empty. Set it to the id that the service returned.`),
		refused("upd_1", `poll_interval = "500ms"`, `The duration must be at least 1s, not 500ms.`),
		refused("upd_1", `timeouts = { create = "an hour" }`, `an hour`),
	)
	if requests := h.Requests(); len(requests) > 0 {
		t.Errorf("%d requests were made", len(requests))
	}
}
