// Package contract checks in tests that the requests of the client and the
// responses of the simulator keep to api/openapi.yaml.
package contract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/docs-hosting/terraform-provider-docs/api"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// Contract reports exchanges that break the contract as errors of a test.
type Contract struct{ t testing.TB }

// New returns the contract for a test.
func New(t testing.TB) Contract { return Contract{t} }

// Check checks an exchange: the request, and the response unless it is altered.
// Use it as simulator.Options.Observe.
func (c Contract) Check(x simulator.Exchange) {
	if err := Validate(x); err != nil {
		c.t.Errorf("%s %s does not match api/openapi.yaml: %v", x.Request.Method, x.Request.Path, err)
	}
}

// Validate returns how an exchange breaks the contract, including by an unknown field. The
// reason is a *jsonschema.ValidationError if a body does not match its schema.
func Validate(x simulator.Exchange) error {
	d, err := load()
	if err != nil {
		return err
	}
	r, err := http.NewRequest(x.Request.Method, x.Request.Path, nil) //nolint:noctx // is not sent
	if err != nil {
		return err
	}
	_, pattern := d.routes.Handler(r)
	op, ok := d.operations[pattern]
	if !ok || !strings.HasPrefix(pattern, x.Request.Method+" ") { // GET also routes HEAD
		return errors.New("there is no such operation")
	}
	if err := op.checkRequest(x.Request); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	if x.Altered {
		return nil
	}
	if err := op.checkResponse(x); err != nil {
		return fmt.Errorf("the response: %w", err)
	}
	return nil
}

// document is the contract, prepared for many exchanges.
type document struct {
	routes     *http.ServeMux
	operations map[string]operation // by the pattern of their route
}

// operation holds the schemas of an operation.
type operation struct {
	request   *jsonschema.Schema // nil: the request has no body
	responses map[string]*jsonschema.Schema
}

// location identifies the document. It is never fetched.
const location = "https://docs.example.com/openapi.json"

// load reads the document once. It compiles the schemas, because a test can
// make thousands of requests.
var load = sync.OnceValues(func() (*document, error) {
	parsed, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		return nil, err
	}
	// A client ignores fields that it does not know. The simulator must not
	// have any, because they are misspelled names.
	for name, schema := range parsed.Components.Schemas {
		if name != "StartRequest" {
			schema.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: new(false)}
		}
	}
	text, err := parsed.MarshalJSON()
	if err != nil {
		return nil, err
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(location, tree); err != nil {
		return nil, err
	}

	d := &document{http.NewServeMux(), map[string]operation{}}
	for path, item := range parsed.Paths.Map() {
		for method, described := range item.Operations() {
			pointer := location + "#/paths/" + strings.ReplaceAll(path, "/", "~1") + "/" + strings.ToLower(method)
			compiled := operation{responses: map[string]*jsonschema.Schema{}}
			const schema = "/content/application~1json/schema"
			if described.RequestBody != nil {
				compiled.request = compiler.MustCompile(pointer + "/requestBody" + schema)
			}
			for status, response := range described.Responses.Map() {
				if response.Ref == "" { // the errors, which are open, are a reference
					compiled.responses[status] = compiler.MustCompile(pointer + "/responses/" + status + schema)
				}
			}
			pattern := method + " /v1" + path
			d.routes.Handle(pattern, http.NotFoundHandler())
			d.operations[pattern] = compiled
		}
	}
	return d, nil
})

func (o operation) checkRequest(r simulator.Request) error {
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); !ok || key == "" {
		return errors.New("there is no bearer key")
	}
	if r.Query != "" {
		return errors.New("there is a query")
	}
	if o.request != nil {
		return checkBody(o.request, r.Header, []byte(r.Body))
	}
	if r.Body != "" {
		return errors.New("there is a body")
	}
	return nil
}

func (o operation) checkResponse(x simulator.Exchange) error {
	if schema := cmp.Or(o.responses[fmt.Sprint(x.Status)], o.responses[fmt.Sprintf("%dXX", x.Status/100)]); schema != nil {
		return checkBody(schema, x.Header, x.Body)
	}
	if x.Status < http.StatusBadRequest { // only errors are open
		return fmt.Errorf("the status is %d", x.Status)
	}
	return nil
}

func checkBody(schema *jsonschema.Schema, header http.Header, body []byte) error {
	if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("the content type is %q", header.Get("Content-Type"))
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
