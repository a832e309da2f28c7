package provider

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// nowhere is what a download is written to.
type nowhere struct{ io.Writer }

func (nowhere) Restart() error { return nil }

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	untrusted := &tls.CertificateVerificationError{Err: errors.New("x509: certificate signed by unknown authority")}
	certificate := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	texts, explained := map[string]string{}, map[client.Reason]bool{client.ReasonNone: true}
	record := func(name string, err error) {
		text := explain(err)
		texts[name], explained[client.ReasonOf(err)] = text.what+"\n"+text.advice, true
	}
	for name, answer := range map[string]any{ // of the store, if the name says so
		"rejected":                            `400 {"error":"no such theme."}`,
		"commands to a CI runner":             "400 ::add-mask::e\n  ##[error]run Terraform again",
		"unauthorized":                        "401",
		"forbidden":                           "403",
		"not found":                           "404",
		"conflict":                            "409",
		"too large":                           "413",
		"unavailable":                         "500",
		"overloaded":                          "503 Retry-After: 90",
		"redirect":                            "308 Location: https://new.example.com/v1",
		"redirect to itself":                  "302 Location: /v1/static-export/jobs/se_1",
		"web filter":                          "403 <title>Access denied by the web filter</title>",
		"web page":                            "404 <title>Log in</title>",
		"login page":                          "<title>Log in</title>",
		"network that requires signing in":    "511",
		"no contract":                         "{}",
		"proxy":                               "407",
		"certificate":                         untrusted,
		"client certificate":                  certificate,
		"plain http":                          http.ErrSchemeMismatch,
		"no connection":                       refused,
		"store, no connection":                refused,
		"store, web page":                     "<title>Log in</title>",
		"store, refusal":                      "403 <Error><Code>AccessDenied</Code></Error>",
		"several ways":                        "502 then 404",
		"wait for longer than the timeout":    "429 Retry-After: 720000",
		"timeout":                             "timeout unsent",
		"timeout while the rate is limited":   "timeout 429",
		"interrupt":                           "interrupt lost",
		"interrupt while the service is down": "interrupt 502",
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		c, clock := answers{"job": answer, "store": answer}.operation(t, interrupt)
		ctx, cancel := clock.WithTimeout(ctx, time.Hour, &timeoutError{time.Hour, "read"})
		_, err := c.GetStaticExportJob(ctx, "se_1")
		if strings.HasPrefix(name, "store") {
			err = c.DownloadBundle(ctx, "se_1", nowhere{io.Discard})
		}
		record(name, err)
		cancel()
		interrupt()
	}
	record("proxy, refused host", &client.Error{
		Reason: client.ReasonProxyRefused, Text: "the request GET /v1/a to docs.test failed: the proxy did not connect to it: HTTP 403 Forbidden",
	})
	record("too slow", &client.Error{
		Reason: client.ReasonTooSlow, Text: "the request GET /v1/a to docs.test failed: no complete response within the request timeout",
	})
	record("anything else", errors.New("disk full"))
	record("interrupt of something else", context.Canceled)
	wantTexts(t, "explanations.txt", texts)
	for reason := range client.ReasonCount {
		if advice[reason] == "" && reason != client.ReasonNone {
			t.Errorf("no advice for constant %d of the reasons in internal/client/reasons.go: add it to the map advice in diagnostics.go", reason)
		}
		if !explained[reason] {
			t.Errorf("no row in this test fails for constant %d of the reasons in internal/client/reasons.go: add one", reason)
		}
	}
}
