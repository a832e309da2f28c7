// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"sync"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const initialSlots = 4 // calls in flight at first

// limiter is a semaphore whose size adapts to the service, as TCP adapts its window:
// each call that succeeds adds 2/size, and a 429 cuts the size to 0.7 of itself, once
// for all requests that were sent before the last cut.
//
// A call keeps its slot while it waits after a 429. A true rate limit therefore fills
// all slots with calls that wait, and a stray 429 delays no other call.
type limiter struct {
	clock clock.Clock

	mu      sync.Mutex
	size    float64
	taken   int
	cut     time.Time     // of the size
	changed chan struct{} // closed when a slot may have become free
}

func newLimiter(c clock.Clock) *limiter {
	return &limiter{clock: c, size: initialSlots, changed: make(chan struct{})}
}

// acquire waits for a slot. It fails with context.Cause(ctx).
func (l *limiter) acquire(ctx context.Context) error {
	for ctx.Err() == nil {
		l.mu.Lock()
		if float64(l.taken+1) <= l.size {
			l.taken++
			l.mu.Unlock()
			return nil
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// release frees the slot of a call.
func (l *limiter) release(succeeded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken--
	if succeeded {
		l.size += 2 / l.size
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// refused records a 429 for a request that was sent at the given time.
func (l *limiter) refused(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sent.After(l.cut) {
		l.size, l.cut = max(1, .7*l.size), l.clock.Now()
	}
}
