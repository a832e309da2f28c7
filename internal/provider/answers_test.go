package provider

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// answers are what happens to the requests of each endpoint: "start", "job", "bundle", "update", or "store". Without an
// answer, all is well. An answer is a body; a status, which a header or a body may follow; "lost" or "unsent", for a
// connection that is; or an error of the connection. Before it, "interrupt" or "timeout" ends the operation. Two with
// "then" between them take turns. Anything else panics.
type answers map[string]any

const (
	running = `{"status":"running","progress":40.5,"pageCount":3}`
	broken  = `{"status":"failed","error":"page /a is broken"}`
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// network returns a network with these answers. interrupt and timeout are what ends an operation.
func (a answers) network(interrupt, timeout func()) http.RoundTripper {
	for endpoint := range a {
		if !slices.Contains([]string{"start", "job", "bundle", "update", "store"}, endpoint) {
			panic("there is no endpoint " + endpoint)
		}
	}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		endpoint, body := "job", `{"status":"completed"}`
		switch {
		case req.URL.Host == "storage.example":
			endpoint = "store"
		case strings.HasSuffix(req.URL.Path, "/bundle"):
			endpoint, body = "bundle", `{"bundleUrl":"https://storage.example/a"}`
		case strings.Contains(req.URL.Path, "/update-status/"):
			endpoint = "update"
		case req.Method == http.MethodPost:
			endpoint, body = "start", `{"jobId":"se_2"}`
		}
		if err, ok := a[endpoint].(error); ok {
			return nil, err
		}
		text, _ := a[endpoint].(string)
		if first, second, ok := strings.Cut(text, " then "); ok {
			text, a[endpoint] = first, second+" then "+first
		}
		var end func()
		if word, rest, _ := strings.Cut(text, " "); word == "interrupt" {
			end, text = interrupt, rest
		} else if word == "timeout" {
			end, text = timeout, rest
		}
		if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && text != "unsent" {
			trace.GotConn(httptrace.GotConnInfo{})
		}
		if end != nil {
			end()
		}
		switch {
		case text == "unsent" && end != nil:
			<-req.Context().Done()
			return nil, req.Context().Err()
		case text == "unsent":
			return nil, errors.New("the connection was refused")
		}
		if text == "lost" {
			return nil, errors.New("the connection was closed")
		}
		resp := &http.Response{StatusCode: http.StatusOK, Request: req, Header: http.Header{}, ContentLength: -1}
		status, rest, _ := strings.Cut(text, " ")
		if code, err := strconv.Atoi(status); err == nil {
			resp.StatusCode, body = code, rest
			if name, value, ok := strings.Cut(rest, ": "); ok {
				resp.Header.Set(name, value)
				body = ""
			}
		} else if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "<") {
			body = text
		} else if text != "" {
			panic("there is no answer " + text)
		}
		resp.Body = io.NopCloser(strings.NewReader(body))
		return resp, nil
	})
}

// operation returns an operation of a service that gives these answers, and its clock. A timeout takes an hour.
func (a answers) operation(t *testing.T, interrupt func()) (*client.Operation, *clocktest.Virtual) {
	t.Helper()
	clock := clocktest.NewVirtual(startOfTime)
	c, err := client.New(client.Config{
		BaseURL: "https://docs.test/v1", APIKey: simulator.DefaultAPIKey, Clock: clock, Random: func() float64 { return 0 },
		RoundTripper: a.network(interrupt, func() { clock.Advance(time.Hour) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.Begin(), clock
}
