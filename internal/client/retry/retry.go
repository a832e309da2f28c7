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
	Throttled               // requests are limited; only the context limits the retries
	Unconnected             // no connection was made, so nothing was sent
	Temporary               // the service or the network is temporarily unavailable
	NotFound                // the service does not know what the request names
	Other                   // any other response of the service
)

// Limit says how long failures in a row are retried: for a time, or [Retries]. Zero means
// not at all.
type Limit time.Duration

// Retries is the limit of failures that [Loop.MaxRetries] limits by number.
const Retries Limit = -1

// Rule has the limit for each kind of failure but [Permanent] and [Throttled].
type Rule map[Kind]Limit

// Loop configures the repetition of one kind of attempt.
type Loop struct {
	Clock clock.Clock
	Rule  Rule
	// Proven replaces Rule after the first success.
	Proven     Rule
	MaxRetries int // see [Retries]
	// Classify returns the kind of the error of an attempt, and its Retry-After or zero.
	Classify func(error) (Kind, time.Duration)
	// Progressed reports whether the failed attempt made progress, so that the row of
	// failures begins again; nil if none does.
	Progressed func() bool
	Schedule   Schedule       // of polls
	Random     func() float64 // returns numbers in [0, 1) for jitter
	First      time.Duration  // the pause before the first attempt
}

// Run repeats attempt until the work is done, a failure has reached its limit, or ctx ends.
// An attempt without an error returns what it saw of work that is still running, or nil if
// the work is done.
//
// The error is that of the last attempt. If ctx ended, or would end before the next attempt,
// it is context.Cause(ctx) or a [*BusyError]. It is in an [*EndedError] if an attempt before
// the end had failed.
func (l Loop) Run(ctx context.Context, attempt func(context.Context) (*Poll, error)) error {
	began, pause := l.Clock.Now(), l.First
	var row failures
	for {
		if cause := l.Clock.Sleep(ctx, pause); cause != nil {
			return row.end(cause, l.Clock.Now())
		}
		sent := l.Clock.Now()
		poll, err := attempt(ctx)
		switch {
		case err == nil && poll == nil:
			return nil
		case err == nil:
			row, l.Rule = failures{}, l.Proven
			pause = l.beforeDeadline(ctx, l.Schedule.Next(l.Clock.Now().Sub(began), *poll, l.Random()), 0)
			continue
		case errors.Is(err, context.Cause(ctx)):
			return row.end(err, l.Clock.Now())
		case l.Progressed != nil && l.Progressed():
			row = failures{}
		}
		if pause, err = l.pauseAfter(ctx, &row, sent, err); err != nil {
			return err
		}
	}
}

// pauseAfter adds the error of an attempt that was sent at the given time to the row. It
// returns the pause before the next attempt, or the error of the loop if there must be none.
func (l Loop) pauseAfter(ctx context.Context, row *failures, sent time.Time, err error) (time.Duration, error) {
	kind, retryAfter := l.Classify(err)
	limit, now := l.Rule[kind], l.Clock.Now()
	deadline, bounded := ctx.Deadline()
	throttled := kind == Throttled // only the deadline limits it
	row.add(err, sent)
	if !throttled && row.reached(limit, kind, l.MaxRetries, sent, now) {
		return 0, row.end(err, now)
	}
	if bounded && ctx.Err() == nil && retryAfter > 0 && retryAfter >= deadline.Sub(now) {
		return 0, row.end(&BusyError{RetryAt: now.Add(retryAfter)}, now)
	}
	pause := retryAfter
	if !throttled || retryAfter == 0 {
		pause = max(retryAfter, backoff(row.attempts, limit, l.Random()))
	}
	pause = l.beforeDeadline(ctx, pause, retryAfter)
	if throttled {
		row.since = row.since.Add(pause)
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
	last     error
	attempts int
	began    time.Time // when the first attempt was sent
	retries  int       // failures that are limited by number, whatever their kinds
	// kind is the kind of the last failure, and since is when the first response of this kind
	// in a row was received, plus the pauses after throttled attempts, which do not count.
	kind  Kind
	since time.Time
}

// add adds the error of an attempt that was sent at the given time.
func (f *failures) add(err error, sent time.Time) {
	if f.attempts == 0 {
		f.began = sent
	}
	f.attempts++
	f.last = err
}

// reached reports whether the failure that was added has reached its limit. The time runs from
// the response to the first attempt to the sending of the last one, so neither a slow
// response nor a wait for a turn counts.
func (f *failures) reached(limit Limit, kind Kind, maxRetries int, sent, now time.Time) bool {
	if kind == Unconnected {
		kind = Temporary // the same outage
	}
	if kind != f.kind {
		f.kind, f.since = kind, now
	}
	if limit == Retries {
		f.retries++
		return f.retries > maxRetries
	}
	return limit == 0 || sent.Sub(f.since) >= time.Duration(limit)
}

// end returns the error of a loop that ends for the given reason.
func (f *failures) end(cause error, now time.Time) error {
	if f.attempts == 0 || f.attempts == 1 && errors.Is(cause, f.last) {
		return cause
	}
	return &EndedError{Cause: cause, Last: f.last, Attempts: f.attempts, Elapsed: now.Sub(f.began)}
}

// backoff returns a pause that doubles with each failure. Half of it is random, so that many
// clients do not retry at the same time. It stays far below a limit of time, so that the
// end of the failures is noticed soon.
func backoff(failures int, limit Limit, random float64) time.Duration {
	longest := maxBackoff
	if limit > 0 {
		longest = min(maxTimedBackoff, time.Duration(limit)/6)
	}
	return time.Duration((1 + random) / 2 * float64(min(longest, firstBackoff<<min(failures-1, 5))))
}
