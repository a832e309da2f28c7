// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// exportGoal is what a plan requires of an export.
type exportGoal struct {
	inputs     exportInputs
	known      bool           // whether all inputs are known
	parameters map[string]any // those of the inputs, decoded
	// renewBefore is how long before its expiry a link is renewed; never means that it is not
	// renewed at all.
	renewBefore time.Duration
	never       bool
}

// is reports whether the plan requires exactly these inputs.
func (g exportGoal) is(inputs exportInputs) bool {
	return g.known && g.inputs == inputs
}

// exportInputs are the arguments that determine what a job exports.
type exportInputs struct {
	Domain string `json:"domain"` // "" if it is not known
	// Triggers and Parameters are JSON objects without insignificant whitespace, with sorted
	// fields.
	Triggers   string `json:"triggers"`
	Parameters string `json:"parameters"`
}

// goal returns what the plan requires.
func (m *staticExportModel) goal() exportGoal {
	goal := exportGoal{
		inputs:      exportInputs{Domain: m.Domain.ValueString(), Parameters: "{}"},
		known:       !m.Domain.IsUnknown() && !m.Triggers.IsUnknown() && !m.AdditionalParameters.IsUnknown(),
		renewBefore: durationOf(m.RenewBefore),
		never:       m.LinkRenewal.ValueString() == renewNever,
	}
	if text := m.AdditionalParameters.ValueString(); text != "" {
		// The value is valid: Terraform also validates values that the plan did not know.
		goal.parameters, _ = decodeParameters(text)
		canonical, _ := json.Marshal(goal.parameters) // decoded JSON, which never fails
		goal.inputs.Parameters = string(canonical)
	}
	triggers := map[string]*string{}
	for name, value := range m.Triggers.Elements() {
		text, _ := value.(types.String)
		goal.known = goal.known && !text.IsUnknown()
		triggers[name] = text.ValueStringPointer()
	}
	canonical, _ := json.Marshal(triggers) // strings, which never fail
	goal.inputs.Triggers = string(canonical)
	return goal
}
