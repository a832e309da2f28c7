package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// Each cell says how many attempts fail in how long (to 5 s) until a call ends whose deadline is an hour away. Half of a
// backoff is random, here none.
func TestEachCallHasItsPatience(t *testing.T) {
	wait := func(patience Patience) func(context.Context, *Client) (any, error) {
		return func(ctx context.Context, c *Client) (any, error) {
			return c.WaitForStaticExport(ctx, "se_1", 0, patience)
		}
	}
	waitForUpdate := func(ctx context.Context, c *Client) (any, error) { return c.WaitForUpdate(ctx, "se_1", 0, nil) }
	const once, half, outage = "1 in 0s", "15 in 30s", "44 in 5m0s"
	statuses, plain, patient := []int{404, 503, 403}, [3]string{half, half, once}, [3]string{half, outage, half}
	for _, test := range []struct {
		name      string
		call      func(context.Context, *Client) (any, error)
		successes int // before the failures
		want      [3]string
	}{
		{"an update", calls["update"], 0, plain},
		{"a job", calls["job"], 0, plain},
		{"a link", calls["bundle"], 0, plain},
		{"a first link", func(ctx context.Context, c *Client) (any, error) { return c.GenerateBundle(ctx, "se_1", Patient) }, 0, patient},
		{"a start", calls["start"], 0, [3]string{once, once, once}},
		{"a wait", wait(Plain), 0, plain},
		{"a wait after a success", wait(Plain), 1, patient},
		{"a wait for the caller's job", wait(Patient), 0, patient},
		{"a wait for an update", waitForUpdate, 0, plain},
		{"a wait for an update after a success", waitForUpdate, 1, patient},
	} {
		for i, status := range statuses {
			t.Run(fmt.Sprint(test.name, ", ", status), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var failures []time.Time
					handlers := slices.Repeat([]http.HandlerFunc{reply(200, `{"status":"running"}`)}, test.successes)
					c, _ := serve(t, inTurn(append(handlers, func(w http.ResponseWriter, r *http.Request) {
						failures = append(failures, time.Now())
						reply(status, "", "Retry-After: 1")(w, r) // a gateway may send it after the service has acted
					})...))
					_, err := test.call(bounded(t, time.Hour), c)
					if got := fmt.Sprint(len(failures), " in ", time.Since(failures[0]).Round(5*second)); err == nil || got != test.want[i] {
						t.Errorf("%v after %s, want %s", err, got, test.want[i])
					}
				})
			})
		}
	}
}

// step is an attempt that fails after a while.
type step struct {
	error
	takes time.Duration
}

func status(code int) error { return &APIError{Exchange: Exchange{StatusCode: code}} }

func asking(code int, retryAfter time.Duration) step {
	return step{error: &APIError{Exchange: Exchange{StatusCode: code, RetryAfter: retryAfter}}}
}

// failing returns attempts that fail in these ways in turn.
func failing(times int, ways ...error) (steps []step) {
	for i := range times {
		steps = append(steps, step{error: ways[i%len(ways)]})
	}
	return steps
}

func TestStreakEndsAtItsLimit(t *testing.T) {
	slow, missing, forbidden, down := status(429), status(404), status(403), status(503)
	unsent, lost, denied := &ConnectionError{}, &ConnectionError{Sent: true}, &StorageError{StatusCode: 403}
	further := &ConnectionError{Sent: true, Progress: true}
	const half = 500 * time.Millisecond
	type row struct {
		patience  Patience
		timeout   time.Duration // of the context; two hours if zero
		interrupt time.Duration // when the context is canceled; never if zero
		steps     []step        // before a success
		count     int           // of attempts
		ends      time.Duration
		want      string // how: see outcomeOf
	}
	inBubbles(t, map[string]row{
		"of a kind that is not repeated":             {steps: []step{{forbidden, 20 * second}}, count: 1, ends: 20 * second, want: "last"},
		"of a failure that is no response":           {patience: Patient, steps: failing(9, os.ErrClosed), count: 1, want: "last"},
		"of a start with what may have been sent":    {patience: starting, steps: failing(9, unsent, lost), count: 2, ends: half, want: "last"},
		"of a start without a connection, late":      {patience: starting, steps: failing(99, unsent), count: 15, ends: 31 * second, want: "last"},
		"with an outage in two ways":                 {patience: Patient, steps: failing(999, unsent, lost), count: 44, ends: 300 * second, want: "last"},
		"not before, after a more patient kind":      {patience: Patient, steps: append(failing(9, down), failing(8, forbidden)...), count: 18, ends: 105 * second},
		"never as not found after an outage":         {patience: Patient, steps: append(failing(43, down), failing(99, missing)...), count: 44, ends: 300 * second, want: "outage"},
		"never as not found in turn":                 {steps: failing(999, missing, down), count: 15, ends: 31 * second, want: "outage"},
		"never as not found after a refused link":    {steps: append(failing(14, denied), failing(99, missing)...), count: 15, ends: 31 * second, want: "outage"},
		"as not found after a conflict only if late": {patience: Patient, steps: append(failing(14, status(409)), step{missing, 0}), count: 15, ends: 31 * second, want: "outage"},
		"with a kind without a limit":                {steps: append(failing(5, down), failing(9, forbidden)...), count: 6, ends: 8500 * time.Millisecond, want: "last"},
		"from zero after progress":                   {steps: append(append(failing(12, down), step{further, 0}), failing(14, down)...), count: 27, ends: 57 * second, want: "last"},
		"after half a minute of slow failures":       {steps: slices.Repeat([]step{{missing, 20 * second}}, 9), count: 4, ends: 83500 * time.Millisecond, want: "last"},

		"throttled only at the deadline":         {timeout: time.Hour, steps: failing(300, slow), count: 245, ends: time.Hour, want: "context deadline exceeded"},
		"later by the time of a 429":             {steps: append(append(failing(10, missing), asking(429, 40*second)), failing(99, missing)...), count: 16, ends: 71 * second, want: "last"},
		"later by that of two slow 429s":         {steps: append([]step{{missing, 0}, {slow, 16 * second}, {slow, 16 * second}}, failing(99, missing)...), count: 16, ends: 65500 * time.Millisecond, want: "last"},
		"later by that of 429s in turn":          {steps: failing(999, slow, down), count: 28, ends: 206500 * time.Millisecond, want: "last"},
		"as soon as a 429 allows":                {steps: slices.Repeat([]step{asking(429, second)}, 9), count: 10, ends: 9 * second},
		"at once if a 429 asks for too long":     {timeout: 40 * second, steps: []step{asking(429, 40*second)}, count: 1, want: "busy"},
		"just before the deadline if a 429 asks": {timeout: 40 * second, steps: []step{asking(429, 39*second)}, count: 2, ends: 39 * second},

		"later if a failure asks for it":            {steps: slices.Repeat([]step{asking(503, 2*second)}, 3), count: 4, ends: 6 * second},
		"within a minute whatever a failure asks":   {patience: Patient, steps: slices.Repeat([]step{asking(503, time.Hour)}, 2), count: 3, ends: 120 * second},
		"before the deadline whatever it asks":      {timeout: 40 * second, steps: []step{asking(503, time.Hour)}, count: 2, ends: 35 * second},
		"once more before the deadline":             {timeout: 28 * second, steps: failing(6, slow), count: 7, ends: 23 * second},
		"until a deadline that is near, at leisure": {timeout: 3 * second, steps: failing(99, down), count: 3, ends: 3 * second, want: "context deadline exceeded"},
		"with an interrupt of the first attempt":    {steps: []step{{down, 99 * second}}, interrupt: 25 * second, count: 1, ends: 25 * second, want: "interrupt"},
		"with an interrupt of a later attempt":      {steps: []step{{down, 0}, {down, 99 * second}}, interrupt: 25 * second, count: 2, ends: 25 * second, want: "interrupt"},
		"with an interrupt more than with a 429":    {timeout: time.Hour, steps: []step{{asking(429, 2*time.Hour).error, 5 * second}}, interrupt: 4 * second, count: 1, ends: 4 * second, want: "interrupt"},
	}, func(t *testing.T, test row) {
		began, count, last := time.Now(), 0, error(nil)
		ctx, cancel := context.WithCancelCause(bounded(t, cmp.Or(test.timeout, 2*time.Hour)))
		defer cancel(nil)
		if test.interrupt > 0 {
			time.AfterFunc(test.interrupt, func() { cancel(errInterrupt) })
		}
		c := newClient(t)
		err := c.repeat(ctx, test.patience, func(over *network, number int) error {
			alone := test.patience == starting || last != nil && classify(last).kind != throttled // on a connection of its own
			if count++; count != number || (over == c.separate) != alone {
				t.Errorf("attempt %d has the number %d and a connection of its own: %t", count, number, over == c.separate)
			}
			if count > len(test.steps) {
				return nil
			}
			step := test.steps[count-1]
			if cause := c.config.Clock.Sleep(ctx, step.takes); cause != nil && step.takes > 5*second {
				return cause
			}
			last = step.error
			return step.error
		})
		if got := ending(err, last); got != test.want {
			t.Errorf("ends with %v (%s), want %s", err, got, test.want)
		}
		if took := time.Since(began).Truncate(time.Millisecond); count != test.count || took != test.ends {
			t.Errorf("%d attempts in %s, want %d in %s", count, took, test.count, test.ends)
		}
	})
}

// ending says how a call ended whose last attempt failed with the given error.
func ending(err, last error) string {
	gaveUp, ok := errors.AsType[*GaveUpError](err)
	switch {
	case err == nil:
		return ""
	case ok && !errors.Is(gaveUp.Last, last):
		return "a wrong last error"
	case ok && gaveUp.Outage && !IsNotFound(err):
		return "outage"
	case ok && gaveUp.RetryAt.Equal(time.Now().Add(40*second)):
		return "busy"
	case errors.Is(err, last):
		return "last"
	case ok:
		return gaveUp.Cause.Error()
	}
	return err.Error()
}

func TestHalfOfABackoffIsRandom(t *testing.T) {
	for random, want := range map[float64]time.Duration{0: 2 * second, .5: 3 * second} {
		c := newClient(t, func(config *Config) { config.Random = func() float64 { return random } })
		if got := c.backoff(3, time.Minute); got != want {
			t.Errorf("the third backoff is %s, want %s", got, want)
		}
	}
}

func TestGaveUpErrorSaysHowOftenAndForHowLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClient(t)
		missing := func(takes time.Duration) func(*network, int) error {
			return func(_ *network, number int) error {
				if number == 1 {
					<-time.After(takes)
				}
				return map[bool]error{true: status(404), false: status(503)}[number%9 == 0]
			}
		}
		want := "consecutive requests failed for different reasons; the last attempt: HTTP 503 Service Unavailable for  , without a message (15 attempts in 1m31s)"
		if err := c.repeat(bounded(t, time.Hour), Plain, missing(time.Minute)); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		ctx := bounded(t, 40*second)
		want = "the service accepts no request before 2000-01-01T00:02:31Z, after this operation's timeout; " +
			"the last attempt: HTTP 429 Too Many Requests for  , without a message"
		if err := c.repeat(ctx, Plain, func(*network, int) error { return asking(429, time.Minute).error }); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
}

func TestKindOfAFailureAndWhetherAJobMayHaveStarted(t *testing.T) {
	api := func(codes ...int) (errs []error) {
		for _, code := range codes {
			errs = append(errs, status(code))
		}
		return errs
	}
	page := func(code int) error { return &APIError{Exchange: Exchange{StatusCode: code}, Page: true} }
	store := func(code int) error { return &StorageError{StatusCode: code} }
	for _, test := range []struct {
		kind    kind
		started bool
		errs    []error
	}{
		{refused, false, append(api(307, 400, 401, 403, 422, 501, 505), page(404), page(410))},
		{refused, true, append(api(101, 301, 302, 303, 409), &UnexpectedResponseError{})},
		{refused, false, []error{store(302), store(501), &ConnectionError{Untrusted: true}, &ConnectionError{PlainHTTP: true}, &ConnectionError{ProxyStatus: 407}}},
		{notFound, false, api(404, 410)},
		{temporary, false, append(api(425), store(503))},
		{temporary, true, append(api(408, 500, 503), &ConnectionError{Sent: true}, &UnexpectedResponseError{NotJSON: true})}, // perhaps a page of a proxy
		{throttled, false, append(api(429), store(429))},
		{linkRefused, false, []error{store(400), store(403), store(404), store(200)}}, // 200 with text
		{unconnected, false, []error{&ConnectionError{}, &ConnectionError{ProxyStatus: 503}}},
		{permanent, false, []error{&GaveUpError{Cause: context.DeadlineExceeded, Last: status(404)}, os.ErrClosed}}, // of the file of a download
	} {
		for _, err := range test.errs {
			if got := classify(err); got != (failure{kind: test.kind}) || MayHaveStarted(err) != test.started || IsNotFound(err) != (test.kind == notFound) {
				t.Errorf("%#v: %+v, may have started: %t, not found: %t", err, got, MayHaveStarted(err), IsNotFound(err))
			}
		}
	}
	want := failure{kind: refused, retryAfter: second}
	for _, err := range []error{asking(403, second).error, &StorageError{StatusCode: 302, RetryAfter: second}} {
		if got := classify(err); got != want {
			t.Errorf("%v: %+v, want %+v", err, got, want)
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
