// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"time"
)

// Clock is where the client takes its time from.
type Clock interface {
	Now() time.Time
	// Sleep returns nil after d, or context.Cause(ctx) as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc calls f in its own time after d; stop prevents that.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// systemClock is the wall clock.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
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

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// ErrTimeout is the cause of every context that ended because the operation's
// own time, given to [Client.WithTimeout], was over.
var ErrTimeout = errors.New("the operation's timeout was reached")

type deadlineKey struct{}

// WithTimeout returns a context that ends with [ErrTimeout] after d of the
// client's clock. Requests made with it know that deadline and do not begin
// to wait for something that comes after it.
func (c *Client) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	deadline := c.clock.Now().Add(d)
	if outer := deadlineOf(ctx); !outer.IsZero() && outer.Before(deadline) {
		deadline = outer
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, deadlineKey{}, deadline))
	if d <= 0 {
		cancel(ErrTimeout) // at once: nothing is started that would not be waited for
	}
	stop := c.clock.AfterFunc(d, func() { cancel(ErrTimeout) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// deadlineOf returns the deadline that WithTimeout gave the context, or the
// zero time.
func deadlineOf(ctx context.Context) time.Time {
	deadline, _ := ctx.Value(deadlineKey{}).(time.Time)
	return deadline
}
