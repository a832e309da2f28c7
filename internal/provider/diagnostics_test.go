package provider

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	api := func(status int) *client.APIError {
		e := &client.APIError{}
		e.Method, e.Path, e.StatusCode, e.RequestID = "GET", "/v1/a", status, "req_1"
		return e
	}
	rejected, slowDown, moved, page := api(400), api(429), api(308), api(404)
	rejected.Message = "no such theme."
	slowDown.RetryAfter = 90 * time.Second
	moved.Redirect = "https://new.example.com/v1"
	page.Page = true
	login := &client.UnexpectedResponseError{Exchange: api(200).Exchange, NotJSON: true, Problem: "the body is a web page", Message: "Log in"}
	broken := &client.UnexpectedResponseError{Exchange: api(200).Exchange, Problem: "the response has no field \"status\""}
	lost := &client.ConnectionError{Method: "GET", Path: "/v1/a", Host: "docs.example.com", Reason: "EOF"}
	timeout := &timeoutError{90 * time.Second, "read"}
	store := func(status int, message, problem string) error {
		return &client.StorageError{Host: "storage.example.com", StatusCode: status, Message: message, Problem: problem}
	}
	texts, explained := map[string]string{}, map[client.Reason]bool{client.ReasonNone: true}
	for name, err := range map[string]error{
		"rejected": rejected, "unauthorized": api(401), "forbidden": api(403), "not found": api(404), "conflict": api(409), "too large": api(413),
		"rate limit": slowDown, "unavailable": api(503), "redirect": moved, "web page": page, "login page": login, "no contract": broken,
		"proxy":                            api(407),
		"certificate":                      &client.ConnectionError{Reason: "unknown authority", Untrusted: true},
		"plain http":                       &client.ConnectionError{Reason: "not TLS", PlainHTTP: true},
		"no connection":                    lost,
		"store, no connection":             &client.ConnectionError{Host: "storage.example.com", Storage: true, Reason: "EOF"},
		"store, web page":                  store(200, "", "a web page instead of the bundle"),
		"store, refusal":                   store(403, "AccessDenied", ""),
		"anything else":                    errors.New("disk full"),
		"timeout":                          timeout,
		"several ways":                     &client.GaveUpError{Cause: client.ErrOutage, Last: api(502), Attempts: 30, Elapsed: time.Minute},
		"wait for longer than the timeout": &client.GaveUpError{Cause: &client.BusyError{RetryAt: startOfTime}, Last: api(429)},
		"timeout while the service limits the rate": &client.GaveUpError{Cause: timeout, Last: api(429)},
		"timeout while the network fails":           &client.GaveUpError{Cause: timeout, Last: lost},
		"repeated request":                          &client.GaveUpError{Cause: lost, Last: lost, Attempts: 44, Elapsed: 5 * time.Minute},
		"interrupt after one attempt":               &client.GaveUpError{Cause: context.Canceled, Last: api(502), Attempts: 1},
	} {
		text := explain(err)
		texts[name], explained[client.ReasonOf(err)] = text.what+"\n"+text.advice, true
	}
	wantTexts(t, "explanations.txt", texts)
	for reason := range client.ReasonOutage + 1 {
		if !explained[reason] || advice[reason] == "" && reason != client.ReasonNone {
			t.Errorf("the reason %d is not explained", reason)
		}
	}
}
