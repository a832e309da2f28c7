package provider

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestInputsOfAPlanAreKnownOnlyIfEachIs(t *testing.T) {
	t.Parallel()
	triggers := func(value attr.Value) types.Map {
		return types.MapValueMust(types.StringType, map[string]attr.Value{"revision": value})
	}
	values := map[reflect.Type][2]attr.Value{ // one that is known, and one that is not
		reflect.TypeFor[types.String](): {types.StringValue(`{"a":1}`), types.StringUnknown()},
		reflect.TypeFor[types.Map]():    {triggers(types.StringValue("2")), types.MapUnknown(types.StringType)},
	}
	unset, _ := (&exportArguments{}).inputs(&diag.Diagnostics{})
	for field := range reflect.TypeFor[exportArguments]().Fields() {
		var plans [2]exportArguments
		for i, value := range values[field.Type] {
			if value != nil {
				reflect.ValueOf(&plans[i]).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(value))
			}
		}
		changed, _ := plans[0].inputs(&diag.Diagnostics{})
		if _, known := plans[1].inputs(&diag.Diagnostics{}); known == (changed != unset) {
			t.Errorf("inputs says that they are known (%t) if %s is not", known, field.Name)
		}
	}
	unknown := exportArguments{Triggers: triggers(types.StringUnknown())}
	if unknown.wanted(&diag.Diagnostics{}).Known {
		t.Error("the inputs are known, although a trigger is not")
	}
}
