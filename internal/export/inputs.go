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
	Domain string // "" if it is not known
	// Triggers and Request are JSON objects without insignificant whitespace and with sorted fields. Request is what
	// starts the job: the domain, and the additional parameters.
	Triggers, Request string
}

// NewInputs returns the inputs for triggers, which may be nil, and for parameters, a JSON object or "".
func NewInputs(domain string, triggers map[string]*string, parameters string) (Inputs, error) {
	if triggers == nil {
		triggers = map[string]*string{}
	}
	request, err := ParseParameters(cmp.Or(parameters, "{}"))
	if err != nil {
		return Inputs{}, err
	}
	request["domain"] = domain
	return Inputs{Domain: domain, Triggers: encode(triggers), Request: encode(request)}, nil
}

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
