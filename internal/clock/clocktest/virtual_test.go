// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package clocktest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock/clocktest"
)

var errTimeout = errors.New("the operation took too long")

// TestClocks holds the clock for tests to what the clock of the machine does, in the
// virtual time of a bubble.
func TestClocks(t *testing.T) {
	for name, newClock := range map[string]func() clock.Clock{
		"system":  func() clock.Clock { return clock.System{} },
		"virtual": func() clock.Clock { return clocktest.NewVirtual(time.Now()) },
	} {
		for behavior, check := range map[string]func(*testing.T, clock.Clock){
			"sleeps": sleeps,
			"ends a context with the cause of a parent": endsWithParent,
			"lets sleepers overlap":                     overlaps,
		} {
			t.Run(name+" "+behavior, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { check(t, newClock()) })
			})
		}
	}
}

func sleeps(t *testing.T, c clock.Clock) {
	ctx, cancel := c.WithTimeout(t.Context(), time.Hour, errTimeout)
	defer cancel()
	wantElapsed(t, c, time.Minute, func() error { return c.Sleep(ctx, time.Minute) }, nil)
	if deadline, _ := ctx.Deadline(); deadline.Sub(c.Now()) > 59*time.Minute {
		t.Errorf("the deadline is in %s", deadline.Sub(c.Now()))
	}
	if ctx.Err() != nil {
		t.Errorf("the context ended before its deadline: %v", context.Cause(ctx))
	}
}

func endsWithParent(t *testing.T, c clock.Clock) {
	parent, cancel := c.WithTimeout(t.Context(), time.Minute, errTimeout)
	defer cancel()
	child, cancel := c.WithTimeout(parent, time.Hour, errors.New("not this cause"))
	defer cancel()
	if deadline, _ := child.Deadline(); !deadline.Equal(c.Now().Add(time.Minute)) {
		t.Errorf("the deadline is in %s, not that of the parent", deadline.Sub(c.Now()))
	}
	wantElapsed(t, c, time.Minute, func() error { return c.Sleep(child, 2*time.Hour) }, errTimeout)
}

func overlaps(t *testing.T, c clock.Clock) {
	wantElapsed(t, c, time.Minute, func() error {
		var all sync.WaitGroup
		for _, d := range []time.Duration{time.Minute, time.Second, time.Minute} {
			all.Go(func() { _ = c.Sleep(t.Context(), d) })
		}
		all.Wait()
		return nil
	}, nil)
}

func TestAdvanceEndsContexts(t *testing.T) {
	c := clocktest.NewVirtual(time.Now())
	ctx, cancel := c.WithTimeout(t.Context(), time.Minute, errTimeout)
	defer cancel()
	wantElapsed(t, c, 2*time.Minute, func() error { c.Advance(2 * time.Minute); return context.Cause(ctx) }, errTimeout)
}

func wantElapsed(t *testing.T, c clock.Clock, want time.Duration, act func() error, wantErr error) {
	t.Helper()
	began := c.Now()
	err := act()
	if elapsed := c.Now().Sub(began); elapsed != want || !errors.Is(err, wantErr) {
		t.Errorf("after %s: %v, want %s: %v", elapsed, err, want, wantErr)
	}
}
