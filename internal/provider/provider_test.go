// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestBadInputIsRefusedOnItsArgumentBeforeAnyRequest(t *testing.T) {
	const key = `api_key = "sim_0123456789abcdef"`
	const url = `base_url = "https://docs.invalid/v1"`
	provider := func(arguments ...string) string {
		return "provider \"docs\" {\n" + strings.Join(arguments, "\n") + "\n}\n" + export(``)
	}
	for name, test := range map[string]struct{ config, want string }{
		"no base URL":                       {provider(key), `Missing base URL`},
		"no API key":                        {provider(url), `Missing API key`},
		"a relative base URL":               {provider(key, `base_url = "docs.example.com/v1"`), `it must be absolute`},
		"a base URL with a query":           {provider(key, `base_url = "https://docs.invalid/v1?x=1"`), `must not have a query`},
		"a base URL with a fragment":        {provider(key, `base_url = "https://docs.invalid/v1#x"`), `must not have a fragment`},
		"a base URL with user info":         {provider(key, `base_url = "https://u:p@docs.invalid/v1"`), `must not hold a user name`},
		"a base URL in clear":               {provider(key, `base_url = "http://docs.invalid/v1"`), `plain http is allowed for loopback hosts only`},
		"a base URL of another scheme":      {provider(key, `base_url = "ftp://docs.invalid/v1"`), `its scheme is "ftp"`},
		"a key with a space inside":         {provider(url, `api_key = "sim_a b"`), `it has white space inside`},
		"a key with a control character":    {provider(url, `api_key = "sim_a\u0007b"`), `it has a control character inside`},
		"a certificate that is none":        {provider(url, key, `ca_cert_pem = "nonsense"`), `Invalid certificates`},
		"a request timeout that is none":    {provider(url, key, `request_timeout = "soon"`), `soon`},
		"a request timeout of nothing":      {provider(url, key, `request_timeout = "0s"`), `must be at least 1s`},
		"a negative number of retries":      {provider(url, key, `max_retries = -1`), `between 0 and 20`},
		"an empty domain":                   {`resource "docs_static_export" "site" { domain = "" }`, `The domain is empty.`},
		"a domain with a scheme":            {`resource "docs_static_export" "site" { domain = "https://docs.example.com" }`, `has a scheme`},
		"a domain with a path":              {`resource "docs_static_export" "site" { domain = "docs.example.com/guide" }`, `has a path`},
		"a domain with white space":         {`resource "docs_static_export" "site" { domain = "docs example" }`, `has white space in it`},
		"parameters that are no object":     {export(`additional_parameters = "[1]"`), `must be one JSON object`},
		"parameters that are null":          {export(`additional_parameters = "null"`), `must be one JSON object`},
		"parameters with the domain":        {export(`additional_parameters = jsonencode({ domain = "x" })`), `Domain given twice`},
		"an unknown kind of renewal":        {export(`link_renewal = "always"`), `on_expiry`},
		"a renew_before that is none":       {export(`renew_before = "1 day"`), `1 day`},
		"a negative renew_before":           {export(`renew_before = "-1h"`), `must be at least 0s`},
		"a poll interval that is too short": {export(`poll_interval = "10ms"`), `must be at least 1s`},
		"a timeout that is none":            {export(`timeouts = { create = "long" }`), `long`},
		"an empty status id":                {`data "docs_update_status" "u" { status_id = "" }`, `The value is empty.`},
		"a status id of white space":        {`data "docs_update_status" "u" { status_id = " \t" }`, `The value is empty.`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, simulator.Options{})
			if strings.HasPrefix(test.config, "provider") {
				h.env = nil
			}
			h.run(t, resource.TestStep{Config: test.config, ExpectError: words(test.want), PlanOnly: true})
			if requests := h.Requests(); len(requests) > 0 {
				t.Errorf("%d requests were made", len(requests))
			}
		})
	}
}

func TestEnvironmentIsCheckedLikeTheArguments(t *testing.T) {
	for name, test := range map[string]struct{ variable, value, want string }{
		"a base URL in clear":      {"DOCS_BASE_URL", "http://docs.invalid/v1", `The environment variable DOCS_BASE_URL does not hold a usable base URL`},
		"a key with a line inside": {"DOCS_API_KEY", "sim_a\nsim_b", `The environment variable DOCS_API_KEY does not hold a usable API key`},
		"a key of white space":     {"DOCS_API_KEY", " \n", `Missing API key`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, simulator.Options{})
			h.env[test.variable] = test.value
			h.run(t, resource.TestStep{Config: export(``), ExpectError: words(test.want), PlanOnly: true})
		})
	}
}

func TestKeyMayHaveWhiteSpaceAroundItAndBaseURLASlash(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.env["DOCS_API_KEY"] = "\t" + simulator.DefaultAPIKey + "\r\n"
	h.env["DOCS_BASE_URL"] += "/"
	h.env["TF_APPEND_USER_AGENT"] = "pipeline/7"
	h.run(t, resource.TestStep{Config: export(``)})
	request := h.Requests()[0]
	if request.Path != "/v1/static-export/jobs" {
		t.Errorf("path %s", request.Path)
	}
	if !strings.HasSuffix(request.Header.Get("User-Agent"), " pipeline/7") {
		t.Errorf("user agent %q", request.Header.Get("User-Agent"))
	}
}

func TestUnknownProviderConfigurationFailsOnlyWhatNeedsIt(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	late := `
resource "terraform_data" "address" { input = "` + h.BaseURL + `" }
provider "docs" { base_url = terraform_data.address.output }
`
	h.runSince(t, tfversion.Version1_4_0,
		resource.TestStep{ // a resource is planned, and created once the address is known
			Config:           late + export(``),
			ConfigPlanChecks: planned(plancheck.ResourceActionCreate),
		},
	)
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
}

func TestUnknownProviderConfigurationIsNamedByADataSource(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.runSince(t, tfversion.Version1_4_0, resource.TestStep{
		Config: `
resource "terraform_data" "address" { input = "` + h.BaseURL + `" }
provider "docs" { base_url = terraform_data.address.output }
data "docs_update_status" "u" { status_id = "upd_1" }
`,
		ExpectError: words(`the value of the provider's base_url is known only after apply`),
	})
}

func TestWarningsOfTheProviderAreSaidOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{APIKey: "0123456789abcdef"})
	h.env["DOCS_API_KEY"] = "0123456789abcdef"
	h.env["DOCS_BASE_URL"] = strings.TrimSuffix(h.BaseURL, "/v1")
	c := h.newCLI(t, export(``))
	output := c.Run(t, 0, "plan")
	for _, summary := range []string{"Unusual API key", "Base URL without version segment"} {
		if got := strings.Count(output, "Warning: "+summary); got != 1 {
			t.Errorf("%d warnings %q, want 1:\n%s", got, summary, output)
		}
	}
	if strings.Contains(output, "0123456789abcdef") {
		t.Error("the key is shown")
	}
}
