package provider

import (
	"cmp"
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

func openBundle(id string, arguments ...string) string {
	return fmt.Sprintf("ephemeral \"docs_static_export_bundle\" %q {\n  job_id = %[1]q\n  %s\n}\n", id, strings.Join(arguments, "\n  "))
}

func TestEphemeralLinkNeedsACompletedJob(t *testing.T) {
	t.Parallel()
	// The rows share a clock, which the one that waits moves to the end of its timeout.
	tests := map[string]struct {
		job       simulator.JobSpec
		arguments string
	}{
		"running":                 {simulator.JobSpec{Queue: ended, Run: simulator.Forever, Progress: func(float64) any { return 42 }}, `timeouts { open = "2m" }`},
		"failed":                  {simulator.JobSpec{Queue: ended, Run: ended, Fail: "page /broken does not render"}, ""},
		"failed without a reason": {simulator.JobSpec{Queue: ended, Run: ended, Fail: "unset"}, ""},
		"unknown job":             {simulator.JobSpec{ID: "another"}, ""},
		"no link":                 {simulator.JobSpec{Queue: ended, Run: ended}, ""},
	}
	h := newHarness(t, simulator.Options{})
	h.service.Rewrite(func(_ string, body map[string]any) any {
		delete(body, "bundleUrl")
		if body["error"] == "unset" {
			delete(body, "error")
		}
		return body
	})
	var config strings.Builder
	for name, test := range tests {
		test.job.ID = cmp.Or(test.job.ID, label(name))
		h.service.AddJob(test.job)
		config.WriteString(openBundle(label(name), test.arguments))
	}
	c := h.cli(t, config.String())
	c.terraform.SkipBelow(t, 10, 11, "ephemeral resources")
	said, texts := c.report(t, 1, "plan", "-parallelism=1"), map[string]string{} // so that the number of polls is exact
	for name := range tests {
		texts[name] = said.said[label(name)]
	}
	wantTexts(t, "ephemeral_link.txt", texts)
	h.wantWork(t, counts{bundle: 1})
}
