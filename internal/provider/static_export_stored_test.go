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
	for name, change := range map[string]func(*exportArguments){
		"known":              func(m *exportArguments) { m.Triggers = triggers(types.StringNull()) },
		"unknown trigger":    func(m *exportArguments) { m.Triggers = triggers(types.StringUnknown()) },
		"unknown triggers":   func(m *exportArguments) { m.Triggers = types.MapUnknown(types.StringType) },
		"unknown parameters": func(m *exportArguments) { m.AdditionalParameters = types.StringUnknown() },
		"unknown domain":     func(m *exportArguments) { m.Domain = types.StringUnknown() },
	} {
		var plan exportArguments
		change(&plan)
		if wanted := plan.wanted(&diag.Diagnostics{}); wanted.Known != (name == "known") {
			t.Errorf("%s: %+v", name, wanted)
		}
	}
}
