package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// faulty is a service whose work runs in the first responses, and which then fails in one
// way for good.
type faulty struct {
	successes int
	way       string
	attempts  int
	began     time.Time // of the first attempt that fails
}

func (f *faulty) RoundTrip(r *http.Request) (*http.Response, error) {
	if f.successes--; f.successes >= 0 {
		return always(`{"status":"running"}`).RoundTrip(r)
	}
	if f.attempts++; f.attempts == 1 {
		f.began = time.Now()
	}
	switch f.way {
	case "no connection":
		return nil, errors.New("connection refused")
	case "untrusted":
		return nil, &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	}
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	switch f.way {
	case "lost":
		return nil, io.ErrUnexpectedEOF
	case "silence":
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	header := http.Header{}
	if f.way == "503" { // a gateway may send it after the service behind it has acted
		header.Set("Retry-After", "1")
	}
	status, _ := strconv.Atoi(f.way)
	return &http.Response{StatusCode: status, Request: r, Header: header, Body: http.NoBody}, nil
}

// Each cell says how many attempts fail in how long (to 5 s) until a call ends whose deadline
// is an hour away. Half of a backoff is random, here none.
func TestRuleLimitsEachKindOfFailure(t *testing.T) {
	const (
		hour    = "245 in 1h0m0s"
		retries = "5 in 10s"
		once    = "1 in 0s"
		outage  = "44 in 5m0s"
		half    = "15 in 30s"
	)
	job := func(patience Patience) func(context.Context, *Client) (any, error) {
		return func(ctx context.Context, c *Client) (any, error) {
			return c.WaitForStaticExport(ctx, "j", 0, patience)
		}
	}
	plain := []string{hour, retries, retries, retries, "5 in 2m40s", half, once, once}
	patient := []string{hour, outage, outage, outage, "11 in 6m25s", half, half, once}
	ways := []string{"429", "no connection", "503", "lost", "silence", "404", "403", "untrusted"}
	for _, test := range []struct {
		rule      string
		call      func(context.Context, *Client) (any, error)
		successes int
		want      []string
	}{
		{"read", calls["job"], 0, plain},
		{"patient link", func(ctx context.Context, c *Client) (any, error) { return c.GenerateBundle(ctx, "j", Patient) }, 0, patient},
		{"start", calls["start"], 0, []string{hour, retries, once, once, "1 in 30s", once, once, once}},
		{"wait", job(Plain), 0, plain},
		{"wait", job(Plain), 1, patient},
		{"patient wait", job(Patient), 0, patient},
		{"wait for an update", func(ctx context.Context, c *Client) (any, error) { return c.WaitForUpdate(ctx, "u", 0, nil) }, 0, plain},
		{"wait for an update", func(ctx context.Context, c *Client) (any, error) { return c.WaitForUpdate(ctx, "u", 0, nil) }, 1, patient},
	} {
		for i, way := range ways {
			t.Run(fmt.Sprintf("%s, %s after %d successes", test.rule, way, test.successes), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					service := &faulty{successes: test.successes, way: way}
					c := newClient(t, func(config *Config) { config.RoundTripper, config.Random = service, func() float64 { return 0 } })
					_, err := test.call(bounded(t, time.Hour), c)
					if got := fmt.Sprint(service.attempts, " in ", time.Since(service.began).Round(5*second)); err == nil || got != test.want[i] {
						t.Errorf("%v after %s, want %s", err, got, test.want[i])
					}
				})
			})
		}
	}
}

func TestKindOfAFailureAndWhetherAJobMayHaveStarted(t *testing.T) {
	api := func(status int, page bool) error {
		return &APIError{Exchange: Exchange{StatusCode: status, RetryAfter: 7 * second}, Page: page}
	}
	unusable := func(status int, notJSON bool) error {
		return &UnexpectedResponseError{Exchange: Exchange{StatusCode: status, RetryAfter: 7 * second}, NotJSON: notJSON}
	}
	for _, test := range []struct {
		err     error
		kind    retry.Kind
		started bool
		asks    time.Duration
	}{
		{api(400, false), retry.Other, false, 7 * second},
		{api(303, false), retry.Other, true, 7 * second},
		{api(301, false), retry.Other, true, 7 * second},
		{api(302, true), retry.Other, true, 7 * second},
		{api(307, false), retry.Other, false, 7 * second},
		{api(404, false), retry.NotFound, false, 7 * second},
		{api(404, true), retry.Other, false, 7 * second},
		{api(410, false), retry.NotFound, false, 7 * second},
		{api(410, true), retry.Other, false, 7 * second},
		{api(408, false), retry.Temporary, true, 7 * second},
		{api(425, false), retry.Temporary, false, 7 * second},
		{api(429, false), retry.Throttled, false, 7 * second},
		{api(500, false), retry.Temporary, true, 7 * second},
		{api(501, false), retry.Other, false, 7 * second},
		{api(503, false), retry.Temporary, true, 7 * second},
		{api(505, false), retry.Other, false, 7 * second},
		{api(101, false), retry.Other, true, 7 * second},
		{&StorageError{StatusCode: 403}, retry.NotFound, false, 0},
		{&StorageError{StatusCode: 200}, retry.NotFound, false, 0}, // a page
		{&StorageError{StatusCode: 302}, retry.Other, false, 0},
		{&StorageError{StatusCode: 429, RetryAfter: 7 * second}, retry.Throttled, false, 7 * second},
		{unusable(200, true), retry.Temporary, true, 0}, // perhaps a page of a proxy
		{unusable(200, false), retry.Other, true, 0},
		{&ConnectionError{}, retry.Unconnected, false, 0},
		{&ConnectionError{Sent: true}, retry.Temporary, true, 0},
		{&ConnectionError{Untrusted: true}, retry.Permanent, false, 0},
		{&ConnectionError{PlainHTTP: true}, retry.Permanent, false, 0},
		{&ConnectionError{ProxyStatus: 407}, retry.Permanent, false, 0},
		{&ConnectionError{ProxyStatus: 503}, retry.Unconnected, false, 0},
		{&retry.EndedError{Cause: context.DeadlineExceeded, Last: api(404, false)}, retry.Permanent, false, 0},
		{os.ErrClosed, retry.Permanent, false, 0}, // of the file of a download
	} {
		got := classify(test.err)
		_, ofStorage := errors.AsType[*StorageError](test.err)
		if got != (retry.Failure{Kind: test.kind, RetryAfter: test.asks}) || MayHaveStarted(test.err) != test.started || IsNotFound(test.err) != (test.kind == retry.NotFound && !ofStorage) {
			t.Errorf("%#v: %+v, may have started: %t, not found: %t", test.err, got, MayHaveStarted(test.err), IsNotFound(test.err))
		}
	}
}

func TestRetryAfterOfAPollIsAdvice(t *testing.T) {
	for _, seconds := range []string{"60", "86400"} {
		inSimulation(t, func(t *testing.T, w *simulation) {
			w.AddJob(simulator.JobSpec{ID: "se_1", Queue: noTime, Run: 2 * second})
			w.AddFault(simulator.Fault{Header: http.Header{"Retry-After": {seconds}}})
			ctx, cancel := context.WithTimeout(t.Context(), 25*second)
			defer cancel()
			if _, err := w.WaitForStaticExport(ctx, "se_1", 0, Patient); err != nil || !slices.Equal(w.polls(simulator.EndpointJob), []float64{1, 20}) {
				t.Errorf("Retry-After %s: %v after polls at %v", seconds, err, w.polls(simulator.EndpointJob))
			}
		})
	}
}
