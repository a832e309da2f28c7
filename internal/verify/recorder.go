// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// The operations of api/openapi.yaml.
const (
	getUpdate = "GET /project/update-status/{id}"
	startJob  = "POST /static-export/jobs"
	getJob    = "GET /static-export/jobs/{id}"
	getLink   = "POST /static-export/jobs/{id}/bundle"
)

// exchange is a response of the service. It holds nothing of the request, which has the
// API key.
type exchange struct {
	step      string
	operation string
	at        time.Time
	status    int // 0 if there was no complete response
	header    http.Header
	body      any      // decoded JSON, nil if the body is not JSON
	unknown   []string // fields that the contract does not have
	broken    []string // what violates the contract
}

// kind returns the status and the content type.
func (x exchange) kind() string {
	if x.status == 0 {
		return "no response"
	}
	mediaType, _, _ := mime.ParseMediaType(x.header.Get("Content-Type"))
	return fmt.Sprintf("%d, %s", x.status, cmp.Or(mediaType, "no content type"))
}

// describe adds the shape of the body.
func (x exchange) describe() string {
	if x.body == nil {
		return x.kind()
	}
	return x.kind() + ", `" + shape(x.body) + "`"
}

// field returns the values of a field in the successful responses that have it.
func field(exchanges []exchange, name string) (values []any) {
	for _, x := range exchanges {
		if object, isObject := x.body.(map[string]any); isObject && x.status/100 == 2 && object[name] != nil {
			values = append(values, object[name])
		}
	}
	return values
}

// recorder is a reverse proxy on a loopback address. It records the responses of the
// service, and checks each exchange against the contract.
type recorder struct {
	*httptest.Server
	service *url.URL
	clock   clock.Clock

	mu        sync.Mutex
	step      string // that is running
	exchanges []exchange
}

func newRecorder(service *url.URL, c clock.Clock) *recorder {
	r := &recorder{service: service, clock: c}
	r.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = service.Scheme, service.Host, ""
			p.Out.Header.Del("Accept-Encoding") // so that the body is not compressed
		},
		Transport:    r,
		ErrorLog:     log.New(io.Discard, "", 0),
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	return r
}

// RoundTrip sends a request to the service and records the response.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := copyBody(&req.Body)
	if err != nil {
		return nil, err
	}
	path := strings.TrimPrefix(req.URL.EscapedPath(), r.service.EscapedPath())
	x := exchange{operation: req.Method + " " + idInPath.ReplaceAllString(path, "$1/{id}"), at: r.clock.Now(), broken: []string{"there is no complete response"}}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		x.step = r.step
		r.exchanges = append(r.exchanges, x)
	}()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := copyBody(&resp.Body)
	if err != nil {
		return nil, err
	}
	x.status, x.header = resp.StatusCode, resp.Header.Clone()
	x.body, _ = jsonschema.UnmarshalJSON(bytes.NewReader(body)) // nil if it is not JSON
	x.unknown, x.broken = violations(contract.Validate(simulator.Exchange{
		Request: simulator.Request{Method: req.Method, Path: "/v1" + path, Query: req.URL.RawQuery, Header: req.Header, Body: string(sent)},
		Status:  resp.StatusCode, Header: resp.Header, Body: body,
	}))
	return resp, nil
}

// copyBody reads a body, and leaves a copy of it to read again.
func copyBody(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	content, err := io.ReadAll(*body)
	_ = (*body).Close()
	*body = io.NopCloser(bytes.NewReader(content))
	return content, err
}

// begin names the step that the next exchanges belong to.
func (r *recorder) begin(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step = step
}

// of returns the exchanges of a step and an operation. An empty string matches all.
func (r *recorder) of(step, operation string) (found []exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.exchanges {
		if (step == "" || x.step == step) && (operation == "" || x.operation == operation) {
			found = append(found, x)
		}
	}
	return found
}

// last returns the last exchange of a step; it has no status if there is none.
func (r *recorder) last(step string) (last exchange) {
	for _, x := range r.of(step, "") {
		last = x
	}
	return last
}

var (
	idInPath = regexp.MustCompile(`(jobs|update-status)/[^/]+`)
	quoted   = regexp.MustCompile(`".*"`)
)

// violations splits the error of a check into fields that the contract does not have,
// which it allows, and violations. It quotes no values.
func violations(err error) (unknown, broken []string) {
	if err == nil {
		return nil, nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return nil, []string{quoted.ReplaceAllString(err.Error(), "(hidden)")}
	}
	for _, cause := range invalid.Causes {
		fields, rules := violations(cause)
		unknown, broken = append(unknown, fields...), append(broken, rules...)
	}
	prefix := strings.Join(append(invalid.InstanceLocation, ""), ".")
	switch k := invalid.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			unknown = append(unknown, prefix+fieldName(name))
		}
	case *kind.Required:
		for _, name := range k.Missing {
			broken = append(broken, prefix+name+" is missing")
		}
	default:
		if len(invalid.Causes) == 0 { // the others only group their causes
			broken = append(broken, fmt.Sprintf("%s breaks the rule `%s`", strings.TrimSuffix(prefix, "."), strings.Join(k.KeywordPath(), ".")))
		}
	}
	return unknown, broken
}
