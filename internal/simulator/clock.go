// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Clock is where the simulator takes its time from.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after d, or context.Cause(ctx) as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// VirtualClock is a clock that stands still until somebody sleeps on it or
// advances it; then it jumps. Code that waits for hours runs in no time.
//
// Moving the clock runs the timers that fall due on the way, one after the
// other and in the order of their instants. While a timer's function runs the
// clock stands at its instant, so the function must not wait for the clock to
// move: it may call Now, AfterFunc and stop functions, never Sleep or Advance.
type VirtualClock struct {
	mu     sync.Mutex
	fired  *sync.Cond // a timer's function has returned
	firing bool
	now    time.Time
	timers timerQueue
	made   int
}

// NewVirtualClock returns a clock that stands at start.
func NewVirtualClock(start time.Time) *VirtualClock {
	c := &VirtualClock{now: start}
	c.fired = sync.NewCond(&c.mu)
	return c
}

// Now returns the instant at which the clock stands.
func (c *VirtualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d, from where it stands at the call.
func (c *VirtualClock) Advance(d time.Duration) {
	_ = c.Sleep(context.Background(), d) // fails only with its context
}

// Sleep moves the clock forward to d after the call, unless others have moved
// it there meanwhile, and returns at once in real time. When ctx is done at
// the call, or a timer on the way ends it, the clock stays where it is then
// and the error is context.Cause(ctx).
func (c *VirtualClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	target := c.now.Add(d)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.firing {
			c.fired.Wait()
			continue
		}
		if len(c.timers) == 0 || c.timers[0].due.After(target) {
			c.moveTo(target)
			return nil
		}
		c.fireNext()
	}
}

// AfterFunc calls f when the clock comes to d from now, in the goroutine that
// moves it. stop takes the timer back and tells whether it did so in time.
func (c *VirtualClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	t := &virtualTimer{due: c.now.Add(d), order: c.made, f: f}
	heap.Push(&c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if t.index < 0 {
			return false
		}
		heap.Remove(&c.timers, t.index)
		return true
	}
}

// nextTimer returns the instant of the earliest timer, if there is one.
func (c *VirtualClock) nextTimer() (due time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return time.Time{}, false
	}
	return c.timers[0].due, true
}

func (c *VirtualClock) moveTo(t time.Time) {
	if t.After(c.now) {
		c.now = t
	}
}

// fireNext runs the earliest timer at its instant, with c.mu released.
func (c *VirtualClock) fireNext() {
	t, _ := heap.Pop(&c.timers).(*virtualTimer)
	c.moveTo(t.due)
	c.firing = true
	c.mu.Unlock()
	defer func() { // also when f ends the goroutine, as a failing test does
		c.mu.Lock()
		c.firing = false
		c.fired.Broadcast()
	}()
	t.f()
}

type virtualTimer struct {
	due   time.Time
	order int // of timers with the same instant
	index int // in the queue; -1: fired or stopped
	f     func()
}

// timerQueue is a heap, earliest timer first.
type timerQueue []*virtualTimer

func (q timerQueue) Len() int { return len(q) }

func (q timerQueue) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].order < q[j].order
	}
	return q[i].due.Before(q[j].due)
}

func (q timerQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *timerQueue) Push(x any) {
	t, _ := x.(*virtualTimer)
	t.index = len(*q)
	*q = append(*q, t)
}

func (q *timerQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	t.index = -1
	(*q)[last] = nil
	*q = (*q)[:last]
	return t
}
