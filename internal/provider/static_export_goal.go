// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// exportGoal is what a plan asks for.
type exportGoal struct {
	inputs exportInputs
	known  bool // all inputs are
	// renewBefore is how long before its expiry a link is renewed; never is set if it is
	// not renewed at all.
	renewBefore time.Duration
	never       bool
}

// is reports whether the plan asks for exactly these inputs.
func (g exportGoal) is(inputs exportInputs) bool {
	return g.known && g.inputs == inputs
}

// exportInputs are the arguments that determine what a job exports.
type exportInputs struct {
	Domain string `json:"domain"`
	// Triggers and Parameters are JSON objects without insignificant whitespace, with sorted
	// fields.
	Triggers   string `json:"triggers"`
	Parameters string `json:"parameters"`
}

// goal returns what the plan asks for.
func (m *staticExportModel) goal() exportGoal {
	inputs := exportInputs{Domain: m.Domain.ValueString()}
	// The value is valid: Terraform also validates values that the plan did not know.
	inputs.Parameters, _ = canonicalParameters(m.AdditionalParameters.ValueString())
	known := !m.Domain.IsUnknown() && !m.Triggers.IsUnknown() && !m.AdditionalParameters.IsUnknown()
	triggers := map[string]*string{}
	for name, value := range m.Triggers.Elements() {
		text, _ := value.(types.String)
		known = known && !text.IsUnknown()
		triggers[name] = text.ValueStringPointer()
	}
	canonical, _ := json.Marshal(triggers) // of strings, which never fails
	inputs.Triggers = string(canonical)
	return exportGoal{inputs: inputs, known: known, renewBefore: durationOf(m.RenewBefore), never: m.LinkRenewal.ValueString() == renewNever}
}

var parametersRules = rules(summaryInvalidParameters, "a JSON object without a field \"domain\"", func(value string) error {
	_, err := canonicalParameters(value)
	return err
})

// canonicalParameters returns the value of additional_parameters with sorted fields and
// without insignificant whitespace, or an [invalidValue]. An empty value has no fields.
func canonicalParameters(text string) (string, error) {
	if text == "" {
		return "{}", nil
	}
	var fields map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // does not round large numbers
	// A decoder alone accepts text after the object.
	if err := decoder.Decode(&fields); err != nil || fields == nil || !json.Valid([]byte(text)) {
		return "", invalidValue("The value is not a JSON object. Write it with jsonencode, such as jsonencode({ version = \"v1\" }).")
	}
	if _, found := fields["domain"]; found {
		return "", invalidValue("The object contains \"domain\". Remove it, and use the domain argument.")
	}
	canonical, err := json.Marshal(fields)
	return string(canonical), err
}
