package provider

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestAccStaticExportBundleEphemeralResource(t *testing.T) {
	acc := newAcceptance(t, domainVariable)
	acc.providers["echo"] = echoprovider.NewProviderServer()
	resource.ParallelTest(t, resource.TestCase{
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)}, // Terraform 1.10, OpenTofu 1.11
		ProtoV6ProviderFactories: acc.providers,
		Steps: []resource.TestStep{{
			Config: acc.export("1") + `
ephemeral "docs_static_export_bundle" "test" {
  job_id = docs_static_export.test.job_id
}

provider "echo" {
  data = ephemeral.docs_static_export_bundle.test
}

resource "echo" "test" {}
`,
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data").AtMapKey("bundle_url"), knownvalue.StringFunc(download)),
				statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data").AtMapKey("expires_at"), knownvalue.StringRegexp(regexp.MustCompile("^2.*Z$"))),
			},
		}},
	})
}

func TestEphemeralLinkNeedsACompletedJob(t *testing.T) {
	t.Parallel()
	// The rows share a clock, which the one that waits moves to the end of its timeout.
	tests := map[string]struct{ job, arguments string }{
		"running":                 {`{"status": "running", "progress": 42, "pageCount": 0}`, `timeouts { open = "2m" }`},
		"failed":                  {`{"status": "failed", "error": "page /broken does not render"}`, ""},
		"failed without a reason": {`{"status": "failed"}`, ""},
		"unknown job":             {"", ""},
		"no link":                 {`{"status": "completed"}`, ""},
	}
	h := newHarness(t, simulator.Options{})
	responses := map[string]any{}
	var config strings.Builder
	for name, test := range tests {
		if test.job != "" {
			h.service.AddJob(simulator.JobSpec{ID: label(name), Queue: ended, Run: ended})
			responses[label(name)] = object(t, test.job)
		}
		fmt.Fprintf(&config, "ephemeral \"docs_static_export_bundle\" %q {\n  job_id = %[1]q\n  %s\n}\n", label(name), test.arguments)
	}
	h.service.Rewrite(func(_ string, body map[string]any) any { return responses[fmt.Sprint(body["jobId"])] })
	c := h.cli(t, config.String())
	c.terraform.SkipBelow(t, 10, 11, "ephemeral resources")
	wantTextsOf(t, c.report(t, 1, "plan", "-parallelism=1"), "ephemeral_link.txt", tests) // so that the number of polls is exact
	h.wantWork(t, counts{bundle: h.service.Count(simulator.EndpointBundle)})
}
