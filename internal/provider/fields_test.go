// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// everyField is a configuration that sets every argument, for a service whose
// records have every field. Only a failed job has an error, and only one that has
// not failed has a progress.
const everyField = `
data "docs_static_export_job" "completed" {
  job_id   = "se_completed"
  timeouts = { read = "1m" }
}
data "docs_static_export_job" "failed" {
  job_id = "se_failed"
}
data "docs_update_status" "deployed" {
  status_id           = "upd_1"
  wait_for_completion = true
  fail_on_failure     = true
  poll_interval       = "5s"
  timeouts            = { read = "1m" }
}
resource "docs_update_gate" "deployed" {
  status_id     = "upd_1"
  triggers      = { revision = "1" }
  poll_interval = "5s"
  timeouts      = { create = "1m" }
}
resource "docs_static_export" "site" {
  domain                = "docs.example.com"
  triggers              = { revision = "1" }
  additional_parameters = jsonencode({ version = "v1" })
  poll_interval         = "5s"
  timeouts              = { create = "1m", update = "1m", read = "1m" }
}
`

func TestEveryAttributeHasAValueIfTheServiceReturnsEveryField(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddJob(simulator.JobSpec{ID: "se_completed", StartedAt: startOfTime.Add(-time.Hour)})
	h.AddJob(simulator.JobSpec{ID: "se_failed", StartedAt: startOfTime.Add(-time.Hour), Fail: "page /broken does not render"})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", StartedAt: startOfTime.Add(-time.Hour)})
	c := h.cli(t, everyField)
	c.apply(t, 0)

	found := map[string]bool{} // by attribute: whether an object of its type has a value
	for address, values := range c.values(t) {
		kind, _, _ := strings.Cut(strings.TrimPrefix(address, "data."), ".")
		findValues(found, kind, values)
	}
	if len(found) < 50 {
		t.Errorf("only %d attributes were found: %v", len(found), found)
	}
	for attribute, ok := range found {
		if !ok {
			t.Errorf("%s is null: Read does not fill it, the client does not read it, the simulator does not return it, or everyField does not set it", attribute)
		}
	}
}

// findValues notes for an attribute, and those nested in it, whether they have a
// value that is not null and not empty.
func findValues(found map[string]bool, path string, value any) {
	switch value := value.(type) {
	case nil:
		if _, ok := found[path]; !ok {
			found[path] = false
		}
	case map[string]any:
		found[path] = true
		for name, field := range value {
			findValues(found, path+"."+name, field)
		}
	case []any:
		found[path] = found[path] || len(value) > 0
	default:
		found[path] = true
	}
}
