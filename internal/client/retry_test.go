// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoffDoublesUpToItsCapWithHalfOfItLeftToChance(t *testing.T) {
	tests := []struct {
		failures    int
		least, most time.Duration
	}{
		{0, 500 * time.Millisecond, time.Second},
		{1, time.Second, 2 * time.Second},
		{4, 8 * time.Second, 16 * time.Second},
		{5, 15 * time.Second, 30 * time.Second},
		{63, 15 * time.Second, 30 * time.Second},
		{1000, 15 * time.Second, 30 * time.Second},
	}
	for _, test := range tests {
		if got := backoff(test.failures, 0); got != test.least {
			t.Errorf("backoff(%d) is at least %s, want %s", test.failures, got, test.least)
		}
		if got := backoff(test.failures, 0.999999); got > test.most || got < test.most-time.Millisecond {
			t.Errorf("backoff(%d) is at most %s, want %s", test.failures, got, test.most)
		}
	}
}

func seconds(of ...float64) []time.Duration {
	var times []time.Duration
	for _, s := range of {
		times = append(times, time.Duration(s*float64(time.Second)))
	}
	return times
}

const done = `{"status":"success"}`

func TestReadingIsRepeatedWhereTheFailureMayPass(t *testing.T) {
	t.Parallel()
	gaveUp := seconds(0, .5, 1.5, 3.5, 7.5)
	tests := map[string]struct {
		handler http.HandlerFunc
		options []option
		times   []time.Duration // when the service got a request
		failure string          // part of the error; empty for a success
	}{
		"a 500":                              {handler: reply(500, ""), times: gaveUp, failure: "HTTP 500"},
		"a 502":                              {handler: reply(502, ""), times: gaveUp, failure: "HTTP 502"},
		"a 503":                              {handler: reply(503, ""), times: gaveUp, failure: "HTTP 503"},
		"a 504":                              {handler: reply(504, ""), times: gaveUp, failure: "HTTP 504"},
		"a 520, which is not registered":     {handler: reply(520, ""), times: gaveUp, failure: "HTTP 520"},
		"a 408":                              {handler: reply(408, ""), times: gaveUp, failure: "HTTP 408"},
		"a 425":                              {handler: reply(425, ""), times: gaveUp, failure: "HTTP 425"},
		"a reset":                            {handler: reset, times: gaveUp, failure: "no answer from localhost"},
		"a cut answer":                       {handler: cut202(`{"status":"suc`), times: gaveUp, failure: "the answer was cut off"},
		"an answer without what it must say": {handler: reply(200, `{}`), times: gaveUp, failure: "the answer has no status"},
		"HTML":                               {handler: reply(200, "<p>Sign in</p>"), times: gaveUp, failure: "an HTML or XML page: Sign in"},
		"silence":                            {handler: silence, times: seconds(0, 30.5, 61.5, 93.5, 127.5), failure: "no answer within the request timeout (30s)"},
		"not a 400":                          {handler: reply(400, ""), times: seconds(0), failure: "HTTP 400"},
		"not a 401":                          {handler: reply(401, ""), times: seconds(0), failure: "HTTP 401"},
		"not a 403":                          {handler: reply(403, ""), times: seconds(0), failure: "HTTP 403"},
		"not a 404":                          {handler: reply(404, ""), times: seconds(0), failure: "HTTP 404"},
		"not a 409":                          {handler: reply(409, ""), times: seconds(0), failure: "HTTP 409"},
		"not a 501":                          {handler: reply(501, ""), times: seconds(0), failure: "HTTP 501"},
		"not a 505":                          {handler: reply(505, ""), times: seconds(0), failure: "HTTP 505"},
		"up to a success":                    {handler: inTurn(reply(500, ""), cut202(`{`), reply(200, done)), times: seconds(0, .5, 1.5)},
		"after a refused connection":         {handler: reply(200, done), options: []option{failingDials(errRefused)}, times: seconds(.5)},
		"after a name was not resolved":      {handler: reply(200, done), options: []option{failingDials(errNoHost, errNoHost)}, times: seconds(1.5)},
		"as often as configured":             {handler: reply(500, ""), options: []option{retries(1)}, times: seconds(0, .5), failure: "HTTP 500"},
		"never, if so configured":            {handler: reply(500, ""), options: []option{retries(0)}, times: seconds(0), failure: "HTTP 500"},
		"when a 503 says, in seconds":        {handler: inTurn(reply(503, "", "Retry-After: 90"), reply(200, done)), times: seconds(0, 90)},
		"when a 503 says, as a date":         {handler: inTurn(reply(503, "", "Retry-After: Sat, 01 Jan 2000 00:01:30 GMT"), reply(200, done)), times: seconds(0, 90)},
		"when a 503 says, by its own clock": {
			handler: inTurn(reply(503, "", "Retry-After: Sat, 01 Jan 2000 01:01:30 GMT", "Date: Sat, 01 Jan 2000 01:00:00 GMT"), reply(200, done)), times: seconds(0, 90),
		},
		"as usual when a 503 names the past":    {handler: inTurn(reply(503, "", "Retry-After: Fri, 31 Dec 1999 00:00:00 GMT"), reply(200, done)), times: seconds(0, .5)},
		"as usual when a 503 names nothing":     {handler: inTurn(reply(503, "", "Retry-After: soon"), reply(200, done)), times: seconds(0, .5)},
		"when a 429 says":                       {handler: inTurn(reply(429, "", "Retry-After: 90"), reply(200, done)), times: seconds(0, 90)},
		"after a second when a 429 does not":    {handler: inTurn(reply(429, ""), reply(200, done)), times: seconds(0, 1)},
		"without end for 429s, without a count": {handler: inTurn(append(slices.Repeat([]http.HandlerFunc{reply(429, "", "Retry-After: 9")}, 7), reply(500, ""), reply(200, done))...), times: seconds(0, 9, 18, 27, 36, 45, 54, 63, 63.5+1.5)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, test.handler, test.options...)
				ctx, cancel := c.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				update, err := c.GetUpdateStatus(ctx, "up_1")
				if got := s.times(); !slices.Equal(got, test.times) {
					t.Errorf("requests at %v, want %v", got, test.times)
				}
				if test.failure == "" {
					if err != nil || !update.Succeeded() {
						t.Errorf("got %v, %v; want the update", update, err)
					}
					return
				}
				if err == nil || update != nil || !strings.Contains(err.Error(), test.failure) {
					t.Errorf("got %v, %v; want an error that says %q", update, err, test.failure)
				}
			})
		})
	}
}

func TestReadingWithoutADeadlineIsBoundedByTheNumberOfRetries(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"429s that say when to come back": reply(429, "", "Retry-After: 9"),
		"429s that do not":                reply(429, ""),
		"503s that say when to come back": reply(503, "", "Retry-After: 9"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, handler)
				_, err := c.GetUpdateStatus(t.Context(), "up_1")
				if !IsStatus(err, 429, 503) || len(s.got()) != DefaultMaxRetries+1 {
					t.Errorf("got %v after %d requests", err, len(s.got()))
				}
			})
		})
	}
}

func TestStartingWithoutADeadlineIsRepeatedAfterA429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, inTurn(reply(429, "", "Retry-After: 9"), reply(202, `{"jobId":"se_1"}`)))
		if _, err := c.StartStaticExport(t.Context(), "docs.example.com", nil); err != nil || !slices.Equal(s.times(), seconds(0, 9)) {
			t.Errorf("requests at %v: %v", s.times(), err)
		}
	})
}

func TestAWaitBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	tests := map[string]struct {
		handler http.HandlerFunc
		asked   time.Duration // until when the service asked to wait; 0: it did not
	}{
		"a 503 that names seconds":    {reply(503, "maintenance", "Retry-After: 601"), 601 * time.Second},
		"a 503 that names a date":     {reply(503, "maintenance", "Retry-After: Sat, 01 Jan 2000 02:00:00 GMT"), 2 * time.Hour},
		"a 503 that names far future": {reply(503, "maintenance", "Retry-After: 99999999999999999999"), longestRetryAfter},
		"a 503 that names year 9999":  {reply(503, "maintenance", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"), longestRetryAfter},
		"a 429 that names seconds":    {reply(429, "maintenance", "Retry-After: 601"), 601 * time.Second},
		"a 429 that names a date":     {reply(429, "maintenance", "Retry-After: Sat, 01 Jan 2000 02:00:00 GMT"), 2 * time.Hour},
		"a 429 that names far future": {reply(429, "maintenance", "Retry-After: 99999999999999999999"), longestRetryAfter},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, test.handler)
				ctx, cancel := c.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				began := time.Now()
				_, err := c.StartStaticExport(ctx, "docs.example.com", nil)
				if took := time.Since(began); took != 0 || len(s.got()) != 1 {
					t.Errorf("it took %s and %d requests", took, len(s.got()))
				}
				var busy *BusyError
				var answer *APIError
				if !errors.As(err, &busy) || !busy.RetryAt.Equal(began.Add(test.asked)) {
					t.Errorf("the error is %v, want one that says to come back at %s", err, began.Add(test.asked))
				}
				if !errors.As(err, &answer) || answer.Message != "maintenance" {
					t.Errorf("the error %v has lost what the service said", err)
				}
				if MayHaveStarted(err) || isTransient(err) {
					t.Errorf("MayHaveStarted is %v and isTransient %v", MayHaveStarted(err), isTransient(err))
				}
			})
		})
	}
	t.Run("a backoff", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, s := serve(t, reply(500, "out of order"))
			ctx, cancel := c.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, err := c.GetUpdateStatus(ctx, "up_1")
			if !slices.Equal(s.times(), seconds(0, .5, 1.5)) || time.Since(s.began) != 1500*time.Millisecond {
				t.Errorf("requests at %v, failed after %s", s.times(), time.Since(s.began))
			}
			want := "GET /v1/project/update-status/up_1: HTTP 500 Internal Server Error: out of order: the next attempt would come after the timeout"
			if err == nil || err.Error() != want || !IsStatus(err, 500) {
				t.Errorf("got %q, want %q", err, want)
			}
		})
	})
}

func TestAnotherCallWaitsForThePauseThatAn429Asked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, inTurn(reply(429, "", "Retry-After: 60"), reply(200, done)), retries(0))
		if _, err := c.GetUpdateStatus(t.Context(), "up_1"); !IsStatus(err, 429) {
			t.Fatal(err)
		}
		ctx, cancel := c.WithTimeout(t.Context(), time.Minute/2)
		defer cancel()
		var busy *BusyError
		if _, err := c.GetUpdateStatus(ctx, "up_2"); !errors.As(err, &busy) || !busy.RetryAt.Equal(s.began.Add(time.Minute)) {
			t.Errorf("within the pause: %v", err)
		}
		if _, err := c.GetUpdateStatus(t.Context(), "up_3"); err != nil || time.Since(s.began) != time.Minute {
			t.Errorf("got %v after %s", err, time.Since(s.began))
		}
		if got := len(s.got()); got != 2 {
			t.Errorf("%d requests, want 2", got)
		}
	})
}

func TestWhatEndsAnOperationIsTheErrorWithTheLastAttempt(t *testing.T) {
	interrupt := func(c *Client, ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		stop := c.clock.AfterFunc(2*time.Second, cancel)
		return ctx, func() { stop(); cancel() }
	}
	timeout := func(c *Client, ctx context.Context) (context.Context, context.CancelFunc) {
		return c.WithTimeout(ctx, 2*time.Second)
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		end     func(*Client, context.Context) (context.Context, context.CancelFunc)
		cause   error
		last    string // part of the error
	}{
		"an interrupt during a request": {silence, interrupt, context.Canceled, ""},
		"an interrupt during a backoff": {reply(500, "out of order"), interrupt, context.Canceled, "; the last attempt: GET /v1/project/update-status/up_1: HTTP 500 Internal Server Error: out of order"},
		"an interrupt during a pause":   {reply(429, "slowly", "Retry-After: 60"), interrupt, context.Canceled, "; the last attempt: GET /v1/project/update-status/up_1: HTTP 429 Too Many Requests: slowly"},
		"the timeout during a request":  {silence, timeout, ErrTimeout, ""},
		"the timeout with an answer":    {after(1999*time.Millisecond, reply(404, "")), timeout, nil, "HTTP 404"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, test.handler)
				ctx, cancel := test.end(c, t.Context())
				defer cancel()
				_, err := c.GetUpdateStatus(ctx, "up_1")
				if test.cause != nil && (!errors.Is(err, test.cause) || time.Since(s.began) != 2*time.Second) {
					t.Errorf("got %v after %s, want %v after 2s", err, time.Since(s.began), test.cause)
				}
				if err == nil || !strings.Contains(err.Error(), test.last) {
					t.Errorf("the error is %q, want %q in it", err, test.last)
				}
			})
		})
	}
}

func TestADialThatHangsIsBoundedByTheRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reply(200, done), retries(1), func(config *Config, s *service) {
			config.RequestTimeout = 3 * time.Second
			s.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		_, err := c.GetUpdateStatus(t.Context(), "up_1")
		var connection *ConnectionError
		if !errors.As(err, &connection) || connection.Sent || !errors.Is(err, errNoAnswer) {
			t.Errorf("got %#v", err)
		}
		if took := time.Since(s.began); took != 6500*time.Millisecond {
			t.Errorf("it took %s, want two attempts of 3 s and a backoff", took)
		}
	})
}
