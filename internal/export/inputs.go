package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Inputs determine what a job exports. Equal inputs are equal values.
type Inputs struct {
	Domain string `json:"domain"` // "" if it is not known
	// Triggers and Body are JSON objects without insignificant whitespace and with sorted fields. Body is that of the
	// request that starts the job (startStaticExport): the parameters and the domain.
	Triggers string `json:"triggers"`
	Body     string `json:"body"`
}

// NewInputs returns the inputs for triggers, which may be nil, and for parameters, which are "" or pass
// [ParseParameters].
func NewInputs(domain string, triggers map[string]*string, parameters string) Inputs {
	if triggers == nil {
		triggers = map[string]*string{}
	}
	body, err := ParseParameters(cmp.Or(parameters, "{}"))
	if err != nil { // it was refused before
		body = map[string]any{}
	}
	body["domain"] = domain
	return Inputs{Domain: domain, Triggers: encode(triggers), Body: encode(body)}
}

// OnlyDomain reports whether there are neither triggers nor parameters.
func (in Inputs) OnlyDomain() bool { return in == NewInputs(in.Domain, nil, "") }

// ParseParameters parses parameters, a JSON object. Numbers are [json.Number], so that they are not rounded.
func ParseParameters(text string) (parameters map[string]any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&parameters); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF || parameters == nil {
		return nil, errors.New("not one JSON object")
	}
	return parameters, nil
}

func encode(value any) string {
	text, _ := json.Marshal(value) // strings and decoded JSON, which never fail
	return string(text)
}
