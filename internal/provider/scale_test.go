// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestThousandReadsMakeAThousandRequestsOverFewConnections(t *testing.T) {
	t.Parallel()
	const parallelism = 10 // Terraform's default
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
	c := h.cli(t, "data \"docs_update_status\" \"update\" {\n  count     = 1000\n  status_id = \"upd_1\"\n}\n")
	c.Run(t, 0, "plan")
	if n := len(h.Requests()); n != 1000 || h.Count(simulator.EndpointUpdate) != n {
		t.Errorf("%d requests, %d of them for the update, want 1000", n, h.Count(simulator.EndpointUpdate))
	}
	if n := h.Connections(); n > parallelism+5 {
		t.Errorf("%d connections, want at most %d", n, parallelism+5)
	}
}
