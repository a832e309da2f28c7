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

// TestFaultOfEachKindHeals lets a request in a create, and then one in a renewal, go wrong
// once in each way. internal/walk does this to every request.
func TestFaultOfEachKindHeals(t *testing.T) {
	t.Parallel()
	kinds := map[string]simulator.Fault{
		"400":             {Status: 400},
		"401":             {Status: 401},
		"403":             {Status: 403},
		"404":             {Status: 404},
		"409":             {Status: 409},
		"410":             {Status: 410},
		"429":             {Status: 429},
		"429-retry-after": {Status: 429, Header: http.Header{"Retry-After": {"3"}}},
		"500":             {Status: 500},
		"503":             {Status: 503},
		"lost-connection": {Cut: simulator.CutBefore},
		"cut-response":    {TruncateBody: 10},
		"silence":         {Delay: simulator.Forever},
	}
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	h.clock.Speed = 50
	config := "provider \"docs\" {\n  request_timeout = \"1s\" # in real time\n}\n"
	goWrong := func(endpoint string) {
		for name, fault := range kinds {
			fault.Endpoint, fault.Times = endpoint, 1
			fault.Match = func(r simulator.Request) bool { return r.Domain == name+".example.com" }
			h.service.AddFault(fault)
		}
	}
	for name := range kinds {
		config += fmt.Sprintf("resource \"docs_static_export\" \"on-%[1]s\" {\n  domain = \"%[1]s.example.com\"\n}\n", name)
	}
	c := h.cli(t, config)
	goWrong(simulator.EndpointJob)
	goWrong(simulator.EndpointBundle)
	c.apply(t, 0)
	h.clock.Advance(2 * time.Hour)
	goWrong(simulator.EndpointBundle)
	if output := c.apply(t, 1); strings.Count(output, "Could not renew the bundle link") != 4 {
		t.Errorf("not the renewals of 400, 401, 403, and 409 alone failed:\n%s", output)
	}
	c.apply(t, 0)
	c.wantEmptyPlan(t)
	for name := range kinds {
		if jobs := h.service.JobIDsOf(name + ".example.com"); len(jobs) != 1 {
			t.Errorf("%s: %d jobs, want 1", name, len(jobs))
		}
	}
}
