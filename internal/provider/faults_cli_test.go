// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestJobWhoseIDDidNotArriveIsNotStartedAgainButImported(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddFault(simulator.Fault{Endpoint: simulator.EndpointStart, Cut: simulator.CutAfter})
	c := h.newCLI(t, exportConfig)
	output := c.Run(t, 1, "apply", "-auto-approve")
	wantNoSecret(t, "the output", output)
	if !words("if there is one, wait for it and import it by its id").MatchString(output) {
		t.Errorf("it is not said what to do:\n%s", output)
	}
	if c.state(t, site) != nil {
		t.Error("there is an export in the state, but no id of a job")
	}

	c.Run(t, 0, "import", site, "docs.example.com,"+h.JobIDs()[0])
	c.Run(t, 0, "apply", "-auto-approve")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
	c.wantEmptyPlan(t)
}

func TestExportWithoutALinkGoesOnAfterUntaint(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	heal := h.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 502, Body: "<h1>Bad gateway</h1>" + echo})
	c := h.newCLI(t, exportConfig)
	output := c.Run(t, 1, "apply", "-auto-approve")
	wantNoSecret(t, "the output", output)
	for _, want := range []string{"Could not finish the static export", "HTTP 502 Bad Gateway", h.JobIDs()[0], `run "terraform untaint"`} {
		if !words(want).MatchString(output) {
			t.Errorf("the output does not say %q:\n%s", want, output)
		}
	}

	heal()
	c.Run(t, 0, "untaint", site)
	output = c.Run(t, 0, "apply", "-auto-approve")
	if !strings.Contains(output, "1 changed") {
		t.Errorf("the next apply has to go on with the export:\n%s", output)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
	c.wantEmptyPlan(t)
}
