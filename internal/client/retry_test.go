package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestEachCallHasItsLimits(t *testing.T) {
	type limits map[kind]time.Duration // how long such a failure is repeated; the pages say so
	once := limits{notFound: 0, temporary: 0, refused: 0}
	plain := limits{notFound: 30 * second, temporary: 30 * second, refused: 0}
	waiting := limits{notFound: 30 * second, temporary: 5 * time.Minute, refused: 30 * second}
	rows := map[string]bool{}
	for _, test := range []struct {
		call      string
		successes int // before the failures
		want      limits
	}{
		{"update", 0, plain},
		{"job", 0, plain},
		{"bundle", 0, plain},
		{"start", 0, once},
		{"wait", 0, plain},
		{"wait", 1, waiting},
		{"wait for an update", 0, plain},
		{"wait for an update", 1, waiting},
	} {
		rows[test.call] = true
		for status, means := range statuses {
			limit, found := test.want[means.kind]
			if !found && means.kind != throttled {
				t.Errorf("no row says for how long a failure of kind %d of reasons.go, such as %d, is repeated", means.kind, status)
			}
			if !found {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d after %d successes", test.call, status, test.successes), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var failures []time.Time
					handlers := slices.Repeat([]http.HandlerFunc{reply(200, `{"status":"running"}`)}, test.successes)
					c, _ := serve(t, inTurn(append(handlers, func(w http.ResponseWriter, r *http.Request) {
						failures = append(failures, time.Now())
						reply(status, "", "Retry-After: 1")(w, r) // a gateway may send it after the service has acted
					})...))
					if _, err := calls[test.call](bounded(t, time.Hour), c); err == nil || !endsAt(limit, failures[0], failures) {
						t.Errorf("%v after failures at %v, want them for %s", err, failures, limit)
					}
				})
			})
		}
	}
	for call := range calls {
		if !rows[call] {
			t.Errorf("the call %q has no row", call)
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

// words are the failures in [steps] that have no status of the API.
var words = map[string]kind{"none": unconnected, "no link": linkRefused, "disk": permanent, "end": ended}

// steps returns attempts that fail in turn, such as "9 x 503, 404 after 20s, 429 asking 40s". Anything else panics.
func steps(text string) (all []step) {
	for part := range strings.SplitSeq(text, ", ") {
		times, what, repeated := strings.Cut(part, " x ")
		if !repeated {
			times, what = "1", part
		}
		what, takes, _ := strings.Cut(what, " after ")
		what, asks, _ := strings.Cut(what, " asking ")
		means, known := meaning{kind: words[what]}, words[what] != none
		if status, err := strconv.Atoi(what); err == nil {
			means, known = meaningOf(status), true
		}
		n, err1 := strconv.Atoi(times)
		duration, err2 := time.ParseDuration(cmp.Or(takes, "0"))
		wait, err3 := time.ParseDuration(cmp.Or(asks, "0"))
		if err := errors.Join(err1, err2, err3); err != nil || !known {
			panic(fmt.Sprintf("%q is not a step: %v", part, err))
		}
		failure := newError(what, means)
		failure.retryAfter = wait
		all = append(all, slices.Repeat([]step{{failure, duration}}, n)...)
	}
	return all
}

func TestStreakEndsAtItsLimit(t *testing.T) {
	const (
		outage   = "consecutive requests failed for different reasons; in the last attempt, "
		deadline = "context deadline exceeded; in the last attempt, "
		half     = 500 * time.Millisecond
		further  = "502" // of an attempt that makes progress
	)
	type row struct {
		within  limits        // plainLimits if zero
		steps   string        // before a success
		timeout time.Duration // two hours if zero
		lasts   time.Duration // how long the streak lasts; zero: see count and ends
		before  int           // attempts before that streak
		count   int           // of attempts
		ends    time.Duration
		want    string // the error, without the number of attempts
	}
	rows := map[string]row{
		"of a start without a connection": {within: startLimits, steps: "999 x none", lasts: DisturbanceLimit, want: "none"},
		"of a start after a 429":          {within: startLimits, steps: "2 x 429", count: 3, ends: 3 * half},
		"of a read without a connection":  {steps: "999 x none", lasts: DisturbanceLimit, want: "none"},
		"with an outage in two ways": {
			within: waitLimits, steps: strings.Repeat("none, 503, ", 99) + "none", lasts: OutageLimit, want: "503",
		},
		"only when its most patient kind allows no more": {within: waitLimits, steps: "9 x 503, 999 x 403", lasts: OutageLimit, want: outage + "403"},
		"never as not found after an outage":             {within: waitLimits, steps: "20 x 503, 999 x 404", lasts: OutageLimit, want: outage + "404"},
		"never as not found in turn": {
			steps: strings.Repeat("404, 503, ", 99) + "404", lasts: max(NotFoundLimit, DisturbanceLimit), want: outage + "404",
		},
		"with a kind without a limit":      {steps: "3 x 503, 403", count: 4, ends: 7 * half, want: "403"},
		"of a link that is refused":        {steps: "999 x no link", lasts: DisturbanceLimit, want: "no link"},
		"with a destination that fails":    {within: waitLimits, steps: "disk", count: 1, want: "disk"},
		"with the end of the call":         {within: waitLimits, steps: "end", count: 1, want: "end"},
		"from zero after progress":         {steps: "9 x 503, 502, 999 x 503", lasts: DisturbanceLimit, before: 9, want: "503"},
		"after the limit of slow failures": {steps: "99 x 404 after 20s", lasts: NotFoundLimit, want: "404"},

		"throttled only at the deadline":         {steps: "300 x 429", timeout: time.Hour, count: 245, ends: time.Hour, want: deadline + "429"},
		"later by that of two slow 429s":         {steps: "404, 2 x 429 after 16s, 999 x 404", lasts: NotFoundLimit + (16+1+16+2)*second, want: "404"},
		"at once if a 429 asks for too long":     {steps: "429 asking 40s", timeout: 40 * second, count: 1, want: "429, after the timeout of this operation"},
		"just before the deadline if a 429 asks": {steps: "429 asking 39s", timeout: 40 * second, count: 2, ends: 39 * second},

		"with pauses up to a sixth of the limit":    {steps: "8 x 503", count: 9, ends: 7*half + 5*DisturbanceLimit/6/2},
		"with pauses up to the longest one":         {within: waitLimits, steps: "8 x 503", count: 9, ends: 15*half + 4*maxBackoff/2},
		"after its limit if a failure asks":         {steps: "99 x 503 asking 2m", count: 2, ends: maxRetryAfter, want: "503"},
		"as a failure asks, within a minute":        {within: waitLimits, steps: "503 asking 2s, 503 asking 1h", count: 3, ends: 2*second + maxRetryAfter},
		"before the deadline whatever it asks":      {steps: "503 asking 1h", timeout: 40 * second, count: 2, ends: 40*second - lastAttempt},
		"once more before the deadline":             {steps: "6 x 429", timeout: 28 * second, count: 7, ends: 28*second - lastAttempt},
		"until a deadline that is near, at leisure": {steps: "99 x 503", timeout: 3 * second, count: 3, ends: 3 * second, want: deadline + "503"},
	}
	var has [kindCount]bool
	for _, row := range rows {
		for _, step := range steps(row.steps) {
			has[step.kind] = true
		}
	}
	for kind := none + 1; kind < kindCount; kind++ {
		if !has[kind] {
			t.Errorf("no row has a failure of kind %d of reasons.go: add one, and if it has no status, one of words", kind)
		}
	}
	inBubbles(t, rows, func(t *testing.T, test row) {
		var sent []time.Time // attempts
		began, steps := time.Now(), steps(test.steps)
		err := newClient(t).repeat(bounded(t, cmp.Or(test.timeout, 2*time.Hour)), cmp.Or(test.within, plainLimits), func(a attempt) (bool, *Error) {
			if sent = append(sent, time.Now()); a.number != len(sent) {
				t.Errorf("attempt %d is number %d", len(sent), a.number)
			}
			if a.number > len(steps) {
				return false, nil
			}
			step := steps[a.number-1]
			<-time.After(step.takes)
			return step.Text == further, step.Error
		})
		took, got, want := time.Since(began), fmt.Sprint(err), cmp.Or(test.want, "<nil>")
		if failed := len(sent) - test.before; err != nil && failed > 1 {
			want += fmt.Sprintf(" (%d attempts over %s)", failed, time.Since(sent[test.before]).Round(second))
		}
		failure, failed := errors.AsType[*Error](err)
		if got != want || IsNotFound(err) != (test.want == "404") || failed && failure.Attempts == 1 {
			t.Errorf("ends with %s, want %s", got, want)
		}
		since := sent[min(test.before, len(sent)-1)].Add(steps[test.before].takes) // the streak has its clock from the first response on
		if test.lasts > 0 && !endsAt(test.lasts, since, sent) || test.lasts == 0 && (len(sent) != test.count || took != test.ends) {
			t.Errorf("%d attempts at %v in %s, want %d in %s, or for %s", len(sent), sent, took, test.count, test.ends, test.lasts)
		}
	})
}

// The attempts in some rows end after the interrupt, or later than the limit of their streak.
func TestInterruptEndsACallButNotAStartThatWasSent(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	const (
		in = "interrupt; in the last attempt, the "
		of = " for POST /v1/static-export/jobs, without a message"
		at = " for GET /v1/static-export/jobs/se_1, without a message"

		long = 75400 * time.Millisecond
		no   = "request POST /v1/static-export/jobs to docs.test failed: no complete response within the request timeout"
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
		"before a start":          {"start", nil, nil, 0, 0, 0, false, ReasonNone, "interrupt"},
		"during a read":           {"job", silent, nil, 5 * second, 5 * second, 1, true, ReasonNone, "interrupt"},
		"before a start succeeds": {"start", late(20*second, reply(200, `{"jobId":"se_1"}`)), nil, 5 * second, 20 * second, 1, false, ReasonNone, "<nil>"},
		"before a start may have": {
			"start", late(10*second, reply(500, "")), nil, 5 * second, 10 * second, 1, true, ReasonUnavailable,
			in + "service returned HTTP 500 Internal Server Error" + of,
		},
		"before a start is refused": {
			"start", late(10*second, reply(403, "")), nil, 5 * second, 10 * second, 1, false, ReasonForbidden,
			in + "service returned HTTP 403 Forbidden" + of,
		},
		"during a silent start": {"start", silent, nil, 5 * second, 30 * second, 1, true, ReasonTooSlow, in + no},
		"during a later read": {
			"job", inTurn(reply(503, ""), silent), nil, 5 * second, 5 * second, 2, true, ReasonOverloaded,
			in + "service returned HTTP 503 Service Unavailable" + at,
		},
		"before a connection":      {"start", nil, hangs, 5 * second, 5 * second, 0, false, ReasonNone, "interrupt"},
		"long before a connection": {"start", nil, hangs, long, long, 0, false, ReasonTooSlow, in + no + " (2 attempts over 1m15s)"},
		"during a pause": {
			"start", reply(429, "", "Retry-After: 60"), nil, 5 * second, 5 * second, 1, false, ReasonRateLimited,
			in + "service returned HTTP 429 Too Many Requests" + of + "; it asks clients to wait until 2000-01-01T00:01:00Z",
		},
		"while a job is not found": {
			"job", reply(404, ""), nil, 3 * second, 3 * second, 3, false, ReasonNotFound,
			in + "service returned HTTP 404 Not Found" + at + " (3 attempts over 3s)",
		},
	}, func(t *testing.T, test row) {
		c, s := serve(t, test.handler)
		s.dial = test.dial
		ctx, cancel := context.WithCancelCause(bounded(t, time.Hour))
		if test.at == 0 {
			cancel(errInterrupt)
		}
		time.AfterFunc(test.at, func() { cancel(errInterrupt) })
		_, err := calls[test.call](ctx, c)
		took, requests, started := time.Since(s.began), len(s.received()), MayHaveStarted(err)
		if fmt.Sprint(err) != test.want || took != test.took || requests != test.requests || started != test.started {
			t.Errorf("%v after %s and %d requests, may have started: %t; want %s after %s", err, took, requests, started, test.want, test.took)
		}
		if err != nil && !errors.Is(err, errInterrupt) {
			t.Errorf("%v does not wrap the interrupt", err)
		}
		if ReasonOf(err) != test.reason || IsNotFound(err) {
			t.Errorf("reason %d, not found: %t", ReasonOf(err), IsNotFound(err))
		}
	})
}

var errInterrupt = errors.New("interrupt")

func TestHalfOfABackoffIsRandom(t *testing.T) {
	c := newClient(t, func(config *Config) { config.Random = func() float64 { return .5 } })
	if got := c.backoff(3, time.Minute); got != 3*second {
		t.Errorf("the third backoff is %s, want 3 s, of 2 s to 4 s", got)
	}
}
