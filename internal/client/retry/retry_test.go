package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	progress bool
}

func (f failure) Error() string {
	return []string{"permanent", "throttled", "unconnected", "temporary", "not found", "other"}[f.Kind]
}

// row returns failures of one kind.
func row(count int, kind Kind) []failure { return slices.Repeat([]failure{{Kind: kind}}, count) }

func TestDoRepeatsAttemptsToALimit(t *testing.T) {
	counted, minutes, seconds := Counted, Limit(5*time.Minute), Limit(30*s)
	byNumber := Rule{Unconnected: counted, Temporary: counted, NotFound: seconds, Other: counted}
	byTime := Rule{Unconnected: minutes, Temporary: minutes, NotFound: seconds, Other: counted}
	inTurn := func(kinds ...Kind) (failures []failure) {
		for i := range 999 {
			failures = append(failures, failure{Kind: kinds[i%len(kinds)]})
		}
		return failures
	}
	for name, test := range map[string]struct {
		rule      Rule          // byTime if nil
		timeout   time.Duration // of the context; two hours if zero
		interrupt time.Duration // when the context is canceled; never if zero
		failures  []failure     // in turn, before a success
		count     int           // of attempts
		ends      time.Duration
		want      string // the error
	}{
		"as often as allowed by number":                      {failures: row(9, Other), count: 5, ends: 7500 * time.Millisecond, want: "other"},
		"through one kind by number for as long as it takes": {rule: byNumber, failures: slices.Repeat([]failure{{Kind: Temporary, takes: 60 * s}}, 4), count: 5, ends: 247500 * time.Millisecond},
		"for half a minute":                                  {failures: row(99, NotFound), count: 15, ends: 31 * s, want: "not found"},
		"not at all without a limit":                         {rule: Rule{}, failures: []failure{{Kind: Other, takes: 20 * s}}, count: 1, ends: 20 * s, want: "other"},
		"only before a request was sent":                     {rule: Rule{Unconnected: counted}, failures: append(row(1, Unconnected), row(9, Temporary)...), count: 2, ends: 500 * time.Millisecond, want: "temporary"},
		"not at all after a permanent one":                   {failures: row(9, Permanent), count: 1, want: "permanent"},
		"through an outage of several kinds":                 {failures: inTurn(Unconnected, Temporary), count: 44, ends: 300 * s, want: "temporary"},
		"through a kind after another":                       {failures: append(row(20, Temporary), row(8, NotFound)...), count: 29, ends: 147500 * time.Millisecond},
		"never as not found after an outage":                 {failures: append(row(43, Temporary), row(99, NotFound)...), count: 44, ends: 300 * s, want: "consecutive requests failed for different reasons; the last attempt: not found"},
		"from zero after progress":                           {failures: []failure{{Kind: Other}, {Kind: Other}, {Kind: Other, progress: true}, {Kind: Other}, {Kind: Other}, {Kind: Other}}, count: 7, ends: 9 * s},
		"by number whatever else happens":                    {failures: append(row(10, Temporary), row(9, Other)...), count: 15, ends: 112500 * time.Millisecond, want: "other"},
		"for half a minute of slow failures":                 {failures: slices.Repeat([]failure{{Kind: NotFound, takes: 20 * s}}, 9), count: 4, ends: 83500 * time.Millisecond, want: "not found"},

		"as long as throttled":                     {failures: row(300, Throttled), timeout: time.Hour, count: 245, ends: time.Hour, want: "context deadline exceeded; the last attempt: throttled"},
		"as soon as throttling allows":             {failures: slices.Repeat([]failure{{Kind: Throttled, asks: s}}, 9), count: 10, ends: 9 * s},
		"for half a minute around throttling":      {failures: append(append(row(10, NotFound), failure{Kind: Throttled, asks: 40 * s}), row(99, NotFound)...), count: 16, ends: 71 * s, want: "not found"},
		"for half a minute around slow throttling": {failures: append([]failure{{Kind: NotFound}, {Kind: Throttled, asks: s, takes: 16 * s}, {Kind: Throttled, asks: s, takes: 16 * s}}, row(99, NotFound)...), count: 16, ends: 64500 * time.Millisecond, want: "not found"},
		"kinds in turn around throttling":          {rule: Rule{Temporary: seconds, NotFound: seconds}, failures: append(append(inTurn(NotFound, Temporary)[:2], failure{Kind: Throttled, asks: 40 * s}), inTurn(NotFound, Temporary)...), count: 28, ends: 101500 * time.Millisecond, want: "consecutive requests failed for different reasons; the last attempt: not found"},

		"later than a failure asks, if often":       {failures: slices.Repeat([]failure{{Kind: Other, asks: 2 * s}}, 4), count: 5, ends: 10 * s},
		"not before the service allows it":          {timeout: 40 * s, failures: []failure{{Kind: Throttled, asks: 40 * s}}, count: 1, want: "the service will not accept another attempt until 2000-01-01T00:00:40Z, which is after this operation's timeout; the last attempt: throttled"},
		"within a minute whatever else asks for":    {failures: slices.Repeat([]failure{{Kind: Temporary, asks: time.Hour}}, 2), count: 3, ends: 120 * s},
		"before the deadline whatever else asks":    {timeout: 40 * s, failures: []failure{{Kind: Temporary, asks: time.Hour}}, count: 2, ends: 35 * s},
		"just before the deadline if allowed":       {timeout: 40 * s, failures: []failure{{Kind: Throttled, asks: 39 * s}}, count: 2, ends: 39 * s},
		"until its context ends the first attempt":  {failures: []failure{{Kind: Temporary, takes: 99 * s}}, interrupt: 25 * s, count: 1, ends: 25 * s, want: "interrupt"},
		"until its context ends an attempt":         {failures: []failure{{Kind: Temporary}, {Kind: Temporary, takes: 99 * s}}, interrupt: 25 * s, count: 2, ends: 25 * s, want: "interrupt; the last attempt: temporary"},
		"once more before the deadline":             {timeout: 28 * s, failures: row(6, Throttled), count: 7, ends: 23 * s},
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
				l, count := loop(4), 0
				rule := test.rule
				if rule == nil {
					rule = byTime
				}
				err := l.Do(ctx, rule, func(ctx context.Context, current Attempt) error {
					if count++; count != current.Number || count > 1 && !errors.Is(current.Before, test.failures[count-2]) {
						t.Errorf("attempt %d is %v", count, current)
					}
					if count > len(test.failures) {
						return nil
					}
					f := test.failures[count-1]
					if err := l.Clock.Sleep(ctx, f.takes); err != nil {
						return err
					}
					return f
				})
				want := cmp.Or(test.want, "<nil>")
				if ended, ok := errors.AsType[*EndedError](err); ok && ended.Attempts > 1 {
					want += fmt.Sprintf(" (%d attempts in %s)", ended.Attempts, ended.Elapsed.Round(s))
				}
				if fmt.Sprint(err) != want {
					t.Errorf("the error is %v, want %s", err, want)
				}
				if took := time.Since(began).Truncate(time.Millisecond); count != test.count || took != test.ends {
					t.Errorf("%d attempts in %s, want %d in %s", count, took, test.count, test.ends)
				}
			})
		})
	}
}

func TestInterruptCountsMoreThanARequestedWait(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	err := loop(0).Do(ctx, Rule{}, func(context.Context, Attempt) error {
		cancel(errInterrupt) // while a start waits for its response
		return failure{Kind: Throttled, asks: 2 * time.Hour}
	})
	if !errors.Is(err, errInterrupt) {
		t.Errorf("got %v, want %v", err, errInterrupt)
	}
}

func TestSleepEndsBeforeTheDeadline(t *testing.T) {
	for _, test := range []struct{ timeout, pause, want time.Duration }{
		{time.Minute, 20 * s, 20 * s},
		{time.Minute, time.Hour, 55 * s}, // a last poll before the deadline
		{time.Minute, time.Minute, 55 * s},
		{time.Minute, 58 * s, 55 * s}, // else the last poll would have only two seconds
		{5 * s, time.Hour, 5 * s},     // the deadline is too near for another poll
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ctx, stop := context.WithTimeout(t.Context(), test.timeout)
			defer stop()
			if err := loop(0).Sleep(ctx, test.pause); time.Since(began) != test.want || (err != nil) != (test.want == test.timeout) {
				t.Errorf("Sleep(%s) within %s ends after %s with %v, want %s", test.pause, test.timeout, time.Since(began), err, test.want)
			}
		})
	}
}

// loop returns a loop without jitter for attempts whose errors are failures.
func loop(maxRetries int) Loop {
	return Loop{Clock: clock.System{}, MaxRetries: maxRetries, Random: func() float64 { return 0 }, Classify: func(err error) Failure {
		f, _ := errors.AsType[failure](err)
		return Failure{f.Kind, f.asks, f.progress}
	}}
}

func TestEndOfARowSaysHowOftenAndForHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := loop(2).Do(t.Context(), Rule{Temporary: Counted}, func(_ context.Context, current Attempt) error {
			if current.Number == 1 {
				<-time.After(time.Minute)
			}
			return failure{Kind: Temporary}
		})
		if want := "temporary (3 attempts in 1m2s)"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}
