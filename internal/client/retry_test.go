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

// Each cell says for how long a failure is repeated that lasts. The deadline is an hour away.
func TestEachCallHasItsPatience(t *testing.T) {
	wait := func(patience Patience) func(context.Context, *Client) (any, error) {
		return func(ctx context.Context, c *Client) (any, error) {
			return c.WaitForStaticExport(ctx, "se_1", 0, patience)
		}
	}
	waitForUpdate := func(ctx context.Context, c *Client) (any, error) { return c.WaitForUpdate(ctx, "se_1", 0, nil) }
	statuses := [...]int{404, 503, 403}
	once, plain, patient := [3]time.Duration{}, [3]time.Duration{NotFoundLimit, DisturbanceLimit, 0}, [3]time.Duration{NotFoundLimit, OutageLimit, DisturbanceLimit}
	for _, test := range []struct {
		name      string
		call      func(context.Context, *Client) (any, error)
		successes int // before the failures
		want      [3]time.Duration
	}{
		{"an update", calls["update"], 0, plain},
		{"a job", calls["job"], 0, plain},
		{"a link", calls["bundle"], 0, plain},
		{"a first link", func(ctx context.Context, c *Client) (any, error) { return c.GenerateBundle(ctx, "se_1", Patient) }, 0, patient},
		{"a start", calls["start"], 0, once},
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
		lasts     time.Duration // how long the streak lasts; zero: see count and ends
		before    int           // attempts before that streak
		count     int           // of attempts
		ends      time.Duration
		want      string // how: see ending
	}
	inBubbles(t, map[string]row{
		"of a kind that is not repeated":                 {steps: []step{{forbidden, 20 * second}}, count: 1, ends: 20 * second, want: "last"},
		"of a failure that is no response":               {patience: Patient, steps: failing(9, os.ErrClosed), count: 1, want: "last"},
		"of a start with what may have been sent":        {patience: starting, steps: failing(9, unsent, lost), count: 2, ends: half, want: "last"},
		"of a start without a connection, late":          {patience: starting, steps: failing(999, unsent), lasts: DisturbanceLimit, want: "last"},
		"of a start after a 429":                         {patience: starting, steps: failing(2, slow), count: 3, ends: 1500 * time.Millisecond},
		"of a read without a connection":                 {steps: failing(999, unsent), lasts: DisturbanceLimit, want: "last"},
		"of a wait without a connection":                 {patience: Patient, steps: failing(999, unsent), lasts: OutageLimit, want: "last"},
		"of a refused link":                              {steps: failing(999, denied), lasts: DisturbanceLimit, want: "last"},
		"with an outage in two ways":                     {patience: Patient, steps: failing(999, unsent, lost), lasts: OutageLimit, want: "last"},
		"only when its most patient kind allows no more": {patience: Patient, steps: append(failing(9, down), failing(999, forbidden)...), lasts: OutageLimit, want: "outage"},
		"never as not found after an outage":             {patience: Patient, steps: append(failing(20, down), failing(999, missing)...), lasts: OutageLimit, want: "outage"},
		"never as not found in turn":                     {steps: failing(999, missing, down), lasts: max(NotFoundLimit, DisturbanceLimit), want: "outage"},
		"never as not found after a refused link":        {steps: append(failing(9, denied), failing(999, missing)...), lasts: max(NotFoundLimit, DisturbanceLimit), want: "outage"},
		"with a kind without a limit":                    {steps: append(failing(3, down), failing(9, forbidden)...), count: 4, ends: 3500 * time.Millisecond, want: "last"},
		"from zero after progress":                       {steps: append(append(failing(9, down), step{further, 0}), failing(999, down)...), before: 9, lasts: DisturbanceLimit, want: "last"},
		"after the limit of slow failures":               {steps: slices.Repeat([]step{{missing, 20 * second}}, 99), lasts: NotFoundLimit, want: "last"},

		"throttled only at the deadline":         {timeout: time.Hour, steps: failing(300, slow), count: 245, ends: time.Hour, want: "context deadline exceeded"},
		"later by that of two slow 429s":         {steps: append([]step{{missing, 0}, {slow, 16 * second}, {slow, 16 * second}}, failing(999, missing)...), lasts: NotFoundLimit + (16+1+16+2)*second, want: "last"},
		"at once if a 429 asks for too long":     {timeout: 40 * second, steps: []step{asking(429, 40*second)}, count: 1, want: "busy"},
		"just before the deadline if a 429 asks": {timeout: 40 * second, steps: []step{asking(429, 39*second)}, count: 2, ends: 39 * second},

		"with pauses up to a sixth of the limit":    {steps: failing(8, down), count: 9, ends: 3500*time.Millisecond + 5*DisturbanceLimit/6/2},
		"with pauses up to the longest one":         {patience: Patient, steps: failing(8, down), count: 9, ends: 7500*time.Millisecond + 4*maxBackoff/2},
		"as a failure asks, within a minute":        {patience: Patient, steps: []step{asking(503, 2*second), asking(503, time.Hour)}, count: 3, ends: 2*second + maxRetryAfter},
		"before the deadline whatever it asks":      {timeout: 40 * second, steps: []step{asking(503, time.Hour)}, count: 2, ends: 40*second - lastAttempt},
		"once more before the deadline":             {timeout: 28 * second, steps: failing(6, slow), count: 7, ends: 28*second - lastAttempt},
		"until a deadline that is near, at leisure": {timeout: 3 * second, steps: failing(99, down), count: 3, ends: 3 * second, want: "context deadline exceeded"},
		"with an interrupt of the first attempt":    {steps: []step{{down, 99 * second}}, interrupt: 25 * second, count: 1, ends: 25 * second, want: "interrupt"},
		"with an interrupt of a later attempt":      {steps: []step{{down, 0}, {down, 99 * second}}, interrupt: 25 * second, count: 2, ends: 25 * second, want: "interrupt"},
		"with an interrupt more than with a 429":    {timeout: time.Hour, steps: []step{{asking(429, 2*time.Hour).error, 5 * second}}, interrupt: 4 * second, count: 1, ends: 4 * second, want: "interrupt"},
	}, func(t *testing.T, test row) {
		var sent []time.Time // attempts
		last := error(nil)
		ctx, cancel := context.WithCancelCause(bounded(t, cmp.Or(test.timeout, 2*time.Hour)))
		defer cancel(nil)
		if test.interrupt > 0 {
			time.AfterFunc(test.interrupt, func() { cancel(errInterrupt) })
		}
		c := newClient(t)
		began := time.Now()
		err := c.repeat(ctx, test.patience, func(a attempt) error {
			sent = append(sent, time.Now())
			alone := test.patience == starting || last != nil && classify(last).kind != throttled
			if want := (attempt{number: len(sent), alone: alone}); a != want {
				t.Errorf("attempt %+v, want %+v", a, want)
			}
			if len(sent) > len(test.steps) {
				return nil
			}
			step := test.steps[len(sent)-1]
			if cause := c.config.Clock.Sleep(ctx, step.takes); cause != nil && step.takes > 5*second {
				return cause
			}
			last = step.error
			return step.error
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
		gaveUp, ok := errors.AsType[*GaveUpError](err)
		if ok && test.interrupt == 0 && (gaveUp.Attempts != len(sent)-test.before || gaveUp.Elapsed != time.Since(sent[test.before])) {
			t.Errorf("gave up after %d attempts in %s", gaveUp.Attempts, gaveUp.Elapsed)
		}
	})
}

// ending says how a call ended whose last attempt failed with the given error.
func ending(err, last error) string {
	gaveUp, ok := errors.AsType[*GaveUpError](err)
	busy, isBusy := errors.AsType[*BusyError](err)
	switch {
	case err == nil:
		return ""
	case ok && !errors.Is(gaveUp.Last, last):
		return "a wrong last error"
	case ok && ReasonOf(err) == ReasonOutage:
		return "outage"
	case isBusy && busy.RetryAt.Equal(time.Now().Add(40*second)):
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
	down := errors.New("down")
	at := time.Date(2000, time.January, 1, 1, 2, 31, 0, time.FixedZone("", 3600))
	for want, err := range map[string]*GaveUpError{
		"down (2 attempts in 1m31s)": {Cause: down, Last: down, Attempts: 2, Elapsed: 91400 * time.Millisecond},
		"consecutive requests failed for different reasons; the last attempt: down (2 attempts in 2s)":                       {Cause: ErrOutage, Last: down, Attempts: 2, Elapsed: 2 * second},
		"the service accepts no request before 2000-01-01T00:02:31Z, after this operation's timeout; the last attempt: down": {Cause: &BusyError{at}, Last: down, Attempts: 1},
	} {
		if err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestRetryAfterOfAPollIsAdvice(t *testing.T) {
	inSimulation(t, func(t *testing.T, w *simulation) {
		w.AddJob(simulator.JobSpec{ID: "se_1", Queue: noTime, Run: 2 * second})
		w.AddFault(simulator.Fault{Header: http.Header{"Retry-After": {"60"}}})
		_, err := w.WaitForStaticExport(bounded(t, 25*second), "se_1", 0, Patient)
		if polls := w.polls(simulator.EndpointJob); err != nil || !slices.Equal(polls, []float64{1, 20}) {
			t.Errorf("%v after polls at %v", err, polls)
		}
	})
}
