package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/docs-hosting/terraform-provider-docs/api"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	text, err := closed(api.OpenAPI) // so that misspelled names in examples are errors
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if document.OpenAPI != "3.1.0" || !strings.HasSuffix(document.Servers[0].URL, "/v1") {
		t.Errorf("it is OpenAPI %s for %s", document.OpenAPI, document.Servers[0].URL)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const bundle = "/v1/static-export/jobs/se_1/bundle"
	const link = `{"bundleUrl": "https://storage.example.com/b", "expiresAt": `
	for name, test := range map[string]struct {
		request string // method, path, body, and a header that is missing
		status  int
		body    string
		want    string // part of the error; empty means none
	}{
		"a start without a key": {`POST /v1/static-export/jobs {"domain": "a"} -Authorization`, 202, `{"jobId": "se_1"}`, "there is no bearer key"},
		"a start that is not JSON": {
			`POST /v1/static-export/jobs {"domain": "a"} -Content-Type`, 202, `{"jobId": "se_1"}`, "the request: the content type is",
		},
		"a start":                  {`POST /v1/static-export/jobs {"domain": "docs.example.com", "version": 7}`, 202, `{"jobId": "se_1"}`, ""},
		"a start without a domain": {`POST /v1/static-export/jobs {"Domain": "docs.example.com"}`, 202, `{"jobId": "se_1"}`, "the request: "},
		"a job":                    {`GET /v1/static-export/jobs/se_1`, 200, `{"status": "rendering", "progress": "12 %", "pageCount": null}`, ""},
		"a job without a status":   {`GET /v1/static-export/jobs/se_1`, 200, `{"jobId": "se_1"}`, "missing property 'status'"},
		"a job with a misspelled field": {
			`GET /v1/static-export/jobs/se_1`,
			200,
			`{"status": "running", "page_count": 3}`,
			"additional properties 'page_count' not allowed",
		},
		"a job read with POST":          {`POST /v1/static-export/jobs/se_1`, 404, `{}`, "there is no such operation"},
		"a job read with a query":       {`GET /v1/static-export/jobs/se_1?wait=1`, 200, `{"status": "running"}`, "there is a query"},
		"a job with a redirect":         {`GET /v1/static-export/jobs/se_1`, 302, ``, "the status is 302"},
		"an error":                      {`GET /v1/static-export/jobs/se_1`, 404, `gone`, ""},
		"a bundle with an expiry in ms": {"POST " + bundle, 200, link + `1772367300000}`, ""},
		"an update of unknown status":   {`GET /v1/project/update-status/upd_1`, 200, `{"status": "done"}`, "'/status'"},
		"a response that is not JSON":   {`GET /v1/static-export/jobs/se_1`, 200, `completed`, "the response: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, rest, _ := strings.Cut(test.request, " ")
			path, body, _ := strings.Cut(rest, " ")
			path, query, _ := strings.Cut(path, "?")
			body, missing, _ := strings.Cut(body, " -")
			json := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sim_1"}}
			sent := json.Clone()
			sent.Del(missing)
			x := simulator.Exchange{
				Request: simulator.Request{Method: method, Path: path, Query: query, Header: sent, Body: body},
				Status:  test.status, Header: json, Body: []byte(test.body),
			}
			err := Validate(x)
			if got := fmt.Sprint(err); test.want == "" && err != nil || test.want != "" && !strings.Contains(got, test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			x.Altered = true
			if err := Validate(x); err != nil && !strings.Contains(err.Error(), "request") && !strings.Contains(err.Error(), "operation") {
				t.Errorf("an altered response is an error: %v", err)
			}
		})
	}
}

func TestSchemaOfABodyThatIsWrittenInPlaceRefusesUnknownFields(t *testing.T) {
	t.Parallel()
	text, err := closed([]byte(`{"paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema":
		{"type": "object", "properties": {"b": {"type": "array", "items": {"type": "object", "properties": {"c": {}}}}}}}}}}}}}}`))
	if got := strings.Count(string(text), `"additionalProperties":false`); got != 2 || err != nil {
		t.Errorf("%d of 2 objects refuse unknown fields, %v:\n%s", got, err, text)
	}
}
