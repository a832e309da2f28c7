// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package clocktest has a clock for tests in which a real CLI takes part. Tests without
// one use testing/synctest.
package clocktest

import (
	"context"
	"sync"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

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
	if err := (clock.System{}).Sleep(ctx, min(d, time.Millisecond)); err != nil {
		return err
	}
	v.Advance(d)
	return nil
}
