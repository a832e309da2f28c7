// Package contract checks in tests that the requests of the client and the
// responses of the simulator keep to api/openapi.yaml.
package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
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

// Listen serves a simulated service until the test ends, and checks its exchanges.
func Listen(t testing.TB, options simulator.Options) *simulator.Server {
	t.Helper()
	options.Observe = New(t).Check
	service, err := simulator.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = service.Close() })
	return service
}

// Unused returns the operations for which there is no request, by their operationId.
func Unused(requests []simulator.Request) ([]string, error) {
	d, err := load()
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, request := range requests {
		used[d.operationOf(request).id] = true
	}
	var unused []string
	for _, op := range d.operations {
		if !used[op.id] {
			unused = append(unused, op.id)
		}
	}
	return unused, nil
}

// Validate returns how an exchange breaks the contract, including by an unknown field. The
// reason is a *jsonschema.ValidationError if a body does not match its schema.
func Validate(x simulator.Exchange) error {
	d, err := load()
	if err != nil {
		return err
	}
	op := d.operationOf(x.Request)
	if op.id == "" {
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

// operation is an operation of the contract, with its schemas.
type operation struct {
	id        string             // its operationId
	request   *jsonschema.Schema // nil: the request has no body
	responses map[string]*jsonschema.Schema
}

// location identifies the document. It is never fetched.
const location = "https://docs.example.com/openapi.json"

// load reads the document once. It compiles the schemas, because a test can
// make thousands of requests.
var load = sync.OnceValues(func() (*document, error) {
	text, err := closed(api.OpenAPI)
	if err != nil {
		return nil, err
	}
	parsed, err := openapi3.NewLoader().LoadFromData(text)
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
			compiled := operation{id: described.OperationID, responses: map[string]*jsonschema.Schema{}}
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

// closed returns the document as JSON, in which each schema with properties refuses every other field. A client ignores
// fields that it does not know, and a service may accept fields that the contract leaves open. Here, they are
// misspelled names.
func closed(document []byte) ([]byte, error) {
	parsed, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, err
	}
	text, err := parsed.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	refuseOthers(tree)
	return json.Marshal(tree)
}

func refuseOthers(tree any) {
	switch tree := tree.(type) {
	case []any:
		for _, item := range tree {
			refuseOthers(item)
		}
	case map[string]any:
		for _, field := range tree {
			refuseOthers(field)
		}
		if tree["properties"] != nil {
			tree["additionalProperties"] = false
		}
	}
}

// operationOf returns the operation that a request is for; it has no ID if there is none.
func (d *document) operationOf(r simulator.Request) operation {
	request, err := http.NewRequest(r.Method, r.Path, nil) //nolint:noctx // is not sent
	if err != nil {
		return operation{}
	}
	_, pattern := d.routes.Handler(request)
	if !strings.HasPrefix(pattern, r.Method+" ") { // GET also routes HEAD
		return operation{}
	}
	return d.operations[pattern]
}

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
