// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	initialLimit = 4                // requests in flight at first
	firstPause   = time.Second      // after a 429 without a Retry-After; doubles
	longestPause = 30 * time.Second // cap of that doubling
)

// limiter limits the requests in flight as TCP limits its window: each success adds
// 1/limit to the limit, and a 429 halves it. A 429 for a request that was admitted
// before the last halving does not halve it again. After a 429, all requests wait for as
// long as the service asks.
type limiter struct {
	clock clock.Clock

	mu       sync.Mutex
	limit    float64
	inFlight int
	halved   time.Time     // when the limit was last halved
	resume   time.Time     // no request is sent before this time
	pause    time.Duration // last pause without a Retry-After; zero after a success
	changed  chan struct{} // closed when waiters should check again
}

func newLimiter(c clock.Clock) *limiter {
	return &limiter{clock: c, limit: initialLimit, changed: make(chan struct{})}
}

// acquire waits until a request may be sent and returns the time of its
// admission, for release. It fails with the cause of ctx's end, or with a
// [*BusyError] at once if the wait would outlast ctx's deadline.
func (l *limiter) acquire(ctx context.Context) (time.Time, error) {
	for {
		l.mu.Lock()
		now := l.clock.Now()
		wait, changed := l.resume.Sub(now), l.changed
		if ctx.Err() == nil && wait <= 0 && float64(l.inFlight) < math.Floor(l.limit) {
			l.inFlight++
			l.mu.Unlock()
			return now, nil
		}
		l.mu.Unlock()
		if ctx.Err() != nil {
			return now, context.Cause(ctx)
		}
		if wait > 0 {
			if outlasts(ctx, wait) {
				return now, &BusyError{RetryAt: now.Add(wait)}
			}
			if err := l.clock.Sleep(ctx, wait); err != nil {
				return now, err
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// release records the outcome of a request that was admitted at the given time.
func (l *limiter) release(admitted time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	if err == nil {
		l.limit += 1 / l.limit
		l.pause = 0
	} else if status, retryAfter := answerOf(err); status == http.StatusTooManyRequests {
		l.throttle(admitted, retryAfter)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *limiter) throttle(admitted time.Time, retryAfter time.Duration) {
	now := l.clock.Now()
	if admitted.After(l.halved) {
		l.limit = max(1, l.limit/2)
		l.halved = now
		l.pause = min(max(2*l.pause, firstPause), longestPause)
	}
	if retryAfter <= 0 {
		retryAfter = l.pause
	}
	retryAfter = max(retryAfter, firstPause) // a fraction of a second would make a hot loop
	if resume := now.Add(retryAfter); resume.After(l.resume) {
		l.resume = resume
	}
}

// outlasts reports whether a wait is longer than the time until ctx's deadline.
func outlasts(ctx context.Context, wait time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return bounded && time.Until(deadline) < wait
}
