// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestThousandReadsMakeAThousandRequestsOnAFewConnections(t *testing.T) {
	t.Parallel()
	const reads, parallelism = 1000, 10 // as many as Terraform runs at once
	h := newHarness(t, simulator.Options{})
	p := h.newProtocolWith(t, h.ownTransport(), nil)
	p.ctx = t.Context()
	requests := make(chan *tfprotov6.ReadDataSourceRequest)
	var workers sync.WaitGroup
	for range parallelism {
		workers.Go(func() {
			for request := range requests {
				if resp, err := p.server.ReadDataSource(p.ctx, request); err != nil || len(resp.Diagnostics) > 0 {
					t.Error(err, said6(resp.Diagnostics))
				}
			}
		})
	}
	for i := range reads {
		id := h.AddUpdate(simulator.UpdateSpec{ID: fmt.Sprint("update-", i)})
		requests <- &tfprotov6.ReadDataSourceRequest{
			TypeName: "docs_update_status",
			Config:   encode(t, p.schemas.DataSourceSchemas["docs_update_status"], map[string]any{"status_id": id}),
		}
	}
	close(requests)
	workers.Wait()

	h.wantCounts(t, map[string]int{simulator.EndpointUpdate: reads})
	if all := len(h.Requests()); all != reads {
		t.Errorf("%d requests in all", all)
	}
	if connections := h.Connections(); connections > parallelism+5 {
		t.Errorf("%d connections, want at most %d", connections, parallelism+5)
	}
}

func TestStateIsReadWithoutARequest(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.newCLI(t, exportConfig+`output "job" { value = docs_static_export.site.job_id }`)
	c.Run(t, 0, "apply", "-auto-approve")
	h.ResetRequests()
	c.wantEmptyPlan(t, "-refresh=false")
	c.Run(t, 0, "output")
	c.Run(t, 0, "show")
	c.Run(t, 0, "validate")
	if requests := h.Requests(); len(requests) > 0 {
		t.Errorf("%d requests were made, the first to %s", len(requests), requests[0].Path)
	}
	c.wantEmptyPlan(t)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointJob: 1, simulator.EndpointBundle: 0})
}
