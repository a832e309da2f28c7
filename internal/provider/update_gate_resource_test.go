// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func gate(name, statusID, arguments string) string {
	return fmt.Sprintf("resource \"docs_update_gate\" %q {\n  status_id = %q\n  %s\n}\n", name, statusID, arguments)
}

func TestGatePassesOnceTheUpdateSucceedsAndStaysPassed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: ended, Run: ended, Fields: map[string]any{"summary": simulator.Omit, "endedAt": nil}})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_2", Run: 4 * time.Minute})
	c := h.cli(t, "")
	for _, step := range []struct {
		name, config, action string
		requests             int
		want                 map[string]any
	}{
		{
			"the first apply reads the update", gate("gate", "upd_1", `triggers = { revision = "1" }`), "create", 1,
			map[string]any{"status": "success", "summary": nil, "ended_at": nil},
		},
		{
			"what matters to the next wait is recorded", gate("gate", "upd_1", "triggers = { revision = \"1\" }\npoll_interval = \"1m\"\ntimeouts = { create = \"20m\" }"), "update", 0,
			map[string]any{"status": "success", "poll_interval": "1m"},
		},
		{"other triggers", gate("gate", "upd_1", `triggers = { revision = "2" }`), "replace", 1, map[string]any{"status": "success"}},
		{
			"another update is waited for", gate("gate", "upd_2", "triggers = { revision = \"2\" }\npoll_interval = \"1m\""), "replace", 6,
			map[string]any{"summary": "The site is live", "ended_at": "2030-01-31T12:04:02.000Z"},
		},
	} {
		t.Run(step.name, func(t *testing.T) {
			c.write(t, step.config)
			h.service.ResetRequests()
			if planned := c.report(t, 0, "apply", "-auto-approve").planned["gate"]; planned != step.action {
				t.Errorf("planned %q, want %q", planned, step.action)
			}
			c.wantEmptyPlan(t)
			h.wantCounts(t, counts{update: step.requests})
			wantAttributes(t, c.values(t)["docs_update_gate.gate"], step.want)
		})
	}
}

func TestGateFailsClosed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		update    simulator.UpdateSpec
		arguments string
		said      []string
	}{
		"failure": {simulator.UpdateSpec{Queue: ended, Run: ended, Fail: "no space"}, "", []string{"error: Update failed", "Summary: no space", "Author: Ada Example", "  Error: no space"}},
		"unknown status": {simulator.UpdateSpec{Queue: ended, Run: simulator.Forever, RunningStatus: "succeeded"}, `timeouts = { create = "30m" }`, []string{
			"error: Timed out waiting for the update", "did not finish within 30m (timeouts.create).\n\nUpdate unknown_status was last seen with status \"succeeded\", which is undocumented and counts as still running. The update may still be running.\n\nTo continue waiting, run Terraform again.",
		}},
		"no status": {simulator.UpdateSpec{Fields: map[string]any{"status": simulator.Omit}}, "", []string{"error: Could not read the update", "the response has no field \"status\""}},
	}
	h := newHarness(t, simulator.Options{})
	var config strings.Builder
	for name, test := range tests {
		test.update.ID = label(name)
		h.service.AddUpdate(test.update)
		config.WriteString(gate(label(name), label(name), test.arguments))
		fmt.Fprintf(&config, "resource \"terraform_data\" \"behind_%[1]s\" {\n  depends_on = [docs_update_gate.%[1]s]\n}\n", label(name))
	}
	c := h.cli(t, config.String())
	said := c.report(t, 1, "apply", "-auto-approve")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { said.wantSaid(t, name, test.said...) })
	}
	if passed := c.values(t); len(passed) > 0 {
		t.Errorf("the state holds %v", passed)
	}
}

func TestInterruptedGateIsNotPassed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
	c := h.cli(t, gate("gate", "upd_1", ""))
	output := c.interrupt(t, simulator.EndpointUpdate, "apply", "-auto-approve")
	wantPhrases(t, output, "Error: Interrupted while waiting for the update", "To continue waiting, run Terraform again.")
	if len(c.values(t)) > 0 {
		t.Error("the gate is in the state")
	}
	c.apply(t, 0)
	c.wantEmptyPlan(t)
}
