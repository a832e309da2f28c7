package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
)

// response returns the error of a response without a message.
func response(method, path string, status int) *client.Error {
	reasons := map[int]client.Reason{
		403: client.ReasonForbidden, 404: client.ReasonNotFound, 409: client.ReasonConflict, 503: client.ReasonUnavailable,
	}
	return &client.Error{
		Text:   fmt.Sprintf("the service returned HTTP %d %s for %s %s, without a message", status, http.StatusText(status), method, path),
		Reason: reasons[status], MayHaveActed: status == 409 || status == 503,
	}
}

// exchange is what happens to a request.
type exchange struct {
	status int
	body   string
	header string // its value: Retry-After, or Location of a redirect
	err    error
}

// answering is a network in which requests meet exchanges in turn. It begins again after the last one.
type answering struct {
	exchanges []exchange
	requests  int
	then      func() // called after each request; may be nil
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/bundle") {
		return &http.Response{StatusCode: 200, Request: r, Body: io.NopCloser(strings.NewReader(`{"bundleUrl":"https://storage.example.com/b"}`))}, nil
	}
	e := a.exchanges[a.requests%len(a.exchanges)]
	a.requests++
	if a.then != nil {
		a.then()
	}
	if e.err != nil {
		return nil, e.err
	}
	header := http.Header{"X-Request-Id": {"req_1"}}
	if e.header != "" {
		header[map[bool]string{true: "Location", false: "Retry-After"}[e.status/100 == 3]] = []string{e.header}
	}
	return &http.Response{StatusCode: e.status, Request: r, Header: header, Body: io.NopCloser(strings.NewReader(e.body))}, nil
}

// nowhere is what a download is written to.
type nowhere struct{ io.Writer }

func (nowhere) Restart() error { return nil }

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	untrusted := &tls.CertificateVerificationError{Err: errors.New("x509: certificate signed by unknown authority")}
	certificate := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	const page, xml = "<title>Log in</title>", "<Error><Code>AccessDenied</Code></Error>"
	texts, explained := map[string]string{}, map[client.Reason]bool{client.ReasonNone: true}
	record := func(name string, err error) {
		text := explain(err)
		texts[name], explained[client.ReasonOf(err)] = text.what+"\n"+text.advice, true
	}
	for name, test := range map[string]struct {
		exchanges []exchange
		ends      string // how: "timeout", or "interrupt"
	}{
		"rejected":                            {[]exchange{{status: 400, body: `{"error":"no such theme."}`}}, ""},
		"unauthorized":                        {[]exchange{{status: 401}}, ""},
		"forbidden":                           {[]exchange{{status: 403}}, ""},
		"not found":                           {[]exchange{{status: 404}}, ""},
		"conflict":                            {[]exchange{{status: 409}}, ""},
		"too large":                           {[]exchange{{status: 413}}, ""},
		"unavailable":                         {[]exchange{{status: 503, header: "90"}}, ""},
		"redirect":                            {[]exchange{{status: 308, header: "https://new.example.com/v1"}}, ""},
		"web page":                            {[]exchange{{status: 404, body: page}}, ""},
		"login page":                          {[]exchange{{status: 200, body: page}}, ""},
		"network that requires signing in":    {[]exchange{{status: 511}}, ""},
		"no contract":                         {[]exchange{{status: 200, body: "{}"}}, ""},
		"proxy":                               {[]exchange{{status: 407}}, ""},
		"certificate":                         {[]exchange{{err: untrusted}}, ""},
		"client certificate":                  {[]exchange{{err: certificate}}, ""},
		"plain http":                          {[]exchange{{err: http.ErrSchemeMismatch}}, ""},
		"no connection":                       {[]exchange{{err: refused}}, ""},
		"store, no connection":                {[]exchange{{err: refused}}, ""},
		"store, web page":                     {[]exchange{{status: 200, body: page}}, ""},
		"store, refusal":                      {[]exchange{{status: 403, body: xml}}, ""},
		"several ways":                        {[]exchange{{status: 502}, {status: 404}}, ""},
		"wait for longer than the timeout":    {[]exchange{{status: 429, header: "720000"}}, ""},
		"timeout":                             {[]exchange{{err: context.DeadlineExceeded}}, "timeout"},
		"timeout while the rate is limited":   {[]exchange{{status: 429}}, "timeout"},
		"interrupt":                           {[]exchange{{err: context.Canceled}}, "interrupt"},
		"interrupt while the service is down": {[]exchange{{status: 502}}, "interrupt"},
	} {
		clock := clocktest.NewVirtual(startOfTime)
		ctx, cancel := clock.WithTimeout(t.Context(), time.Hour, &timeoutError{time.Hour, "read"})
		network := &answering{exchanges: test.exchanges}
		switch test.ends {
		case "timeout":
			network.then = func() { clock.Advance(time.Hour) }
		case "interrupt":
			network.then = cancel
		}
		c, err := client.New(client.Config{
			BaseURL: "https://docs.example.com/v1", APIKey: "key_0123456789", Clock: clock, RoundTripper: network, Random: func() float64 { return 0 },
		})
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "store") {
			err = c.DownloadBundle(ctx, "se_1", nowhere{io.Discard})
		} else {
			_, err = c.GetStaticExportJob(ctx, "se_1")
		}
		cancel()
		record(name, err)
	}
	record("proxy, refused host", &client.Error{
		Reason: client.ReasonProxyRefused, Text: "the request GET /v1/a to docs.test failed: the proxy did not connect to it: HTTP 403 Forbidden",
	})
	record("anything else", errors.New("disk full"))
	record("interrupt of something else", context.Canceled)
	wantTexts(t, "explanations.txt", texts)
	for reason := range client.ReasonOutage + 1 {
		if !explained[reason] || advice[reason] == "" && reason != client.ReasonNone {
			t.Errorf("the reason %d is not explained", reason)
		}
	}
}
