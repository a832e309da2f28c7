// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package contract

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/docs-hosting/terraform-provider-docs/api"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Update", "Job", "Bundle"} { // so that misspelled names in examples are errors
		document.Components.Schemas[name].Value.AdditionalProperties = openapi3.AdditionalProperties{Has: new(false)}
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if document.OpenAPI != "3.1.0" || !strings.HasSuffix(document.Servers[0].URL, "/v1") {
		t.Errorf("it is OpenAPI %s for %s", document.OpenAPI, document.Servers[0].URL)
	}
	var operations []string
	for _, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			operations = append(operations, operation.OperationID)
		}
	}
	slices.Sort(operations)
	if want := []string{"generateBundle", "getStaticExportJob", "getUpdateStatus", "startStaticExport"}; !slices.Equal(operations, want) {
		t.Errorf("the operations are %v, want %v", operations, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const bundle = "/v1/static-export/jobs/se_1/bundle"
	const link = `{"bundleUrl": "https://storage.example.com/b", "expiresAt": `
	for name, test := range map[string]struct {
		request string // method, path and body
		status  int
		answer  string
		want    string // part of the error; empty means none
	}{
		"a start":                         {`POST /v1/static-export/jobs {"domain": "docs.example.com", "locale": "de"}`, 202, `{"jobId": "se_1"}`, ""},
		"a start answered with 201":       {`POST /v1/static-export/jobs {"domain": "docs.example.com"}`, 201, `{"jobId": "se_1", "status": "queued"}`, ""},
		"a start without a domain":        {`POST /v1/static-export/jobs {"Domain": "docs.example.com"}`, 202, `{"jobId": "se_1"}`, "the request: "},
		"a start without a body":          {`POST /v1/static-export/jobs`, 202, `{"jobId": "se_1"}`, "the request: "},
		"a start answered without an ID":  {`POST /v1/static-export/jobs {"domain": "docs.example.com"}`, 202, `{"status": "queued"}`, "missing property 'jobId'"},
		"a job":                           {`GET /v1/static-export/jobs/se_1`, 200, `{"status": "rendering", "progress": "12 %", "pageCount": null}`, ""},
		"a job with an ID of two parts":   {`GET /v1/static-export/jobs/a%2Fb`, 200, `{"status": "completed"}`, ""},
		"a job without a status":          {`GET /v1/static-export/jobs/se_1`, 200, `{"jobId": "se_1"}`, "missing property 'status'"},
		"a job with a misspelled member":  {`GET /v1/static-export/jobs/se_1`, 200, `{"status": "running", "page_count": 3}`, "additional properties 'page_count' not allowed"},
		"a job read with POST":            {`POST /v1/static-export/jobs/se_1`, 404, `{}`, "there is no such operation"},
		"a job read with HEAD":            {`HEAD /v1/static-export/jobs/se_1`, 200, ``, "there is no such operation"},
		"a job read with a body":          {`GET /v1/static-export/jobs/se_1 {}`, 200, `{"status": "running"}`, "there is a body"},
		"a job read with a query":         {`GET /v1/static-export/jobs/se_1?wait=1`, 200, `{"status": "running"}`, "there is a query"},
		"a job answered with a redirect":  {`GET /v1/static-export/jobs/se_1`, 302, ``, "the status is 302"},
		"an error":                        {`GET /v1/static-export/jobs/se_1`, 404, `gone`, ""},
		"a path that does not exist":      {`GET /v1/static-export/job/se_1`, 404, `{}`, "there is no such operation"},
		"a bundle":                        {"POST " + bundle, 200, link + `"2026-03-01T12:16:30Z"}`, ""},
		"a bundle with an expiry in ms":   {"POST " + bundle, 200, link + `1772367300000}`, ""},
		"a bundle without an expiry":      {"POST " + bundle, 200, `{"bundleUrl": "https://storage.example.com/b"}`, "missing property 'expiresAt'"},
		"an update":                       {`GET /v1/project/update-status/upd_1`, 200, `{"status": "success", "author": null}`, ""},
		"an update of unknown status":     {`GET /v1/project/update-status/upd_1`, 200, `{"status": "done"}`, "'/status'"},
		"an update of a misspelled field": {`GET /v1/project/update-status/upd_1`, 200, `{"commit": {"filesChanged": {"deleted": []}}}`, "additional properties 'deleted' not allowed"},
		"an update of a local date":       {`GET /v1/project/update-status/upd_1`, 200, `{"createdAt": "yesterday"}`, "'/createdAt'"},
		"an update answered with 201":     {`GET /v1/project/update-status/upd_1`, 201, `{}`, "the status is 201"},
		"an answer that is not JSON":      {`GET /v1/static-export/jobs/se_1`, 200, `completed`, "the answer: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, rest, _ := strings.Cut(test.request, " ")
			path, body, _ := strings.Cut(rest, " ")
			path, query, _ := strings.Cut(path, "?")
			json := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sim_1"}}
			x := simulator.Exchange{
				Request: simulator.Request{Method: method, Path: path, Query: query, Header: json, Body: body},
				Status:  test.status, Header: json, Body: []byte(test.answer),
			}
			err := New(t).document.check(x)
			if got := fmt.Sprint(err); test.want == "" && err != nil || test.want != "" && !strings.Contains(got, test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			x.Altered = true
			if err := New(t).document.check(x); err != nil && !strings.Contains(err.Error(), "request") && !strings.Contains(err.Error(), "operation") {
				t.Errorf("an altered answer is an error: %v", err)
			}
		})
	}
}

func TestCheckWantsAKeyAndAContentType(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]http.Header{
		"no key":          {"Content-Type": {"application/json"}},
		"an empty key":    {"Content-Type": {"application/json"}, "Authorization": {"Bearer "}},
		"another scheme":  {"Content-Type": {"application/json"}, "Authorization": {"Basic sim_1"}},
		"no content type": {"Authorization": {"Bearer sim_1"}},
		"a form":          {"Content-Type": {"application/x-www-form-urlencoded"}, "Authorization": {"Bearer sim_1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := simulator.Request{Method: "POST", Path: "/v1/static-export/jobs", Body: `{"domain": "a"}`, Header: header}
			if err := New(t).document.check(simulator.Exchange{Request: request, Altered: true}); err == nil {
				t.Error("there is no error")
			}
		})
	}
}

// failures counts errors in place of a test.
type failures struct {
	testing.TB
	count int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.count++ }

func TestViolationsFailTheTestOfASimulator(t *testing.T) {
	t.Parallel()
	observed := &failures{TB: t}
	service := simulator.New(simulator.Options{Observe: New(observed).Check})
	call := func(method, path string) {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Authorization", "Bearer "+simulator.DefaultAPIKey)
		service.ServeHTTP(httptest.NewRecorder(), r)
	}
	id := service.AddUpdate(simulator.UpdateSpec{})
	call("GET", "/v1/project/update-status/"+id)
	call("GET", "/elsewhere")
	if observed.count != 0 {
		t.Errorf("%d violations in correct exchanges", observed.count)
	}
	call("PUT", "/v1/project/update-status/"+id)
	if observed.count != 1 {
		t.Errorf("%d violations in one wrong exchange", observed.count)
	}
}

func BenchmarkCheck(b *testing.B) {
	var x simulator.Exchange
	service := simulator.New(simulator.Options{Observe: func(observed simulator.Exchange) { x = observed }})
	r := httptest.NewRequest("GET", "/v1/project/update-status/"+service.AddUpdate(simulator.UpdateSpec{}), nil)
	r.Header.Set("Authorization", "Bearer "+simulator.DefaultAPIKey)
	service.ServeHTTP(httptest.NewRecorder(), r)
	contract := New(b)
	for b.Loop() {
		contract.Check(x)
	}
}
