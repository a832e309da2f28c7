package export

import (
	"cmp"
	"encoding/json"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Inputs determine what a job exports. Equal inputs are equal values.
type Inputs struct {
	Domain string // "" if it is not known
	// Triggers is a JSON object without insignificant whitespace and with sorted fields.
	Triggers string
	Request  client.StartRequest
}

// NewInputs returns the inputs for triggers, which may be nil, and for parameters, a JSON object or "".
func NewInputs(domain string, triggers map[string]*string, parameters string) (Inputs, error) {
	if triggers == nil {
		triggers = map[string]*string{}
	}
	encoded, _ := json.Marshal(triggers) // strings, which never fail
	request, err := client.NewStartRequest(domain, cmp.Or(parameters, "{}"))
	return Inputs{Domain: domain, Triggers: string(encoded), Request: request}, err
}
