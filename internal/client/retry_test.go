package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The pages say for how long a failure is repeated. What they say is what is tested.
func TestEachCallHasTheLimitsOnThePage(t *testing.T) {
	page := limitsOnThePage(t)
	for name, call := range calls {
		for _, answered := range []bool{false, true} {
			row := "after the first success"
			if name == "start" {
				row = "the start of an export"
			} else if !answered {
				row = "before the first success"
			}
			for status, means := range statuses {
				limit, found := page[row][means.kind]
				if !found && means.kind != throttled {
					t.Errorf("no column of the page says for how long a failure of kind %d of reasons.go, such as %d, is repeated", means.kind, status)
				}
				if !found {
					continue
				}
				t.Run(fmt.Sprintf("%s, answered before %t, %d", name, answered, status), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						var failures []time.Time
						c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
							if answered && len(failures) == 0 && strings.HasSuffix(r.URL.Path, "/first") {
								reply(200, `{"status":"running"}`)(w, r)
								return
							}
							failures = append(failures, time.Now())
							reply(status, "")(w, r)
						})
						o := c.Begin()
						if answered {
							_, _ = o.GetStaticExportJob(t.Context(), "first")
						}
						if _, err := call(bounded(t, time.Hour), o); err == nil || !endsAt(limit, failures[0], failures) {
							t.Errorf("%v after failures at %v, want them for %s", err, failures, limit)
						}
					})
				})
			}
		}
	}
}

// limitsOnThePage reads the table of Troubleshooting.
func limitsOnThePage(t *testing.T) map[string]map[kind]time.Duration {
	t.Helper()
	text, err := os.ReadFile("../../templates/guides/errors.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	durations := map[string]time.Duration{"not retried": 0, "30 seconds": 30 * second, "5 minutes": 5 * time.Minute}
	const head = "| Request | No connection | Temporary failure | Only 404 or 410 | Any other failure |\n|---|---|---|---|---|\n"
	resource, err := os.ReadFile("../../templates/resources/static_export.md.tmpl")
	if missing := fmt.Sprintf("404 or 410 for %.0f seconds", NotFoundLimit.Seconds()); err != nil || !strings.Contains(string(resource), missing) {
		t.Errorf("the page of the export does not say %q: %v", missing, err)
	}
	_, table, found := strings.Cut(string(text), head)
	if !found {
		t.Fatal("the page has no table of retries with the expected columns")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	page := map[string]map[kind]time.Duration{}
	for line := range strings.Lines(table + "\n") {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		page[cells[0]] = map[kind]time.Duration{}
		for i, column := range []kind{unconnected, temporary, notFound, refused} {
			limit, known := durations[cells[i+1]]
			if !known {
				t.Errorf("%q is not a limit", cells[i+1])
			}
			page[cells[0]][column] = limit
		}
	}
	return page
}

// endsAt reports whether the last attempt is the first one that was sent at the limit or later.
func endsAt(limit time.Duration, since time.Time, sent []time.Time) bool {
	end, last := since.Add(limit), len(sent)-1
	return !sent[last].Before(end) && (last == 0 || sent[last-1].Before(end))
}

// try is how an attempt fails: with a status, or in a kind that has none.
type try struct {
	status      int
	kind        kind
	takes, asks time.Duration
}

func (f try) err() *Error {
	failure := newError(fmt.Sprint("kind ", f.kind), meaning{kind: f.kind})
	if f.status > 0 {
		failure = newError(fmt.Sprint(f.status), meaningOf(f.status, 0))
	}
	failure.retryAfter = f.asks
	return failure
}

func times(n int, tries ...try) []try { return slices.Repeat(tries, n) }

func TestStreakEndsAtItsLimit(t *testing.T) {
	const (
		outage   = "consecutive requests failed for different reasons; in the last attempt, "
		deadline = "context deadline exceeded; in the last attempt, "
		half     = 500 * time.Millisecond
		further  = 502 // of an attempt that makes progress
	)
	type row struct {
		within  *limits       // firstLimits if nil
		tries   []try         // before a success
		timeout time.Duration // two hours if zero
		lasts   time.Duration // how long the streak lasts; zero: see count and ends
		before  int           // attempts before that streak
		count   int           // of attempts
		ends    time.Duration
		want    string // the error, without the number of attempts
	}
	none, link, slow := try{kind: unconnected}, try{kind: linkRefused}, try{status: 404, takes: 20 * second}
	one := func(status int) try { return try{status: status} }
	asking := func(status int, asks time.Duration) try { return try{status: status, asks: asks} }
	rows := map[string]row{
		"of a start without a connection": {within: &startLimits, tries: times(999, none), lasts: DisturbanceLimit, want: "kind 5"},
		"of a start after a 429":          {within: &startLimits, tries: times(2, one(429)), count: 3, ends: 3 * half},
		"of a read without a connection":  {tries: times(999, none), lasts: DisturbanceLimit, want: "kind 5"},
		"with an outage in two ways":      {within: &laterLimits, tries: times(99, none, one(503)), lasts: OutageLimit, want: "503"},
		"only when its most patient kind allows no more": {
			within: &laterLimits, tries: slices.Concat(times(9, one(503)), times(999, one(403))), lasts: OutageLimit, want: outage + "403",
		},
		"never as not found after an outage": {
			within: &laterLimits, tries: slices.Concat(times(20, one(503)), times(999, one(404))), lasts: OutageLimit, want: outage + "404",
		},
		"never as not found in turn":    {tries: times(99, one(404), one(503)), lasts: max(NotFoundLimit, DisturbanceLimit), want: outage + "404"},
		"with a kind without a limit":   {tries: append(times(3, one(503)), one(403)), count: 4, ends: 7 * half, want: "403"},
		"of a link that is refused":     {within: &laterLimits, tries: times(999, link), lasts: DisturbanceLimit, want: "kind 8"},
		"with a destination that fails": {within: &laterLimits, tries: times(1, try{kind: permanent}), count: 1, want: "kind 1"},
		"from zero after progress": {
			tries: slices.Concat(times(9, one(503)), times(1, one(further)), times(999, one(503))), lasts: DisturbanceLimit, before: 9, want: "503",
		},
		"after the limit of slow failures": {tries: times(99, slow), lasts: NotFoundLimit, want: "404"},

		"throttled only at the deadline": {tries: times(300, one(429)), timeout: time.Hour, count: 245, ends: time.Hour, want: deadline + "429"},
		"later by that of two slow 429s": {
			tries: slices.Concat(times(1, one(404)), times(2, try{status: 429, takes: 16 * second}), times(999, one(404))),
			lasts: NotFoundLimit + (16+1+16+2)*second, want: "404",
		},
		"at once if a 429 asks for too long": {
			tries: times(1, asking(429, 40*second)), timeout: 40 * second, count: 1, want: "429, after the timeout of this operation",
		},
		"just before the deadline if a 429 asks": {tries: times(1, asking(429, 39*second)), timeout: 40 * second, count: 2, ends: 39 * second},

		"with pauses up to a sixth of the limit": {tries: times(8, one(503)), count: 9, ends: 7*half + 5*DisturbanceLimit/6/2},
		"with pauses up to the longest one":      {within: &laterLimits, tries: times(8, one(503)), count: 9, ends: 15*half + 4*maxBackoff/2},
		"after its limit if a failure asks":      {tries: times(99, asking(503, 2*time.Minute)), count: 2, ends: maxRetryAfter, want: "503"},
		"as a failure asks, within a minute": {
			within: &laterLimits, tries: []try{asking(503, 2*second), asking(503, time.Hour)}, count: 3, ends: 2*second + maxRetryAfter,
		},
		"before the deadline whatever it asks":      {tries: times(1, asking(503, time.Hour)), timeout: 40 * second, count: 2, ends: 40*second - lastAttempt},
		"once more before the deadline":             {tries: times(6, one(429)), timeout: 28 * second, count: 7, ends: 28*second - lastAttempt},
		"until a deadline that is near, at leisure": {tries: times(99, one(503)), timeout: 3 * second, count: 3, ends: 3 * second, want: deadline + "503"},
	}
	inBubbles(t, rows, func(t *testing.T, test row) {
		var sent []time.Time // attempts
		began := time.Now()
		err := newClient(t).repeat(bounded(t, cmp.Or(test.timeout, 2*time.Hour)), cmp.Or(test.within, &firstLimits), func(a attempt) (bool, *Error) {
			if sent = append(sent, time.Now()); len(sent) <= test.before && a.number != len(sent) {
				t.Errorf("attempt %d is number %d", len(sent), a.number)
			}
			if len(sent) > len(test.tries) {
				return false, nil
			}
			try := test.tries[len(sent)-1]
			<-time.After(try.takes)
			return try.status == further, try.err()
		})
		took, got, want := time.Since(began), fmt.Sprint(err), cmp.Or(test.want, "<nil>")
		if failed := len(sent) - test.before; err != nil && failed > 1 {
			want += fmt.Sprintf(" (%d attempts over %s)", failed, time.Since(sent[test.before]).Round(second))
		}
		failure, failed := errors.AsType[*Error](err)
		if got != want || IsNotFound(err) != (test.want == "404") || failed && failure.Attempts == 1 {
			t.Errorf("ends with %s, want %s", got, want)
		}
		since := sent[min(test.before, len(sent)-1)].Add(test.tries[test.before].takes) // the streak has its clock from the first response on
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
		no   = "request POST /v1/static-export/jobs to docs.test failed: no complete response within "
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
		"during a silent start": {"start", silent, nil, 5 * second, 35 * second, 1, true, ReasonTooSlow, in + no + "35s"},
		"during a later read": {
			"job", inTurn(reply(503, ""), silent), nil, 5 * second, 5 * second, 2, true, ReasonOverloaded,
			in + "service returned HTTP 503 Service Unavailable" + at,
		},
		"before a connection":      {"start", nil, hangs, 5 * second, 5 * second, 0, false, ReasonNone, "interrupt"},
		"long before a connection": {"start", nil, hangs, long, long, 0, false, ReasonTooSlow, in + no + "30s (2 attempts over 1m15s)"},
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
		_, err := calls[test.call](ctx, c.Begin())
		took, requests := time.Since(s.began), len(s.received())
		_, started := MayHaveStarted(err)
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
