// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package clock lets code that waits run in tests without waiting.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after d, or context.Cause(ctx) as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the clock of the machine.
type System struct{}

// Now returns the current time.
func (System) Now() time.Time { return time.Now() }

// Sleep waits for d or until ctx is done.
func (System) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Virtual is a clock for tests. It stands still until somebody sleeps on it or
// advances it; then it jumps. It is safe for concurrent use.
type Virtual struct {
	mu  sync.Mutex
	now time.Time
}

// NewVirtual returns a clock that shows start.
func NewVirtual(start time.Time) *Virtual { return &Virtual{now: start} }

// Now returns the time that the clock shows.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Advance moves the clock forward.
func (v *Virtual) Advance(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = v.now.Add(d)
}

// Sleep advances the clock by d. It takes a millisecond of real time, so that a
// loop that sleeps until a real deadline does not spin.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	if err := (System{}).Sleep(ctx, min(d, time.Millisecond)); err != nil {
		return err
	}
	v.Advance(d)
	return nil
}
