package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
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

// body returns the body of the request that starts a job.
func (in Inputs) body() []byte {
	fields := decode(in.Parameters)
	fields["domain"] = in.Domain
	text, _ := json.Marshal(fields) // decoded JSON, which never fails
	return text
}

// decode decodes parameters that are valid.
func decode(parameters string) map[string]any {
	value, _ := DecodeJSON([]byte(cmp.Or(parameters, "{}")))
	object, _ := value.(map[string]any)
	return object
}

// DecodeJSON decodes one JSON value, after which nothing may follow. Numbers are [json.Number], so that they are not
// rounded.
func DecodeJSON(data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("another value follows the first one")
	}
	return value, nil
}
