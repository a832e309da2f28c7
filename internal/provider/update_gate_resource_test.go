package provider

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestAccUpdateGateResource(t *testing.T) {
	const address = "docs_update_gate.test"
	acc := newAcceptance(t, statusIDVariable)
	gate := func(revision, pollInterval string) string {
		return fmt.Sprintf(`
resource "docs_update_gate" "test" {
  status_id     = %q
  triggers      = { revision = %q }
  poll_interval = %q
}

data "docs_update_status" "test" {
  status_id = %[1]q
}
`, acc.statusID, revision, pollInterval)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acc.providers,
		Steps: []resource.TestStep{
			{
				Config:           gate("1", "5s"),
				ConfigPlanChecks: expectAction(address, plancheck.ResourceActionCreate),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("success")),
					statecheck.CompareValuePairs(address, tfjsonpath.New("summary"),
						"data.docs_update_status.test", tfjsonpath.New("summary"), compare.ValuesSame()),
					statecheck.CompareValuePairs(address, tfjsonpath.New("ended_at"),
						"data.docs_update_status.test", tfjsonpath.New("ended_at"), compare.ValuesSame()),
				},
			},
			{ // What matters only to the next wait is recorded.
				Config:           gate("1", "10s"),
				ConfigPlanChecks: expectAction(address, plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("poll_interval"), knownvalue.StringExact("10s")),
				},
			},
			{
				Config:           gate("2", "10s"),
				ConfigPlanChecks: expectAction(address, plancheck.ResourceActionReplace),
			},
		},
	})
}

func TestGateFailsClosed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		update    simulator.UpdateSpec
		arguments string
	}{
		"failure": {simulator.UpdateSpec{Queue: ended, Run: ended, Fail: "no space"}, ""},
		"unknown status": {
			simulator.UpdateSpec{Queue: ended, Run: simulator.Forever, RunningStatus: "succeeded"},
			"poll_interval = \"29m\"\ntimeouts { create = \"30m\" }",
		},
		"never read": {simulator.UpdateSpec{ID: "another"}, ""},
	}
	h := newHarness(t, simulator.Options{})
	var config strings.Builder
	for name, test := range tests {
		test.update.ID = cmp.Or(test.update.ID, label(name))
		h.service.AddUpdate(test.update)
		fmt.Fprintf(&config, "resource \"docs_update_gate\" %q {\n  status_id = %[1]q\n  %s\n}\n", label(name), test.arguments)
		fmt.Fprintf(&config, "resource \"terraform_data\" \"behind_%[1]s\" {\n  depends_on = [docs_update_gate.%[1]s]\n}\n", label(name))
	}
	c := h.cli(t, config.String())
	wantTextsOf(t, c.report(t, 1, "apply", "-auto-approve"), "update_gate.txt", tests)
	reads := 0
	for _, r := range h.service.Requests() {
		if r.ID == label("unknown status") {
			reads++
		}
	}
	if reads != 3 { // at once, after 29 minutes, and just before the timeout
		t.Errorf("%d reads in intervals of 29 minutes, want 3", reads)
	}
	if passed := c.values(t); len(passed) > 0 {
		t.Errorf("the state holds %v", passed)
	}
}
