package export

import (
	"cmp"
	"encoding/json"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Inputs determine what a job exports. Equal inputs are equal values.
type Inputs struct {
	Domain string `json:"domain"` // "" if it is not known
	// Triggers and Parameters are JSON objects without insignificant whitespace and with sorted fields.
	Triggers   string `json:"triggers"`
	Parameters string `json:"parameters"`
}

// NewInputs returns the inputs for triggers, which may be nil, and for parameters, a JSON object or "".
func NewInputs(domain string, triggers map[string]*string, parameters string) Inputs {
	if triggers == nil {
		triggers = map[string]*string{}
	}
	text, _ := json.Marshal(triggers) // strings, which never fail
	return Inputs{Domain: domain, Triggers: string(text), Parameters: canonical(parameters)}
}

// OnlyDomain reports whether there are neither triggers nor parameters.
func (in Inputs) OnlyDomain() bool { return in == NewInputs(in.Domain, nil, "") }

// SameParameters reports whether two JSON objects differ only in whitespace and the order of fields.
func SameParameters(a, b string) bool { return canonical(a) == canonical(b) }

func canonical(parameters string) string {
	text, _ := json.Marshal(decode(parameters)) // decoded JSON, which never fails
	return string(text)
}

// fields returns the fields of the parameters.
func (in Inputs) fields() map[string]any { return decode(in.Parameters) }

// decode decodes parameters that are valid.
func decode(parameters string) map[string]any {
	value, _ := client.DecodeJSON([]byte(cmp.Or(parameters, "{}")))
	object, _ := value.(map[string]any)
	return object
}
