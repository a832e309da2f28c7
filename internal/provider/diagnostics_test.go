package provider

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	api := func(status int) *client.APIError {
		e := &client.APIError{}
		e.Method, e.Path, e.StatusCode, e.RequestID = "GET", "/v1/a", status, "req_1"
		return e
	}
	refused, slowDown, moved, page := api(400), api(429), api(308), api(404)
	refused.Message = "no such theme."
	slowDown.RetryAfter = 90 * time.Second
	moved.Redirect = "https://new.example.com/v1"
	page.Page = true
	proxied := api(403)
	proxied.Page = true
	login := &client.UnexpectedResponseError{Exchange: api(200).Exchange, NotJSON: true, Problem: "the body is a web page", Message: "Log in"}
	broken := &client.UnexpectedResponseError{Exchange: api(200).Exchange, Problem: "the response has no field \"status\""}
	lost := &client.ConnectionError{Method: "GET", Path: "/v1/a", Host: "docs.example.com", Reason: "EOF"}
	busy, mixed, timeout := errors.New("busy"), errors.New("consecutive requests failed for different reasons"), &timeoutError{90 * time.Second, "read"}
	store := func(status int, message, problem string) error {
		return &client.StorageError{Host: "storage.example.com", StatusCode: status, Message: message, Problem: problem}
	}
	errs := map[string]error{
		"refusal": refused, "rate limit": slowDown, "redirect": moved, "web page": page, "login page": login, "no contract": broken, "timeout": timeout,
		"web page that refuses": proxied, "no connection": lost, "anything else": errors.New("disk full"),
		"wait for longer than the timeout":          &client.GaveUpError{Cause: busy, Last: api(502), RetryAt: startOfTime},
		"timeout while the service limits the rate": &client.GaveUpError{Cause: timeout, Last: api(429)},
		"timeout while the network fails":           &client.GaveUpError{Cause: timeout, Last: lost},
		"repeated request":                          &client.GaveUpError{Cause: lost, Last: lost, Attempts: 44, Elapsed: 5 * time.Minute},
		"several ways":                              &client.GaveUpError{Cause: mixed, Outage: true, Last: api(502), Attempts: 30, Elapsed: time.Minute},
		"interrupt after one attempt":               &client.GaveUpError{Cause: context.Canceled, Last: api(502), Attempts: 1},
		"store, signature":                          store(400, "SignatureDoesNotMatch", ""),
		"store, refusal":                            store(403, "AccessDenied", ""),
		"store, web page":                           store(200, "", "a web page instead of the bundle"),
		"store, redirect":                           store(302, "", ""),
		"store, outage":                             store(503, "", ""),
		"proxy":                                     &client.ConnectionError{Reason: "refused", ProxyStatus: 407},
		"certificate":                               &client.ConnectionError{Reason: "unknown authority", Untrusted: true},
		"plain http":                                &client.ConnectionError{Reason: "not TLS", PlainHTTP: true},
		"store, no connection":                      &client.ConnectionError{Host: "storage.example.com", Storage: true, Reason: "EOF"},
	}
	for _, status := range []int{401, 402, 403, 404, 407, 408, 409, 410, 413, 418, 422, 425, 500, 501, 503} {
		errs[fmt.Sprint(status)] = api(status)
	}
	texts := map[string]string{}
	for name, err := range errs {
		text := explain(err)
		texts[name] = text.what + "\n" + text.advice
	}
	wantTexts(t, "explanations.txt", texts)
}

func TestErrorSaysWhatHappenedWhatHoldsAndWhatToDo(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	addError(&diags, "Could not do it", errors.New("it failed"), "", "")
	addError(&diags, "Could not do it", &timeoutError{limit: time.Minute}, "Nothing was done.", "Do it by hand.")
	for i, want := range []string{"It failed.", "The operation did not finish within 1m.\n\nNothing was done.\n\nTry again later. Do it by hand."} {
		if got := diags[i].Detail(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
