package provider

import (
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/export"
	"github.com/docs-hosting/terraform-provider-docs/internal/exporttest"
)

func TestJobsAreHandedOverByTheirContent(t *testing.T) {
	t.Parallel()
	var h handover
	for _, line := range []string{"| c2", "| b1", "a2 |", "| a3 failed", "| b2"} {
		h.add(exporttest.State(line).Unfinished())
	}
	for _, want := range []string{"b1", "b2", ""} {
		if job := h.take(exporttest.Inputs("b")); job == nil && want != "" || job != nil && job.ID != want {
			t.Errorf("the next job is %v, want %q", job, want)
		}
	}
	for _, inputs := range []export.Inputs{exporttest.Inputs("a"), exporttest.NewInputs(exporttest.Domain, nil, "")} {
		if job := h.take(inputs); job != nil {
			t.Errorf("job %s is handed over", job.ID)
		}
	}
}
