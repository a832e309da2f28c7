// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestImportOfAWholeExportNeedsNoApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.AddJob(simulator.JobSpec{Domain: "docs.example.com", StartedAt: startOfTime.Add(-time.Hour)})
	c := h.newCLI(t, export(``))

	c.Run(t, 0, "import", site, "docs.example.com,"+id)
	c.wantEmptyPlan(t)
	if link, _ := c.state(t, site)["bundle_url"].(string); link == "" {
		t.Error("the imported export has no link")
	}
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 1})

	// From here on it is an export like any other.
	h.clock.Advance(time.Hour)
	if plan := c.Run(t, 2, "plan", "-detailed-exitcode"); !strings.Contains(plan, "updated in-place") {
		t.Errorf("the expired link of the imported export is not renewed:\n%s", plan)
	}
}

func TestImportWithoutTheDomainTakesTheConfiguration(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour)})
	c := h.newCLI(t, export(`triggers = { revision = "1" }`)+`
import {
  to = docs_static_export.site
  id = "`+id+`"
}
`)
	c.SkipBelow(t, 5, 6, "import blocks")
	output := c.Run(t, 0, "apply", "-auto-approve")
	if !strings.Contains(output, "1 imported, 0 added, 1 changed") || !strings.Contains(output, "without a new export") {
		t.Errorf("unexpected apply:\n%s", output)
	}
	c.wantEmptyPlan(t)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0})
	if state := c.state(t, site); state["job_id"] != id || state["domain"] != "docs.example.com" {
		t.Errorf("state %v", state)
	}

	c.write(t, export(`triggers = { revision = "2" }`))
	c.Run(t, 0, "apply", "-auto-approve")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
}

func TestImportOfARunningJobIsFinishedByTheNextApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.AddJob(simulator.JobSpec{Run: 10 * time.Minute})
	c := h.newCLI(t, export(``))
	c.Run(t, 0, "import", site, "docs.example.com,"+id)
	h.wantCounts(t, map[string]int{simulator.EndpointBundle: 0})
	c.Run(t, 0, "apply", "-auto-approve")
	c.wantEmptyPlan(t)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 1})
}

func TestGeneratedConfigurationOfAnImportPlansEmpty(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour)})
	c := h.newCLI(t, `
import {
  to = docs_static_export.site
  id = "docs.example.com,`+id+`"
}
`)
	c.SkipBelow(t, 5, 6, "import blocks")
	c.Run(t, 0, "plan", "-generate-config-out=generated.tf")
	generated, err := os.ReadFile(filepath.Join(c.Folder, "generated.tf"))
	if err != nil || strings.Contains(string(generated), "X-Amz") {
		t.Fatalf("generated configuration: %v\n%s", err, generated)
	}
	output := c.Run(t, 0, "apply", "-auto-approve")
	if !strings.Contains(output, "1 imported, 0 added, 0 changed") {
		t.Errorf("unexpected apply:\n%s", output)
	}
	c.wantEmptyPlan(t)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0})
}

func TestImportByIdentity(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	resource.ParallelTest(t, resource.TestCase{
		IsUnitTest:               true,
		ProtoV6ProviderFactories: h.factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_12_0)},
		Steps: []resource.TestStep{
			{Config: export(``)},
			{
				ResourceName:    site,
				ImportState:     true,
				ImportStateKind: resource.ImportBlockWithResourceIdentity,
				ImportPlanChecks: resource.ImportPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(site, plancheck.ResourceActionNoop),
				}},
			},
		},
	})
}

func TestImportThatCannotBe(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	failed := h.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour), Fail: "no such branch"})
	for name, test := range map[string]struct{ id, want string }{
		"only white space":         {"  ", `The job's id is empty.`},
		"a domain without a job":   {"docs.example.com,", `The job's id is empty.`},
		"a job without its domain": {",se_1", `The domain is empty.`},
		"a URL for the domain":     {"https://docs.example.com,se_1", `has a scheme`},
		"an unknown job":           {"docs.example.com,se_missing", `HTTP 404 Not Found`},
		"a failed job":             {"docs.example.com," + failed, `no such branch`},
	} {
		t.Run(name, func(t *testing.T) {
			h.run(t, resource.TestStep{
				Config:        export(``),
				ResourceName:  site,
				ImportState:   true,
				ImportStateId: test.id,
				ExpectError:   words(test.want),
			})
		})
	}
	t.Cleanup(func() { h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 0}) })
}
