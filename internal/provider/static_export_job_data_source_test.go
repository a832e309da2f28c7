package provider

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestAccStaticExportJobDataSource(t *testing.T) {
	const address = "data.docs_static_export_job.test"
	acc := newAcceptance(t, domainVariable)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acc.providers,
		Steps: []resource.TestStep{{
			Config: acc.export("1") + `
data "docs_static_export_job" "test" {
  job_id = docs_static_export.test.job_id
}
`,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("completed")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("succeeded"), knownvalue.Bool(true)),
			},
		}},
	})
}

func readJob(id string) string {
	return fmt.Sprintf("data \"docs_static_export_job\" %q {\n  job_id = %[1]q\n}\n", id)
}

// rewriteJobs replaces fields of the records of some jobs, by their IDs.
func (h *harness) rewriteJobs(fields map[string]map[string]any) {
	h.service.Rewrite(func(_ string, body map[string]any) any {
		if id, ok := body["jobId"].(string); ok {
			for name, value := range fields[id] {
				body[name] = value
			}
		}
		return body
	})
}

func TestStaticExportJobIsReadInEveryStatus(t *testing.T) {
	t.Parallel()
	half := simulator.JobSpec{Queue: ended, Run: simulator.Forever, Progress: func(float64) any { return 37.5 }}
	failed := simulator.JobSpec{Queue: ended, Run: ended, Fail: "page /broken does not render"}
	tests := map[string]struct {
		job    simulator.JobSpec
		fields map[string]any
		want   map[string]any
	}{
		"queued":  {simulator.JobSpec{Queue: simulator.Forever}, nil, map[string]any{"job_id": "queued", "status": "queued", "finished": false, "succeeded": false, "progress": 0., "page_count": 0., "error": nil}},
		"running": {half, nil, map[string]any{"status": "running", "finished": false, "succeeded": false, "progress": 37.5, "page_count": 0., "error": nil}},
		"completed": {
			simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour), Pages: 12},
			nil,
			map[string]any{"status": "completed", "finished": true, "succeeded": true, "progress": 100., "page_count": 12., "created_at": "2130-01-31T11:00:00Z", "error": nil, "timeouts": nil},
		},
		"failed": {
			failed, nil,
			map[string]any{"status": "failed", "finished": true, "succeeded": false, "progress": nil, "page_count": nil, "error": "page /broken does not render"},
		},
		"status that is not documented": {half, map[string]any{"status": "packaging"}, map[string]any{"status": "packaging", "finished": false, "succeeded": false}},
		"missing fields":                {half, map[string]any{"progress": simulator.Omit, "pageCount": nil, "createdAt": simulator.Omit}, map[string]any{"progress": nil, "page_count": nil, "created_at": nil}},
	}
	h := newHarness(t, simulator.Options{})
	var config strings.Builder
	fields := map[string]map[string]any{}
	for name, test := range tests {
		test.job.ID = label(name)
		h.service.AddJob(test.job)
		fields[test.job.ID] = test.fields
		config.WriteString(readJob(test.job.ID))
	}
	h.rewriteJobs(fields)
	c := h.cli(t, config.String())
	c.apply(t, 0)
	h.wantCounts(t, counts{job: len(tests)})
	values := c.values(t)
	tested := map[string]any{}
	for name, test := range tests {
		maps.Copy(tested, test.want)
		t.Run(name, func(t *testing.T) { wantAttributes(t, values["data.docs_static_export_job."+label(name)], test.want) })
	}
	for attribute := range values["data.docs_static_export_job.completed"] {
		if _, ok := tested[attribute]; !ok {
			t.Errorf("no row of the table has a value for %s", attribute)
		}
	}
}

func TestStaticExportJobThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, readJob("unknown"))
	wantTexts(t, "static_export_job.txt", map[string]string{"unknown": c.report(t, 1, "plan").said["unknown"]})
}
