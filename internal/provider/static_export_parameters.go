package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

var parametersRules = rules(summaryInvalidParameters, "a JSON object without a field \"domain\"", checkParameters)

// checkParameters accepts an object whose fields can join the domain in the request that starts
// an export.
func checkParameters(text string) error {
	value, err := client.DecodeJSON([]byte(text))
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return invalidValue("The value is not a JSON object. Write it with jsonencode, such as jsonencode({ version = \"v1\" }).")
	}
	if _, found := fields["domain"]; found {
		return invalidValue("The object contains \"domain\". Remove it, and use the domain argument.")
	}
	return nil
}

// canonicalParameters returns the text that stands for all additional_parameters that differ only in
// whitespace and the order of fields. The given text is valid: Terraform also validates values that
// the plan did not know.
func canonicalParameters(text string) string {
	if text == "" {
		return "{}"
	}
	value, _ := client.DecodeJSON([]byte(text))
	canonical, _ := json.Marshal(value) // decoded JSON, which never fails
	return string(canonical)
}

// sameParameters keeps the additional_parameters of the state if those of the plan differ only
// in whitespace and order. The framework uses the semantic equality of a type, such as
// jsontypes.Normalized, after an apply or a refresh, but not in a plan.
type sameParameters struct{}

func (sameParameters) Description(context.Context) string {
	return "Ignores whitespace and the order of fields."
}

func (m sameParameters) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

func (sameParameters) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	plan, state := req.PlanValue, req.StateValue
	if !plan.IsUnknown() && !plan.IsNull() && !state.IsNull() && canonicalParameters(plan.ValueString()) == canonicalParameters(state.ValueString()) {
		resp.PlanValue = state
	}
}
