package provider

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestAccStaticExportResource(t *testing.T) {
	const address = "docs_static_export.test"
	acc := newAcceptance(t, domainVariable)
	anotherJob := statecheck.CompareValue(compare.ValuesDiffer())
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acc.providers,
		Steps: []resource.TestStep{
			{ // After each step, resource.Test checks that the plan is empty.
				Config:           acc.export("1"),
				ConfigPlanChecks: expectAction(address, plancheck.ResourceActionCreate),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("completed")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("bundle_url"), knownvalue.StringFunc(download)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("expires_at"), knownvalue.StringRegexp(regexp.MustCompile("^2.*Z$"))),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("link_renewal"), knownvalue.StringExact("on_expiry")),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("renew_before"), knownvalue.StringExact("0s")),
					anotherJob.AddStateValue(address, tfjsonpath.New("job_id")),
					statecheck.CompareValuePairs(address, tfjsonpath.New("job_id"), address, tfjsonpath.New("latest_job_id"), compare.ValuesSame()),
				},
			},
			{
				Config:            acc.export("2"),
				ConfigPlanChecks:  expectAction(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{anotherJob.AddStateValue(address, tfjsonpath.New("job_id"))},
			},
			{
				ResourceName: address,
				ImportState:  true,
				ImportStateIdFunc: func(s *terraform.State) (string, error) {
					return acc.domain + "," + s.RootModule().Resources[address].Primary.Attributes["job_id"], nil
				},
				ImportStateVerify:                    true,
				ImportStateVerifyIdentifierAttribute: "job_id",
				// The service does not return the inputs of a job, and an import creates no link.
				ImportStateVerifyIgnore: []string{"triggers", "bundle_url", "expires_at", "bundle_size_bytes"},
			},
		},
	})
	acc.wantWork(t, counts{start: 2, bundle: 2, download: 1})
}

func TestParametersThatAreUnknownInThePlanAreSentByTheApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, "resource \"terraform_data\" \"version\" {\n  input = 7\n}\n"+
		siteExport(`poll_interval = "1m"`, "additional_parameters = jsonencode({ version = terraform_data.version.output })"))
	c.apply(t, 0)
	h.wantCounts(t, counts{start: 1, job: 2, bundle: 1}) // as poll_interval says
	if got, want := h.service.Requests()[0].Body, `{"domain":"docs.example.com","version":7}`; got != want {
		t.Errorf("the start request is %s, want %s", got, want)
	}
}
