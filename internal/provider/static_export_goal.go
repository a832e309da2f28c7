package provider

import (
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// exportGoal is what a plan requires of an export.
type exportGoal struct {
	inputs exportInputs
	known  bool // whether all inputs are known
	// renewBefore is how long before its expiry a link is renewed, unless it is never renewed.
	renewBefore time.Duration
	neverRenew  bool
}

// goal returns what the plan requires.
func (m *staticExportModel) goal() exportGoal {
	inputs, known := m.inputs()
	return exportGoal{inputs: inputs, known: known, renewBefore: durationOf(m.RenewBefore), neverRenew: m.LinkRenewal.ValueString() == renewNever}
}

// wants reports whether the plan requires exactly these inputs.
func (g exportGoal) wants(inputs exportInputs) bool {
	return g.known && g.inputs == inputs
}

// exportInputs are the arguments that determine what a job exports.
type exportInputs struct {
	Domain string `json:"domain"` // "" if it is not known
	// Triggers and Parameters are JSON objects without insignificant whitespace, with sorted
	// fields, so that equal ones are equal texts.
	Triggers   string `json:"triggers"`
	Parameters string `json:"parameters"`
}

// inputs returns the inputs in a plan or a state, and whether all are known.
func (m *staticExportModel) inputs() (inputs exportInputs, known bool) {
	known = !m.Domain.IsUnknown() && !m.Triggers.IsUnknown() && !m.AdditionalParameters.IsUnknown()
	triggers := map[string]*string{}
	for name, value := range m.Triggers.Elements() {
		text, _ := value.(types.String)
		known = known && !text.IsUnknown()
		triggers[name] = text.ValueStringPointer()
	}
	canonical, _ := json.Marshal(triggers) // strings, which never fail
	return exportInputs{
		Domain: m.Domain.ValueString(), Triggers: string(canonical),
		Parameters: canonicalParameters(m.AdditionalParameters.ValueString()),
	}, known
}
