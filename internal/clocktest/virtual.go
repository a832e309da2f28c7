// Package clocktest has a clock for tests in which a real CLI takes part. Tests without
// one use testing/synctest.
package clocktest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Virtual is a clock for tests. It stands still until a goroutine sleeps on it or
// advances it; then it jumps. It is safe for concurrent use.
type Virtual struct {
	// Speed is the maximum number of virtual seconds per real second, so that a request in
	// flight does not seem to take minutes. Zero means no limit. Set it before the first use.
	Speed int

	mu       sync.Mutex
	now      time.Time
	timeouts []*timeout // whose deadline has not passed
}

// timeout ends a context of a Virtual.
type timeout struct {
	end      context.CancelCauseFunc
	deadline time.Time
	cause    error
}

// bounded is a context with a deadline of a Virtual. Tests begin long after the time of the
// machine, with which package net compares deadlines.
type bounded struct {
	context.Context
	deadline time.Time
}

func (b bounded) Deadline() (time.Time, bool) { return b.deadline, true }

// NewVirtual returns a clock that shows start.
func NewVirtual(start time.Time) *Virtual { return &Virtual{now: start} }

// Now returns the time that the clock shows.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Advance moves the clock forward.
func (v *Virtual) Advance(d time.Duration) { _ = v.moveTo(context.Background(), v.Now().Add(d)) }

// Sleep moves the clock to d after its present time, or to the end of ctx if that comes
// first. It takes a millisecond of real time, or what Speed demands, so that goroutines
// that sleep at the same time overlap instead of adding up.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	wake := v.Now().Add(d)
	real := min(d, time.Millisecond)
	if v.Speed > 0 {
		real = d / time.Duration(v.Speed)
	}
	if err := (clock.System{}).Sleep(ctx, real); err != nil {
		return err
	}
	return v.moveTo(ctx, wake)
}

// WithTimeout returns a context that ends when the clock passes its deadline. Its Err is
// then context.Canceled, so ask for its cause.
func (v *Virtual) WithTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := &timeout{deadline: v.now.Add(d), cause: cause}
	if inherited, ok := ctx.Deadline(); ok && inherited.Before(t.deadline) {
		t.deadline = inherited
	}
	ctx, t.end = context.WithCancelCause(bounded{ctx, t.deadline})
	v.timeouts = append(v.timeouts, t)
	v.expire()
	return ctx, func() { t.end(context.Canceled) }
}

// moveTo moves the clock from deadline to deadline until it shows at least the given
// time or ctx is done. It returns context.Cause(ctx).
func (v *Virtual) moveTo(ctx context.Context, to time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for ctx.Err() == nil && v.now.Before(to) {
		v.now = to
		for _, t := range v.timeouts {
			if t.deadline.Before(v.now) {
				v.now = t.deadline
			}
		}
		v.expire()
	}
	return context.Cause(ctx)
}

// expire ends and drops the contexts whose deadline has passed, a parent before its
// children, so that they get its cause.
func (v *Virtual) expire() {
	v.timeouts = slices.DeleteFunc(v.timeouts, func(t *timeout) bool {
		due := !t.deadline.After(v.now)
		if due {
			t.end(t.cause)
		}
		return due
	})
}
