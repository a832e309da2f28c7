// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package retry repeats attempts: a failed one as its rule allows, and a poll as a schedule
// says. It does not depend on HTTP or the API.
package retry

import (
	"context"
	"errors"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	// Outage is how long failures in a row are tolerated at most, whatever their kinds.
	Outage = 5 * time.Minute
	// lastAttempt is how long before the context's deadline the last attempt is made, if
	// it would otherwise be made after the deadline.
	lastAttempt = 5 * time.Second

	firstBackoff    = time.Second
	maxBackoff      = 30 * time.Second
	maxTimedBackoff = 15 * time.Second // of failures that are limited by time
)

// Kind is what a failed attempt says about another attempt.
type Kind int

// The kinds of failures.
const (
	Permanent   Kind = iota // another attempt fails as well, so no rule allows one
	Throttled               // requests are limited: see [Loop.MaxRetries]
	Unconnected             // no connection was made, so nothing was sent
	Temporary               // the service or the network is out of order
	NotFound                // the service does not know the object
	Other                   // any other response of the service
)

// Limit is for how many failures in a row, or for how long, attempts are repeated. The zero
// value means not at all.
type Limit struct {
	// Times means [Loop.MaxRetries] times, if Time is set only until an attempt succeeds.
	Times bool
	Time  time.Duration
}

// Rule has the limit for each kind of failure but [Permanent] and [Throttled].
type Rule map[Kind]Limit

// Loop configures the repetition of one kind of attempt.
type Loop struct {
	Clock clock.Clock
	Rule  Rule
	// MaxRetries limits failures by number. A [Throttled] one counts only if the context has
	// no deadline.
	MaxRetries int
	// Classify returns the kind of the error of an attempt, and its Retry-After or zero.
	Classify func(error) (Kind, time.Duration)
	// Schedule decides about the next poll. Its Random also gives backoffs their jitter.
	Schedule Schedule
	First    time.Duration // the pause before the first attempt
}

// Run repeats attempt until the work is done, a failure is not tolerated any longer, or ctx
// ends. The error is that of the last attempt. If ctx ended, or would end before the next
// attempt, it is context.Cause(ctx) or a [*BusyError], in an [*EndedError] if the attempt
// before had failed. An [*EndedError] is also the end of failures of several kinds.
//
// Of the observation of a failed attempt, only Advanced counts.
func (l Loop) Run(ctx context.Context, attempt func(context.Context) (Observation, error)) error {
	began, pause := l.Clock.Now(), l.First
	var row failures
	for {
		if cause := l.Clock.Sleep(ctx, pause); cause != nil {
			return ended(cause, row.last)
		}
		asked := l.Clock.Now()
		seen, err := attempt(ctx)
		_, busy := errors.AsType[*BusyError](err)
		switch {
		case err == nil && seen.Done:
			return nil
		case err == nil:
			row = failures{succeeded: true}
			pause = l.beforeDeadline(ctx, l.Schedule.Next(l.Clock.Now().Sub(began), seen), 0)
			continue
		case busy, errors.Is(err, context.Cause(ctx)): // nothing was sent, or ctx canceled it
			return ended(err, row.last)
		case seen.Advanced:
			row = failures{succeeded: row.succeeded}
		}
		if pause, err = l.pauseAfter(ctx, &row, asked, err); err != nil {
			return err
		}
	}
}

// pauseAfter adds the error of an attempt that began at asked to the row. It returns the
// pause before the next attempt, or the error of the loop if there must be none.
func (l Loop) pauseAfter(ctx context.Context, row *failures, asked time.Time, err error) (time.Duration, error) {
	kind, retryAfter := l.Classify(err)
	deadline, bounded := ctx.Deadline()
	row.last = err
	limit := l.Rule[kind]
	if kind == Throttled {
		limit.Times = true
	}
	if kind != Throttled || !bounded {
		if err := row.count(kind, limit, l.MaxRetries, asked, l.Clock.Now()); err != nil {
			return 0, err
		}
	}
	if left := deadline.Sub(l.Clock.Now()); retryAfter > 0 && bounded && ctx.Err() == nil && retryAfter >= left {
		return 0, ended(&BusyError{RetryAt: l.Clock.Now().Add(retryAfter)}, err)
	}
	pause := retryAfter
	if kind != Throttled || retryAfter == 0 {
		row.backoffs++
		pause = max(retryAfter, backoff(row.backoffs, limit, l.Schedule.Random()))
	}
	pause = l.beforeDeadline(ctx, pause, retryAfter)
	if kind == Throttled {
		row.throttled += pause
	}
	return pause, nil
}

// beforeDeadline returns the pause, or a shorter one if the next attempt would miss the
// deadline of ctx, but never one below least.
func (l Loop) beforeDeadline(ctx context.Context, pause, least time.Duration) time.Duration {
	if deadline, bounded := ctx.Deadline(); bounded {
		if left := deadline.Sub(l.Clock.Now()); pause >= left && left-lastAttempt > least {
			return left - lastAttempt
		}
	}
	return pause
}

// failures are failed attempts in a row.
type failures struct {
	last      error
	succeeded bool          // an attempt before the row
	counted   int           // those that are limited by number
	backoffs  int           // those that were followed by a backoff
	throttled time.Duration // pauses that do not count
	kind      Kind          // of the last one that is limited by time
	// since is when the first failure that is limited by time was received, and kindSince
	// when the first of its kind was, on a clock that stands still while throttled.
	since, kindSince time.Time
}

// count counts a failure of an attempt that began at asked. It returns the error of the
// loop if the attempt must not be repeated.
//
// The time runs from the response to the first attempt to the start of the last one, so
// that neither a slow response nor a wait for a turn counts.
func (f *failures) count(kind Kind, limit Limit, maxRetries int, asked, now time.Time) error {
	if limit.Times && (limit.Time == 0 || !f.succeeded) {
		if f.counted++; f.counted > maxRetries {
			return f.last
		}
		return nil
	}
	if kind == Unconnected {
		kind = Temporary // the same outage
	}
	asked, now = asked.Add(-f.throttled), now.Add(-f.throttled)
	if f.since.IsZero() {
		f.since = now
	}
	if kind != f.kind {
		f.kind, f.kindSince = kind, now
	}
	switch {
	case limit.Time == 0 || asked.Sub(f.kindSince) >= limit.Time:
		return f.last
	case asked.Sub(f.since) >= Outage:
		return ended(errMixed, f.last)
	}
	return nil
}

// backoff returns a pause that doubles with each failure. Half of it is random, so that many
// clients do not retry at the same time. It stays far below a limit of time, so that the
// end of the failures is noticed soon.
func backoff(failures int, limit Limit, random float64) time.Duration {
	longest := maxBackoff
	if limit.Time > 0 {
		longest = min(maxTimedBackoff, limit.Time/6)
	}
	return time.Duration((1 + random) / 2 * float64(min(longest, firstBackoff<<min(failures-1, 5))))
}
