package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestInputsOfAPlanAreKnownOnlyIfEachIs(t *testing.T) {
	t.Parallel()
	triggers := func(revision attr.Value) types.Map {
		return types.MapValueMust(types.StringType, map[string]attr.Value{"revision": revision})
	}
	for name, plan := range map[string]exportArguments{
		"known":              {Triggers: triggers(types.StringNull())},
		"unknown trigger":    {Triggers: triggers(types.StringUnknown())},
		"unknown triggers":   {Triggers: types.MapUnknown(types.StringType)},
		"unknown parameters": {AdditionalParameters: types.StringUnknown()},
		"unknown domain":     {Domain: types.StringUnknown()},
	} {
		if wanted := plan.wanted(&diag.Diagnostics{}); wanted.Known != (name == "known") {
			t.Errorf("%s: %+v", name, wanted)
		}
	}
}
