// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second
)

// retries decides whether the attempts of one call are repeated, and when.
type retries struct {
	config   Config
	once     bool  // see [Request]
	failures int   // that count
	refusals int   // responses with 429, which do not count
	last     error // of the last attempt that was not canceled
}

// wait waits after an attempt that failed with err, until another one may follow. If none
// may, it returns the error of the call.
func (r *retries) wait(ctx context.Context, err error) error {
	if errors.Is(err, context.Cause(ctx)) { // which canceled the attempt
		return Ended(err, r.last)
	}
	if !r.count(ctx, err) {
		return err
	}
	r.last = err
	return r.pause(ctx, err)
}

// progressed forgets the failures that count.
func (r *retries) progressed() { r.failures = 0 }

// count counts a failed attempt, and reports whether it may be repeated. Only the deadline
// of ctx, if it has one, limits the repetitions after a 429.
func (r *retries) count(ctx context.Context, err error) bool {
	if m := meaningOf(err); m == permanent || m == temporary && r.once {
		return false
	}
	_, bounded := ctx.Deadline()
	if status, _ := StatusOf(err); status == http.StatusTooManyRequests && bounded {
		r.refusals++
		return true
	}
	r.failures++
	return r.failures <= r.config.MaxRetries
}

// pause waits as long as the service asked for, or else for the backoff. If the service
// asked for longer than ctx lasts, it fails at once.
func (r *retries) pause(ctx context.Context, err error) error {
	_, asked := StatusOf(err)
	pause := cmp.Or(asked, backoff(r.failures+r.refusals, r.config.Random()))
	if asked > 0 && outlasts(ctx, r.config.Clock, pause) {
		return Ended(&BusyError{RetryAt: r.config.Clock.Now().Add(pause)}, err)
	}
	if cause := r.config.Clock.Sleep(ctx, pause); cause != nil {
		return Ended(cause, err)
	}
	return nil
}

// outlasts reports whether ctx, which has not ended yet, will end before a wait is over.
func outlasts(ctx context.Context, c clock.Clock, wait time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return ctx.Err() == nil && bounded && deadline.Sub(c.Now()) <= wait
}

// backoff returns a pause that doubles with each failure up to a cap. Half of it is random,
// so that many clients do not retry at the same time.
func backoff(failures int, random float64) time.Duration {
	longest := min(maxBackoff, firstBackoff<<min(failures-1, 5))
	return time.Duration((1 + random) / 2 * float64(longest))
}
