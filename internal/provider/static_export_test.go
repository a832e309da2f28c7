// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// stateHas checks an attribute of the export in the state.
func stateHas(attribute string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(site, tfjsonpath.New(attribute), value)
}

// TestCreateSendsOneStartAndOneBundleRequest also writes the parameters in another order,
// which changes nothing.
func TestCreateSendsOneStartAndOneBundleRequest(t *testing.T) {
	h := newHarness(t, simulator.Options{Queue: 10 * time.Second, Run: 3 * time.Minute})
	h.run(t, resource.TestStep{
		Config: export(`additional_parameters = jsonencode({ version = "v7", paths = ["/", "/guide"] })`),
		ConfigStateChecks: []statecheck.StateCheck{
			stateHas("status", knownvalue.StringExact("completed")),
			stateHas("page_count", knownvalue.Int64Exact(6)),
			stateHas("expires_at", knownvalue.StringRegexp(regexp.MustCompile(`^2030-01-31T12:1[89]:\d\dZ$`))),
			stateHas("bundle_url", knownvalue.StringRegexp(regexp.MustCompile(`^http://127.*X-Amz-Signature=`))),
			stateHas("bundle_size_bytes", knownvalue.NotNull()),
			statecheck.ExpectSensitiveValue(site, tfjsonpath.New("bundle_url")),
			stateHas("link_renewal", knownvalue.StringExact("on_expiry")),
			stateHas("renew_before", knownvalue.StringExact("0s")),
			stateHas("triggers", knownvalue.Null()),
		},
	}, resource.TestStep{
		Config:   export(`additional_parameters = "{ \"paths\": [\"/\", \"/guide\"], \"version\": \"v7\" }"`),
		PlanOnly: true,
	})
	h.wantCounts(t, counts{start: 1, job: some, bundle: 1})

	var body any
	if err := json.Unmarshal([]byte(h.service.Requests()[0].Body), &body); err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"domain": "docs.example.com", "version": "v7", "paths": []any{"/", "/guide"}}; !reflect.DeepEqual(body, want) {
		t.Errorf("the start request is %v, want %v", body, want)
	}
	// The delay grows from 1 to 15 seconds, a poll each second would make 190 polls.
	if polls := h.service.Count(simulator.EndpointJob); polls < 30 || polls > 42 {
		t.Errorf("%d polls of a job of 190 s", polls)
	}
}

func TestJobMayStillBeUnknownAfterAStartThatHadToWait(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointStart, Times: 1, Status: 429, Header: http.Header{"Retry-After": {"60"}}})
	h.service.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Times: 1, Status: 404})
	c := h.cli(t, export())
	c.apply(t, 0)
	c.wantJob(t, 0)
}

func TestChangedArgumentLeavesALinkKnownThatIsNeverRenewed(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, export(`link_renewal = "never"`))
	c.apply(t, 0)
	c.write(t, export(`link_renewal = "never"`, `poll_interval = "5s"`))
	if plan := c.terraform.Run(t, 2, "plan", "-detailed-exitcode"); strings.Contains(plan, "bundle_url") {
		t.Errorf("the plan changes the link:\n%s", plan)
	}
}

func TestParametersThatAreUnknownInThePlanAreCheckedByTheApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	c := h.cli(t, `resource "terraform_data" "parameters" { input = "[1]" }`+"\n"+
		export(`additional_parameters = terraform_data.parameters.output`))
	wantPhrases(t, c.apply(t, 1), "Invalid additional parameters", "not a JSON object")
	h.wantCounts(t, counts{})
}

func TestContentThatIsUnknownInThePlanIsExportedIfItIsNew(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	content := func(value, replace string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"content\" {\n  input = %q\n  triggers_replace = %q\n}\n", value, replace) +
			export(`triggers = { revision = terraform_data.content.output }`)
	}
	c := h.cli(t, content("1", "1"))
	c.apply(t, 0)
	c.write(t, content("1", "2"))
	wantPhrases(t, unwrapped(c.terraform.Run(t, 0, "plan")), "~ job_id =")
	wantPhrases(t, c.apply(t, 0), "1 added, 0 changed, 1 destroyed")
	h.wantCounts(t, counts{start: 1, job: some, bundle: 1})
	c.write(t, content("2", "2"))
	c.apply(t, 0)
	h.wantCounts(t, counts{start: 2, job: some, bundle: 2})
	c.wantJob(t, 1)
}
