// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const site = "docs_static_export.site"

func attribute(name string) tfjsonpath.Path { return tfjsonpath.New(name) }

func TestStaticExportOneApplyMakesOneStartAndOneBundleRequest(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.run(t, resource.TestStep{
		Config: `resource "docs_static_export" "site" { domain = "docs.example.com" }`,
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(site, attribute("status"), knownvalue.StringExact("completed")),
			statecheck.ExpectKnownValue(site, attribute("expires_at"), knownvalue.NotNull()),
			statecheck.ExpectKnownValue(site, attribute("bundle_url"), knownvalue.NotNull()),
		},
	})
	h.wantCounts(t, map[string]int{"start": 1, "bundle": 1})
}
