// Package retry repeats a failed attempt as its rule allows, and schedules polls. It does not
// depend on HTTP or the API.
package retry

import (
	"context"
	"errors"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	// lastAttempt is how long before the deadline the last attempt is made, if it would
	// otherwise be made later.
	lastAttempt = 5 * time.Second

	firstBackoff    = time.Second
	maxBackoff      = 30 * time.Second
	maxTimedBackoff = 15 * time.Second // of failures that are limited by time

	// minMixed is the minimum time for which failures of several kinds are retried.
	minMixed = time.Minute
)

// Kind is what a failed attempt says about another attempt.
type Kind int

// The kinds of failures.
const (
	Permanent   Kind = iota // another attempt fails as well, so no rule allows one
	Throttled               // requests are limited; only the deadline limits the retries
	Unconnected             // no connection was made, so nothing was sent
	Temporary               // the service or the network is temporarily unavailable
	NotFound                // the service does not know what the request names
	Other                   // any other response of the service
)

// Failure is what the error of an attempt says about another attempt.
type Failure struct {
	Kind
	// RetryAfter is the pause that the service requests; zero for none. After a failure that is
	// not [Throttled], the loop waits a minute at most: one broken node may request hours.
	RetryAfter time.Duration
	// Progress means that the attempt did part of the work, so the failures before it no
	// longer count.
	Progress bool
}

// Limit is how long consecutive failures are retried, or [Counted]. Zero means not at all.
type Limit time.Duration

// Counted means that failures are retried [Loop.MaxRetries] times.
const Counted Limit = -1

// Rule has the limit for each kind of failure but [Permanent] and [Throttled].
type Rule map[Kind]Limit

// longest returns the limit of failures of several kinds in a row: the longest time in the
// rule, and at least a minute.
func (r Rule) longest() time.Duration {
	longest := minMixed
	for _, limit := range r {
		longest = max(longest, time.Duration(limit))
	}
	return longest
}

// Loop repeats attempts.
type Loop struct {
	Clock      clock.Clock
	MaxRetries int                 // see [Counted]
	Classify   func(error) Failure // describes the error of an attempt
	Random     func() float64      // returns numbers in [0, 1) for jitter
	// BeforeRetry is called before an attempt that follows a failure, unless that was [Throttled].
	// It may be nil.
	BeforeRetry func()
}

// Attempt describes an attempt of a loop.
type Attempt struct {
	Number int   // from 1
	Before error // of the attempt before; nil for the first one
}

// Do calls attempt until it succeeds, its failures have reached a limit of the rule, or ctx ends.
//
// The error is that of the last attempt, or [ErrMixed]. If ctx ended, or would end before the
// next attempt, it is context.Cause(ctx) or a [*BusyError]. It is wrapped in an [*EndedError]
// if an attempt before the end had failed.
func (l Loop) Do(ctx context.Context, rule Rule, attempt func(context.Context, Attempt) error) error {
	var streak failures
	for number := 1; ; number++ {
		sent := l.Clock.Now()
		err := attempt(ctx, Attempt{number, streak.last})
		now := l.Clock.Now()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, context.Cause(ctx)):
			return streak.end(err, now)
		}
		failure := l.Classify(err)
		if failure.Progress {
			streak = failures{}
		}
		streak.add(err, sent)
		pause := backoff(streak.attempts, rule[failure.Kind], l.Random())
		if failure.Kind == Throttled {
			pause = l.beforeDeadline(ctx, pause)
			if failure.RetryAfter > 0 {
				pause = failure.RetryAfter // an earlier attempt would be refused
				if deadline, bounded := l.Clock.Deadline(ctx); bounded && ctx.Err() == nil && pause >= deadline.Sub(now) {
					return streak.end(&BusyError{RetryAt: now.Add(pause)}, now)
				}
			}
			streak.postpone(now.Sub(sent) + pause)
		} else {
			if cause := streak.count(failure.Kind, rule, l.MaxRetries, sent, now); cause != nil {
				return streak.end(cause, now)
			}
			pause = l.beforeDeadline(ctx, max(pause, min(failure.RetryAfter, maxRetryAfter)))
			if l.BeforeRetry != nil {
				l.BeforeRetry()
			}
		}
		if cause := l.Clock.Sleep(ctx, pause); cause != nil {
			return streak.end(cause, l.Clock.Now())
		}
	}
}

// Sleep pauses before a poll. It returns context.Cause(ctx) if ctx ends. If the poll would
// miss the deadline, or have too little time, the pause is shorter.
func (l Loop) Sleep(ctx context.Context, pause time.Duration) error {
	return l.Clock.Sleep(ctx, l.beforeDeadline(ctx, pause))
}

// beforeDeadline returns the pause, or a shorter one if the next attempt would miss the
// deadline of ctx or leave it too little time.
func (l Loop) beforeDeadline(ctx context.Context, pause time.Duration) time.Duration {
	if deadline, bounded := l.Clock.Deadline(ctx); bounded {
		if left := deadline.Sub(l.Clock.Now()); left > lastAttempt {
			return min(pause, left-lastAttempt)
		}
	}
	return pause
}

// failures describes a streak of failed attempts.
type failures struct {
	last     error
	attempts int
	sent     time.Time // the first attempt

	// The rest leaves out throttled attempts, which no limit counts.
	retries int       // failures that are limited by number, regardless of their kinds
	kind    Kind      // of the last one; Unconnected counts as Temporary, the same outage
	first   time.Time // the first response
	since   time.Time // the first response in a streak of this kind; after first if the kinds differ
}

// add adds a failed attempt that was sent at the given time.
func (f *failures) add(err error, sent time.Time) {
	if f.attempts == 0 {
		f.sent = sent
	}
	f.last = err
	f.attempts++
}

// count counts the failure that was added last toward the limits of a rule. It returns why the
// failure ends the streak, or nil. Limits of time run from the first response to the sending of the
// last attempt, so the last response may be slow.
func (f *failures) count(kind Kind, rule Rule, maxRetries int, sent, answered time.Time) error {
	limit := rule[kind]
	if limit == Counted {
		f.retries++
	}
	if kind == Unconnected {
		kind = Temporary
	}
	if f.first.IsZero() {
		f.first = answered
	}
	if kind != f.kind {
		f.kind, f.since = kind, answered
	}
	switch {
	case limit == 0,
		limit == Counted && f.retries > maxRetries,
		limit > 0 && sent.Sub(f.since) >= time.Duration(limit):
		return f.last
	case f.since.After(f.first) && sent.Sub(f.first) >= rule.longest():
		return ErrMixed
	}
	return nil
}

// postpone adds a time that a throttled attempt and the pause after it took, and that does not
// count.
func (f *failures) postpone(by time.Duration) {
	if !f.first.IsZero() {
		f.first, f.since = f.first.Add(by), f.since.Add(by)
	}
}

// end returns the error of a loop that ends for the given reason.
func (f *failures) end(cause error, now time.Time) error {
	if f.attempts == 0 || f.attempts == 1 && errors.Is(cause, f.last) {
		return cause
	}
	return &EndedError{Cause: cause, Last: f.last, Attempts: f.attempts, Elapsed: now.Sub(f.sent)}
}

// backoff returns a pause that doubles with each failure. Half of it is random, so that many
// clients do not retry at the same time. It stays far below a limit of time, if there is one,
// so that the end of the failures is noticed soon.
func backoff(failures int, limit Limit, random float64) time.Duration {
	longest := maxBackoff
	if limit > 0 {
		longest = min(maxTimedBackoff, time.Duration(limit)/6)
	}
	return time.Duration((1 + random) / 2 * float64(min(longest, firstBackoff<<min(failures-1, 5))))
}
