// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	gateStart   = 4                // requests in flight at first
	gateOpening = 1. / 3           // what each success adds to that
	gateSilence = time.Second      // so long without a request starts a new window
	gateQuota   = 5 * time.Second  // a pause this long tells of a quota per window, not of a pace
	gateReserve = .95              // of the quota that is used at once when the next window begins
	gateGrowth  = .05              // what each request adds to the pace that it waited for: 5 % a second
	gateSlowest = .5               // requests per second; no pace is set below it
	gateBackoff = time.Second      // first guess of a pause where a 429 names none
	gateLongest = 30 * time.Second // longest such guess
)

// BusyError says that the service asks for more patience than the operation
// has: its deadline comes before the next request may be sent.
type BusyError struct {
	// RetryAt is the earliest time to try again.
	RetryAt time.Time
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the service asked to wait until %s, which is after this operation's timeout",
		e.RetryAt.UTC().Format(time.RFC3339))
}

// outcome is what a request told of the service's limits.
type outcome struct {
	throttled  bool          // refused for its rate, 429
	retryAfter time.Duration // as the service asked for it; zero: not at all
	ok         bool          // served
}

// gate is what every request of a client passes, so that all of them together
// keep to the limits of the service. Nothing is known of these at first: the
// gate opens with each success, until a 429. Then everybody pauses for as long
// as the service asks, and goes on at the pace that was served so far, which
// grows until the next 429.
type gate struct {
	clock Clock

	mu       sync.Mutex
	queue    []*waiter // first come, first served
	inFlight int
	limit    float64 // of inFlight

	hit     time.Time     // first 429 since the last request was sent; zero: none
	resume  time.Time     // end of the last pause
	backoff time.Duration // last guess of a pause; zero after a success

	rate  float64   // the pace in requests per second; zero: none
	burst int       // how many may go before the pace holds
	next  time.Time // when the pace allows the next

	// The window is the span since the last pause or silence.
	since  time.Time
	served int
	left   time.Time // when the last request came back
}

// waiter is a request before the gate.
type waiter struct {
	deadline time.Time
	turn     chan struct{} // told to look again
	cancel   context.CancelCauseFunc
}

func newGate(clock Clock) *gate {
	return &gate{clock: clock, limit: gateStart}
}

// enter blocks until a request may be sent. It fails with context.Cause(ctx) or,
// as soon as it is known that this will not be before the deadline (zero: none),
// with a [*BusyError]. Each success wants one leave.
func (g *gate) enter(ctx context.Context, deadline time.Time) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &waiter{deadline: deadline, turn: make(chan struct{}, 1), cancel: cancel}
	g.mu.Lock()
	g.queue = append(g.queue, w)
	g.mu.Unlock()
	for {
		admitted, wait := g.try(w)
		if admitted {
			return nil
		}
		if err := g.await(ctx, w, wait); err != nil {
			g.abandon(w)
			return err
		}
	}
}

// try admits w if it is its turn, and says else how long to sleep before it
// could be; zero: until told.
func (g *gate) try(w *waiter) (admitted bool, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock.Now()
	g.refuseLate(w, now)
	if g.queue[0] != w {
		return false, 0
	}
	if wait := g.earliest().Sub(now); wait > 0 {
		return false, wait
	}
	if float64(g.inFlight+1) > g.limit {
		return false, 0
	}
	g.queue = g.queue[1:]
	g.admit(now)
	g.wakeFirst()
	return true, 0
}

func (g *gate) await(ctx context.Context, w *waiter, wait time.Duration) error {
	if wait > 0 {
		return g.clock.Sleep(ctx, wait)
	}
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gate) abandon(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = slices.DeleteFunc(g.queue, func(other *waiter) bool { return other == w })
	g.wakeFirst()
}

// leave ends what enter began.
func (g *gate) leave(o outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock.Now()
	g.inFlight--
	g.left = now
	switch {
	case o.ok:
		g.limit += gateOpening
		g.served++
		g.backoff = 0
	case o.throttled:
		g.pause(now, o.retryAfter)
	}
	g.wakeFirst()
}

// pause makes everybody wait. The 429s that come during a pause were earned
// before it: they can prolong it, but teach nothing more.
func (g *gate) pause(now time.Time, retryAfter time.Duration) {
	if g.hit.IsZero() {
		g.hit = now
		g.backoff = min(max(2*g.backoff, gateBackoff), gateLongest)
	}
	if retryAfter <= 0 {
		retryAfter = max(g.backoff, gateBackoff)
	}
	if end := now.Add(retryAfter); end.After(g.resume) {
		g.resume = end
		for _, w := range g.queue {
			g.refuseLate(w, now)
		}
	}
}

// admit counts a request that is sent now.
func (g *gate) admit(now time.Time) {
	if !g.hit.IsZero() {
		g.learn()
		g.since, g.served = now, 0
	} else if g.inFlight == 0 && now.Sub(g.left) > gateSilence && now.Sub(g.next) > gateSilence {
		g.since, g.served = now, 0
	}
	g.inFlight++
	if g.burst > 0 {
		g.burst--
		return
	}
	if g.rate == 0 {
		return
	}
	g.next = g.next.Add(time.Duration(float64(time.Second) / g.rate))
	if g.next.After(now) {
		g.rate += gateGrowth
	} else {
		g.next = now
	}
}

// learn sets the pace at the end of a pause. What was served in the window, the
// pause counted in, is what the service can certainly be asked for. One window
// may tell too little, by a 429 that was earned before it or by somebody else's
// requests, so it does no more than halve the pace.
func (g *gate) learn() {
	measured := float64(g.served) / g.resume.Sub(g.since).Seconds()
	g.rate = max(measured, g.rate/2, gateSlowest)
	g.burst = 0
	if g.resume.Sub(g.hit) >= gateQuota {
		g.burst = int(gateReserve * float64(g.served))
	}
	g.next = g.resume
	g.hit = time.Time{}
}

// earliest is the first moment at which a request may be sent.
func (g *gate) earliest() time.Time {
	if g.burst > 0 || g.next.Before(g.resume) {
		return g.resume
	}
	return g.next
}

// refuseLate sends w away if its deadline comes too soon.
func (g *gate) refuseLate(w *waiter, now time.Time) {
	at := g.earliest()
	if at.After(now) && !w.deadline.IsZero() && w.deadline.Before(at) {
		w.cancel(&BusyError{RetryAt: at})
	}
}

// wakeFirst tells the first in the queue to look again.
func (g *gate) wakeFirst() {
	if len(g.queue) == 0 {
		return
	}
	select {
	case g.queue[0].turn <- struct{}{}:
	default:
	}
}
