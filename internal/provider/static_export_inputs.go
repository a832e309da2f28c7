// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
)

// sameContent reports whether a plan asks for what the state's job exported.
// Arguments that are not known yet count as different. It does not compare the
// domain, because changing it replaces the resource.
func sameContent(plan, state *staticExportModel) bool {
	compared := *state
	compared.Domain = plan.Domain
	return plan.inputsKnown() && plan.inputs() == compared.inputs()
}

func (m *staticExportModel) inputsKnown() bool {
	return !m.Domain.IsUnknown() && !m.Triggers.IsUnknown() && !m.AdditionalParameters.IsUnknown()
}

// inputs is a fingerprint of the arguments that determine an export's content. It
// is stored in the private state, so its form must not change.
func (m *staticExportModel) inputs() string {
	triggers := map[string]string{}
	for name, value := range m.Triggers.Elements() {
		triggers[name] = value.String()
	}
	text, err := json.Marshal([]any{m.Domain.ValueString(), triggers, canonicalJSON(m.AdditionalParameters.ValueString())})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonicalJSON rewrites JSON independently of spacing and member order. No
// parameters and an empty object are the same.
func canonicalJSON(text string) string {
	if text == "" {
		return "{}"
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // does not round large numbers
	var value any
	if decoder.Decode(&value) != nil {
		return text
	}
	canonical, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(canonical)
}

// parseParameters parses additional_parameters, or returns what is wrong with it. An
// empty value means no parameters.
func parseParameters(text string) (parameters map[string]json.RawMessage, problem string) {
	if text == "" {
		return nil, ""
	}
	if err := json.Unmarshal([]byte(text), &parameters); err != nil || parameters == nil {
		return nil, "The value is not a JSON object. Write it with jsonencode, such as jsonencode({ version = \"v1\" })."
	}
	if _, found := parameters["domain"]; found {
		return nil, "The object contains \"domain\". Remove it, and use the domain argument."
	}
	return parameters, ""
}

// sameJSONModifier keeps the prior value of an argument if the new one differs only in
// spacing and member order.
type sameJSONModifier struct{ described }

func (sameJSONModifier) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if !req.StateValue.IsNull() && !req.PlanValue.IsNull() && !req.PlanValue.IsUnknown() &&
		canonicalJSON(req.PlanValue.ValueString()) == canonicalJSON(req.StateValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
