package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

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

func TestStaticExportJobIsReadInEveryStatus(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ response, want string }{
		"queued": {
			`{"status": "queued", "progress": 0, "pageCount": 0}`,
			`{"status": "queued", "finished": false, "succeeded": false, "progress": 0, "page_count": 0}`,
		},
		"running": {
			`{"status": "packaging", "progress": 37.5}`,
			`{"status": "packaging", "finished": false, "succeeded": false, "progress": 37.5}`,
		},
		"completed": {
			`{"status": "completed", "progress": 100, "pageCount": 12, "createdAt": "2130-01-31T12:00:00+01:00"}`,
			`{"status": "completed", "finished": true, "succeeded": true, "progress": 100, "page_count": 12, "created_at": "2130-01-31T11:00:00Z"}`,
		},
		"failed": {
			`{"status": "failed", "error": "guides/links.mdx#L10: broken anchor\nsee /setup?key=#linux"}`,
			`{"status": "failed", "finished": true, "succeeded": false, "error": "guides/links.mdx#L10: broken anchor\nsee /setup?key=#linux"}`,
		},
	}
	h := newHarness(t, simulator.Options{})
	var config strings.Builder
	for name := range tests {
		h.service.AddJob(simulator.JobSpec{ID: name})
		config.WriteString(readJob(name))
	}
	h.service.Rewrite(func(_ string, body map[string]any) any {
		return object(t, tests[fmt.Sprint(body["jobId"])].response)
	})
	c := h.cli(t, config.String())
	c.apply(t, 0)
	h.wantCounts(t, counts{job: len(tests)})
	for name, test := range tests {
		want := map[string]any{"job_id": name, "timeouts": nil, "progress": nil, "page_count": nil, "created_at": nil, "error": nil}
		maps.Copy(want, object(t, test.want))
		if got := c.values(t)["data.docs_static_export_job."+name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%v\nwant\n%v", name, got, want)
		}
	}
}

// object returns a JSON object.
func object(t *testing.T, text string) (fields map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestStaticExportJobThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, readJob("unknown"))
	wantTexts(t, "static_export_job.txt", map[string]string{"unknown": c.report(t, 1, "plan").said["unknown"]})
}
