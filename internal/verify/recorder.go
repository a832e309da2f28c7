// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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
	getUpdate = "getUpdateStatus"
	startJob  = "startStaticExport"
	getJob    = "getStaticExportJob"
	getLink   = "generateBundle"
)

// exchange is a response of the service. It holds nothing of the request, which has the
// API key.
type exchange struct {
	step      string
	operation string
	at        time.Time
	status    int // 0 if there was no complete response
	header    http.Header
	mediaType string
	body      any      // decoded JSON, nil if the body is not JSON
	unknown   []string // fields that the contract does not have
	broken    []string // what violates the contract
}

func (x exchange) refused() bool { return x.status/100 == 4 }

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
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	path := strings.TrimPrefix(req.URL.EscapedPath(), r.service.EscapedPath())
	x := exchange{operation: operation(req.Method, path), at: r.clock.Now(), broken: []string{"there is no complete response"}}
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
	body, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))

	x.status, x.header = resp.StatusCode, resp.Header.Clone()
	x.mediaType, _, _ = mime.ParseMediaType(resp.Header.Get("Content-Type"))
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&x.body) != nil {
		x.body = nil
	}
	x.unknown, x.broken = violations(contract.Validate(simulator.Exchange{
		Request: simulator.Request{Method: req.Method, Path: "/v1" + path, Query: req.URL.RawQuery, Header: req.Header, Body: string(sent)},
		Status:  resp.StatusCode, Header: resp.Header, Body: body,
	}))
	return resp, nil
}

// begin names the step that the next exchanges belong to.
func (r *recorder) begin(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step = step
}

// of returns the exchanges of a step and an operation; an empty string matches all.
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

// operation returns the operation of a request to a path below the base URL.
func operation(method, path string) string {
	switch n := strings.Count(path, "/"); {
	case strings.HasPrefix(path, "/project/"):
		return getUpdate
	case method == http.MethodPost && n == 2:
		return startJob
	case method == http.MethodPost:
		return getLink
	}
	return getJob
}

// violations splits the error of a check into fields that the contract does not have,
// which it allows, and violations. It quotes no values.
func violations(err error) (unknown, broken []string) {
	if err == nil {
		return nil, nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		text, _, quotes := strings.Cut(err.Error(), ` "`)
		return nil, []string{text + when(quotes, " something else")}
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
	case *kind.Type:
		broken = append(broken, strings.TrimSuffix(prefix, ".")+" is "+k.Got+", not "+strings.Join(k.Want, " or "))
	default:
		if len(invalid.Causes) == 0 { // the others only group their causes
			broken = append(broken, strings.TrimSuffix(prefix, ".")+" breaks the rule `"+strings.Join(k.KeywordPath(), ".")+"`")
		}
	}
	return unknown, broken
}
