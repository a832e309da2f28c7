package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func triggers(revision attr.Value) types.Map {
	return types.MapValueMust(types.StringType, map[string]attr.Value{"revision": revision})
}

func TestInputsOfAPlan(t *testing.T) {
	t.Parallel()
	state := exportArguments{types.StringValue("docs.example.com"), triggers(types.StringValue("1")), types.StringValue(`{"a":1}`), types.StringNull(), types.StringNull(), types.StringNull(), types.ObjectNull(nil)}
	stored, _ := state.inputs()
	for name, test := range map[string]struct {
		change       func(*exportArguments)
		known, equal bool
	}{
		"no change":          {func(*exportArguments) {}, true, true},
		"new trigger":        {func(m *exportArguments) { m.Triggers = triggers(types.StringValue("2")) }, true, false},
		"null trigger":       {func(m *exportArguments) { m.Triggers = triggers(types.StringNull()) }, true, false},
		"no parameters":      {func(m *exportArguments) { m.AdditionalParameters = types.StringNull() }, true, false},
		"another domain":     {func(m *exportArguments) { m.Domain = types.StringValue("b.example.com") }, true, false},
		"unknown trigger":    {func(m *exportArguments) { m.Triggers = triggers(types.StringUnknown()) }, false, false},
		"unknown triggers":   {func(m *exportArguments) { m.Triggers = types.MapUnknown(types.StringType) }, false, false},
		"unknown parameters": {func(m *exportArguments) { m.AdditionalParameters = types.StringUnknown() }, false, false},
		"unknown domain":     {func(m *exportArguments) { m.Domain = types.StringUnknown() }, false, false},
	} {
		plan := state
		test.change(&plan)
		if wanted := plan.wanted(); wanted.Known != test.known || (wanted.Inputs == stored) != test.equal {
			t.Errorf("%s: %+v", name, wanted)
		}
	}
}
