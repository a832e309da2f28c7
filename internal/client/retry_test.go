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
)

// Each cell says for how long a failure is repeated that lasts. The deadline is an hour away.
func TestEachCallHasItsLimits(t *testing.T) {
	wait := func(ctx context.Context, c *Client) (any, error) { return c.WaitForStaticExport(ctx, "se_1", 0) }
	waitForUpdate := func(ctx context.Context, c *Client) (any, error) { return c.WaitForUpdate(ctx, "se_1", 0, nil) }
	statuses := [...]int{404, 503, 403}
	once, plain, waiting := [3]time.Duration{}, [3]time.Duration{NotFoundLimit, DisturbanceLimit, 0}, [3]time.Duration{NotFoundLimit, OutageLimit, DisturbanceLimit}
	for _, test := range []struct {
		name      string
		call      func(context.Context, *Client) (any, error)
		successes int // before the failures
		want      [3]time.Duration
	}{
		{"an update", calls["update"], 0, plain},
		{"a job", calls["job"], 0, plain},
		{"a link", calls["bundle"], 0, plain},
		{"a start", calls["start"], 0, once},
		{"a wait", wait, 0, plain},
		{"a wait after a success", wait, 1, waiting},
		{"a wait for an update", waitForUpdate, 0, plain},
		{"a wait for an update after a success", waitForUpdate, 1, waiting},
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
					if _, err := test.call(bounded(t, time.Hour), c); err == nil || !endsAt(test.want[i], failures[0], failures) {
						t.Errorf("%v after failures at %v, want them for %s", err, failures, test.want[i])
					}
				})
			})
		}
	}
}

// endsAt reports whether the last attempt is the first one that was sent at the limit or later.
func endsAt(limit time.Duration, since time.Time, sent []time.Time) bool {
	end, last := since.Add(limit), len(sent)-1
	return !sent[last].Before(end) && (last == 0 || sent[last-1].Before(end))
}

// step is an attempt that fails after a while.
type step struct {
	*Error
	takes time.Duration
}

func status(code int) *Error { return newError(fmt.Sprint("HTTP ", code), meaningOf(code)) }

func asking(code int, retryAfter time.Duration) step {
	failure := status(code)
	failure.retryAfter = retryAfter
	return step{Error: failure}
}

// failing returns attempts that fail in these ways in turn.
func failing(times int, ways ...*Error) (steps []step) {
	for i := range times {
		steps = append(steps, step{Error: ways[i%len(ways)]})
	}
	return steps
}

func TestStreakEndsAtItsLimit(t *testing.T) {
	slow, missing, forbidden, down := status(429), status(404), status(403), status(503)
	unsent, lost, denied := newError("", meaning{kind: unconnected}), newError("", meaning{kind: temporary, acted: true}), newError("", storeMeaningOf(403))
	further, full := status(502), wrap(os.ErrClosed, permanent)
	const half = 500 * time.Millisecond
	type row struct {
		within    limits        // plainLimits if zero
		timeout   time.Duration // of the context; two hours if zero
		interrupt time.Duration // when the context is canceled; never if zero
		steps     []step        // before a success
		lasts     time.Duration // how long the streak lasts; zero: see count and ends
		before    int           // attempts before that streak
		count     int           // of attempts
		ends      time.Duration
		want      string // how: see ending
	}
	inBubbles(t, map[string]row{
		"of a kind that is not repeated":                 {steps: []step{{forbidden, 20 * second}}, count: 1, ends: 20 * second, want: "last"},
		"of a failure that is no response":               {within: waitLimits, steps: failing(9, full), count: 1, want: "last"},
		"of a start with what may have been sent":        {within: startLimits, steps: failing(9, unsent, lost), count: 2, ends: half, want: "last"},
		"of a start without a connection, late":          {within: startLimits, steps: failing(999, unsent), lasts: DisturbanceLimit, want: "last"},
		"of a start after a 429":                         {within: startLimits, steps: failing(2, slow), count: 3, ends: 1500 * time.Millisecond},
		"of a read without a connection":                 {steps: failing(999, unsent), lasts: DisturbanceLimit, want: "last"},
		"of a refused link":                              {steps: failing(999, denied), lasts: DisturbanceLimit, want: "last"},
		"with an outage in two ways":                     {within: waitLimits, steps: failing(999, unsent, lost), lasts: OutageLimit, want: "last"},
		"only when its most patient kind allows no more": {within: waitLimits, steps: append(failing(9, down), failing(999, forbidden)...), lasts: OutageLimit, want: "outage"},
		"never as not found after an outage":             {within: waitLimits, steps: append(failing(20, down), failing(999, missing)...), lasts: OutageLimit, want: "outage"},
		"never as not found in turn":                     {steps: failing(999, missing, down), lasts: max(NotFoundLimit, DisturbanceLimit), want: "outage"},
		"never as not found after a refused link":        {steps: append(failing(9, denied), failing(999, missing)...), lasts: max(NotFoundLimit, DisturbanceLimit), want: "outage"},
		"with a kind without a limit":                    {steps: append(failing(3, down), failing(9, forbidden)...), count: 4, ends: 3500 * time.Millisecond, want: "last"},
		"from zero after progress":                       {steps: append(append(failing(9, down), step{further, 0}), failing(999, down)...), before: 9, lasts: DisturbanceLimit, want: "last"},
		"after the limit of slow failures":               {steps: slices.Repeat([]step{{missing, 20 * second}}, 99), lasts: NotFoundLimit, want: "last"},

		"throttled only at the deadline":         {timeout: time.Hour, steps: failing(300, slow), count: 245, ends: time.Hour, want: "context deadline exceeded"},
		"later by that of two slow 429s":         {steps: append([]step{{missing, 0}, {slow, 16 * second}, {slow, 16 * second}}, failing(999, missing)...), lasts: NotFoundLimit + (16+1+16+2)*second, want: "last"},
		"at once if a 429 asks for too long":     {timeout: 40 * second, steps: []step{asking(429, 40*second)}, count: 1, want: "late"},
		"just before the deadline if a 429 asks": {timeout: 40 * second, steps: []step{asking(429, 39*second)}, count: 2, ends: 39 * second},

		"with pauses up to a sixth of the limit":    {steps: failing(8, down), count: 9, ends: 3500*time.Millisecond + 5*DisturbanceLimit/6/2},
		"with pauses up to the longest one":         {within: waitLimits, steps: failing(8, down), count: 9, ends: 7500*time.Millisecond + 4*maxBackoff/2},
		"as a failure asks, within a minute":        {within: waitLimits, steps: []step{asking(503, 2*second), asking(503, time.Hour)}, count: 3, ends: 2*second + maxRetryAfter},
		"before the deadline whatever it asks":      {timeout: 40 * second, steps: []step{asking(503, time.Hour)}, count: 2, ends: 40*second - lastAttempt},
		"once more before the deadline":             {timeout: 28 * second, steps: failing(6, slow), count: 7, ends: 28*second - lastAttempt},
		"until a deadline that is near, at leisure": {timeout: 3 * second, steps: failing(99, down), count: 3, ends: 3 * second, want: "context deadline exceeded"},
		"with an interrupt of a later attempt":      {steps: []step{{down, 0}, {down, 99 * second}}, interrupt: 25 * second, count: 2, ends: 25 * second, want: "interrupt"},
	}, func(t *testing.T, test row) {
		var sent []time.Time // attempts
		var last *Error
		ctx, cancel := context.WithCancelCause(bounded(t, cmp.Or(test.timeout, 2*time.Hour)))
		defer cancel(nil)
		if test.interrupt > 0 {
			time.AfterFunc(test.interrupt, func() { cancel(errInterrupt) })
		}
		c := newClient(t)
		began := time.Now()
		err := c.repeat(ctx, cmp.Or(test.within, plainLimits), func(number int) (bool, *Error) {
			sent = append(sent, time.Now())
			if number != len(sent) {
				t.Errorf("attempt %d is number %d", len(sent), number)
			}
			if number > len(test.steps) {
				return false, nil
			}
			step := test.steps[number-1]
			if step.takes == 99*second { // until it is interrupted
				return false, wrap(c.config.Clock.Sleep(ctx, step.takes), ended)
			}
			<-time.After(step.takes)
			failure := *step.Error
			last = &failure
			return step.Error == further, last
		})
		took := time.Since(began)
		if got := ending(err, last); got != test.want {
			t.Errorf("ends with %v (%s), want %s", err, got, test.want)
		}
		if len(sent) <= test.before {
			t.Fatalf("%d attempts", len(sent))
		}
		since := sent[test.before].Add(test.steps[test.before].takes) // the streak has its clock from the first response on
		if test.lasts > 0 && !endsAt(test.lasts, since, sent) || test.lasts == 0 && (len(sent) != test.count || took.Truncate(time.Millisecond) != test.ends) {
			t.Errorf("%d attempts at %v in %s, want %d in %s, or for %s", len(sent), sent, took, test.count, test.ends, test.lasts)
		}
		if err == nil || test.interrupt > 0 {
			return
		}
		if failed := len(sent) - test.before; failed > 1 && (err.Attempts != failed || err.Elapsed != time.Since(sent[test.before])) || failed == 1 && err.Attempts+int(err.Elapsed) != 0 {
			t.Errorf("%d attempts over %s", err.Attempts, err.Elapsed)
		}
	})
}

// ending says how a call ended whose last attempt failed with the given error.
func ending(err, last *Error) string {
	switch {
	case err == nil:
		return ""
	case err == last:
		return "last"
	case last != nil && err.Text == last.Text+", after the timeout of this operation":
		return "late"
	case err.Last != last, IsNotFound(err), last != nil && err.MayHaveActed != last.MayHaveActed && err.cause == nil:
		return "a wrong last error"
	case err.Reason == ReasonOutage:
		return "outage"
	case err.cause == nil:
		return "a wrong cause"
	}
	return err.cause.Error()
}

// The attempts in some rows end after the interrupt, or later than the limit of their streak.
func TestInterruptEndsACallButNotAStartThatWasSent(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	const (
		in = "interrupt; in the last attempt, the "
		of = " for POST /v1/static-export/jobs, without a message"
		no = "request POST /v1/static-export/jobs to docs.test failed: no complete response within the request timeout"
	)
	type row struct {
		call     string
		handler  http.HandlerFunc
		dial     func(context.Context) error
		at, took time.Duration // when it comes, and the call ends
		requests int
		started  bool // or may have been
		reason   Reason
		want     string
	}
	inBubbles(t, map[string]row{
		"before a start":            {"start", nil, nil, 0, 0, 0, false, ReasonNone, "interrupt"},
		"during a read":             {"job", silent, nil, 5 * second, 5 * second, 1, true, ReasonNone, "interrupt"},
		"before a start succeeds":   {"start", late(20*second, reply(200, `{"jobId":"se_1"}`)), nil, 5 * second, 20 * second, 1, false, ReasonNone, "<nil>"},
		"before a start may have":   {"start", late(10*second, reply(500, "")), nil, 5 * second, 10 * second, 1, true, ReasonUnavailable, in + "service returned HTTP 500 Internal Server Error" + of},
		"before a start is refused": {"start", late(10*second, reply(403, "")), nil, 5 * second, 10 * second, 1, false, ReasonForbidden, in + "service returned HTTP 403 Forbidden" + of},
		"during a silent start":     {"start", silent, nil, 5 * second, 30 * second, 1, true, ReasonNoResponse, in + no},
		"before a connection":       {"start", nil, hangs, 5 * second, 5 * second, 0, false, ReasonNone, "interrupt"},
		"long before a connection":  {"start", nil, hangs, 75400 * time.Millisecond, 75400 * time.Millisecond, 0, false, ReasonNoResponse, in + no + " (2 attempts over 1m15s)"},
		"during a pause":            {"start", reply(429, "", "Retry-After: 60"), nil, 5 * second, 5 * second, 1, false, ReasonRateLimited, in + "service returned HTTP 429 Too Many Requests" + of + "; it asks for no request before 2000-01-01T00:01:00Z"},
		"while a job is not found":  {"job", reply(404, ""), nil, 3 * second, 3 * second, 3, false, ReasonNotFound, in + "service returned HTTP 404 Not Found for GET /v1/static-export/jobs/se_1, without a message (3 attempts over 3s)"},
	}, func(t *testing.T, test row) {
		c, s := serve(t, test.handler)
		s.dial = test.dial
		ctx, cancel := context.WithCancelCause(bounded(t, time.Hour))
		if test.at == 0 {
			cancel(errInterrupt)
		}
		time.AfterFunc(test.at, func() { cancel(errInterrupt) })
		_, err := calls[test.call](ctx, c)
		if took := time.Since(s.began); fmt.Sprint(err) != test.want || err != nil && !errors.Is(err, errInterrupt) || took != test.took || len(s.received()) != test.requests || MayHaveStarted(err) != test.started {
			t.Errorf("%v after %s and %d requests, may have started: %t; want %s after %s", err, took, len(s.received()), MayHaveStarted(err), test.want, test.took)
		}
		if ReasonOf(err) != test.reason || IsNotFound(err) {
			t.Errorf("reason %d, not found: %t", ReasonOf(err), IsNotFound(err))
		}
	})
}

var errInterrupt = errors.New("interrupt")

func TestHalfOfABackoffIsRandom(t *testing.T) {
	for random, want := range map[float64]time.Duration{0: 2 * second, .5: 3 * second} {
		c := newClient(t, func(config *Config) { config.Random = func() float64 { return random } })
		if got := c.backoff(3, time.Minute); got != want {
			t.Errorf("the third backoff is %s, want %s", got, want)
		}
	}
}
