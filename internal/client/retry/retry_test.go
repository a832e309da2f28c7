// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

var errInterrupt = errors.New("interrupt")

// failure is an attempt that fails after a while.
type failure struct {
	Kind
	asks     time.Duration // Retry-After
	takes    time.Duration
	advanced bool
	none     bool // it succeeds, but the work is not done
}

func (f failure) Error() string {
	return []string{"permanent", "throttled", "unconnected", "temporary", "not found", "other"}[f.Kind]
}

// row returns failures of one kind.
func row(count int, kind Kind) []failure { return slices.Repeat([]failure{{Kind: kind}}, count) }

func TestRunRepeatsAttemptsToTheEndOrAFailure(t *testing.T) {
	const minutes, seconds = Limit(5 * time.Minute), Limit(30 * s)
	rule := Rule{Unconnected: Retries, Temporary: minutes, NotFound: seconds, Other: Retries}
	proven := Rule{Unconnected: minutes, Temporary: minutes, NotFound: seconds, Other: Retries}
	for name, test := range map[string]struct {
		first     time.Duration // pause before the first attempt
		interval  time.Duration // 10 s if zero; adaptive if negative
		asked     time.Duration // by a success
		timeout   time.Duration // of the context; two hours if zero
		interrupt time.Duration // when the context is canceled; never if zero
		failures  []failure     // in turn
		repeated  bool          // forever
		done      time.Duration // of the work
		count     int           // of attempts
		ends      time.Duration
		want      string // the error
	}{
		"at once, and until the work is done":    {done: 42 * s, count: 6, ends: 50 * s},
		"after a first pause":                    {first: s, done: 42 * s, count: 6, ends: 51 * s},
		"as often as while queued":               {interval: -1, first: s, done: 30 * s, count: 29, ends: 31026 * time.Millisecond},
		"as seldom as a success asks":            {asked: 60 * s, done: 61 * s, count: 3, ends: 120 * s},
		"a minute after a success at the latest": {asked: 24 * time.Hour, done: 61 * s, count: 3, ends: 120 * s},

		"as often as allowed by number":                {failures: row(9, Other), count: 5, ends: 7500 * time.Millisecond, want: "other"},
		"through as many failures":                     {failures: row(4, Other), count: 5, ends: 7500 * time.Millisecond},
		"by number before a success":                   {failures: row(99, Unconnected), count: 5, ends: 7500 * time.Millisecond, want: "unconnected"},
		"for five minutes after a success":             {failures: append([]failure{{none: true}}, row(99, Unconnected)...), count: 45, ends: 310 * s, want: "unconnected"},
		"for half a minute":                            {failures: row(99, NotFound), count: 15, ends: 31 * s, want: "not found"},
		"not at all after a failure that is permanent": {failures: row(9, Permanent), count: 1, want: "permanent"},
		"through an outage of several kinds":           {failures: append([]failure{{none: true}}, slices.Repeat([]failure{{Kind: Unconnected}, {Kind: Temporary}}, 99)...), count: 45, ends: 310 * s, want: "temporary"},
		"through a kind after another":                 {failures: append(row(20, Temporary), row(8, NotFound)...), count: 29, ends: 147500 * time.Millisecond},
		"until its context ends if the kinds alternate": {
			timeout: 541 * s, failures: []failure{{Kind: NotFound}, {Kind: Temporary}}, repeated: true, count: 112, ends: 541 * s,
			want: "context deadline exceeded; the last attempt: temporary",
		},
		"by number through another kind":     {failures: []failure{{Kind: NotFound}, {Kind: Other}}, repeated: true, count: 10, ends: 45 * s, want: "other"},
		"from zero after progress":           {failures: []failure{{Kind: Other}, {Kind: Other}, {Kind: Other, advanced: true}, {Kind: Other}, {Kind: Other}, {Kind: Other}}, count: 7, ends: 9 * s},
		"from zero after a success":          {failures: append(append(row(4, Other), failure{none: true}), row(4, Other)...), count: 10, ends: 25 * s},
		"by number whatever else happens":    {failures: append(row(10, Temporary), row(9, Other)...), count: 15, ends: 112500 * time.Millisecond, want: "other"},
		"for half a minute of slow failures": {failures: []failure{{Kind: NotFound, takes: 20 * s}}, repeated: true, count: 4, ends: 83500 * time.Millisecond, want: "not found"},

		"as long as throttled":                {failures: row(300, Throttled), timeout: time.Hour, count: 245, ends: time.Hour, want: "context deadline exceeded; the last attempt: throttled"},
		"as soon as throttling allows":        {failures: slices.Repeat([]failure{{Kind: Throttled, asks: s}}, 9), count: 10, ends: 9 * s},
		"for half a minute after throttling":  {failures: append([]failure{{Kind: Throttled, asks: 40 * s}}, row(99, NotFound)...), count: 15, ends: 70500 * time.Millisecond, want: "not found"},
		"for half a minute around throttling": {failures: append(append(row(2, NotFound), failure{Kind: Throttled, asks: 40 * s}), row(99, NotFound)...), count: 16, ends: 71500 * time.Millisecond, want: "not found"},
		"by number around throttling":         {failures: append(append(row(2, Other), row(5, Throttled)...), row(99, Other)...), count: 10, ends: 75500 * time.Millisecond, want: "other"},

		"later if a failure asks for that":          {failures: []failure{{Kind: Other, asks: 90 * s}}, count: 2, ends: 90 * s},
		"later than a failure asks, if often":       {failures: slices.Repeat([]failure{{Kind: Other, asks: 2 * s}}, 4), count: 5, ends: 10 * s},
		"not before the service allows it":          {timeout: 40 * s, failures: []failure{{Kind: Temporary, asks: 40 * s}}, count: 1, want: "the service will not accept another attempt until 2000-01-01T00:00:40Z, which is after this operation's timeout; the last attempt: temporary"},
		"just before the deadline if allowed":       {timeout: 40 * s, failures: []failure{{Kind: Temporary, asks: 39 * s}}, count: 2, ends: 39 * s},
		"until its context ends":                    {done: time.Hour, interrupt: 25 * s, count: 3, ends: 25 * s, want: "interrupt"},
		"not at all if its context ends before":     {first: s, interrupt: s / 2, ends: s / 2, want: "interrupt"},
		"until its context ends an attempt":         {failures: []failure{{Kind: Temporary}, {Kind: Temporary, takes: 99 * s}}, interrupt: 25 * s, count: 2, ends: 25 * s, want: "interrupt; the last attempt: temporary"},
		"once more before the deadline":             {interval: 10 * time.Minute, timeout: 5 * time.Minute, done: 100 * s, count: 2, ends: 295 * s},
		"once more whatever a success asks":         {asked: 60 * s, timeout: 25 * s, done: 2 * s, count: 2, ends: 20 * s},
		"before a turn that is at the deadline":     {interval: 5 * time.Minute, timeout: 5 * time.Minute, done: 100 * s, count: 2, ends: 295 * s},
		"until the deadline after the last one":     {interval: 10 * time.Minute, timeout: 5 * time.Minute, done: time.Hour, count: 2, ends: 300 * s, want: "context deadline exceeded"},
		"once if the deadline is near":              {timeout: 5 * s, done: time.Hour, count: 1, ends: 5 * s, want: "context deadline exceeded"},
		"until a deadline that is near, at leisure": {timeout: 3 * s, failures: row(99, Temporary), count: 3, ends: 3 * s, want: "context deadline exceeded; the last attempt: temporary"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, stop := context.WithTimeout(t.Context(), cmp.Or(test.timeout, 2*time.Hour))
				defer stop()
				ctx, cancel := context.WithCancelCause(ctx)
				defer cancel(nil)
				if test.interrupt > 0 {
					time.AfterFunc(test.interrupt, func() { cancel(errInterrupt) })
				}
				l := Loop{
					Clock: clock.System{}, Rule: rule, Proven: proven, MaxRetries: 4, First: test.first, Random: func() float64 { return 0 },
					Schedule: Schedule{Interval: max(0, cmp.Or(test.interval, 10*s))},
					Classify: func(err error) (Kind, time.Duration) {
						f, _ := errors.AsType[failure](err)
						return f.Kind, f.asks
					},
				}
				count, advanced := 0, false
				l.Progressed = func() bool { return advanced }
				err := l.Run(ctx, func(ctx context.Context) (*Poll, error) {
					count++
					failed := count - 1
					if test.repeated {
						failed %= len(test.failures)
					}
					over := failed >= len(test.failures)
					switch {
					case over && time.Since(began) >= test.done:
						return nil, nil
					case over || test.failures[failed].none:
						return &Poll{Queued: true, RetryAfter: test.asked}, nil
					}
					f := test.failures[failed]
					if err := l.Clock.Sleep(ctx, f.takes); err != nil {
						return nil, err
					}
					advanced = f.advanced
					return nil, f
				})
				got := fmt.Sprint(err)
				if ended, ok := errors.AsType[*EndedError](err); ok {
					got = strings.TrimSuffix(got, fmt.Sprintf(" (%d attempts in %s)", ended.Attempts, ended.Elapsed.Round(s)))
				}
				if got != cmp.Or(test.want, "<nil>") {
					t.Errorf("the error is %s, want %s", err, cmp.Or(test.want, "<nil>"))
				}
				if took := time.Since(began).Truncate(time.Millisecond); count != test.count || took != test.ends {
					t.Errorf("%d attempts in %s, want %d in %s", count, took, test.count, test.ends)
				}
			})
		})
	}
}

func TestBackoffDoublesUpToItsCap(t *testing.T) {
	for _, test := range []struct {
		failures int
		limit    Limit
		random   float64
		want     time.Duration
	}{
		{1, 0, 1, s},
		{2, Retries, 1, 2 * s},
		{5, Retries, 1, 16 * s},
		{6, Retries, 1, 30 * s},
		{1000, Retries, 1, 30 * s},
		{1, 0, 0, s / 2},
		{1, 0, .75, 875 * time.Millisecond},
		{9, Limit(5 * time.Minute), 1, 15 * s},
		{9, Limit(30 * s), 1, 5 * s},
		{2, Limit(30 * s), 1, 2 * s},
	} {
		if got := backoff(test.failures, test.limit, test.random); got != test.want {
			t.Errorf("backoff(%d, %v, %g) is %s, want %s", test.failures, test.limit, test.random, got, test.want)
		}
	}
}

func TestEndOfARowSaysHowOftenAndForHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Loop{
			Clock: clock.System{}, Rule: Rule{Temporary: Retries}, MaxRetries: 2, Random: func() float64 { return 0 },
			Classify: func(error) (Kind, time.Duration) { return Temporary, 0 },
		}
		count := 0
		err := l.Run(t.Context(), func(context.Context) (*Poll, error) {
			if count++; count == 1 {
				<-time.After(time.Minute)
			}
			return nil, failure{Kind: Temporary}
		})
		if want := "temporary (3 attempts in 1m2s)"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}
