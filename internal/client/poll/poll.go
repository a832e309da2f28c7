// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package poll waits for work that a service does. A schedule decides when to poll
// next, and a loop polls. The package does not depend on HTTP.
package poll

import (
	"context"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	// maxOutage is how long failed polls are tolerated, from the first one on, so that a
	// short outage of the service does not end the wait for running work.
	maxOutage = 5 * time.Minute
	// lastPoll is how long before the context's deadline the last poll is made, if the
	// schedule would make it after the deadline.
	lastPoll = 5 * time.Second
)

// Wait configures a wait for one piece of work.
type Wait struct {
	Clock    clock.Clock
	Schedule Schedule
	// StartedAt is when the work was started, if the wait follows its start. The
	// first poll is then delayed. If StartedAt is zero, the wait begins with a poll,
	// which must succeed.
	StartedAt time.Time
	// MayPass reports whether to repeat a failed poll. elapsed is the time since the
	// wait began.
	MayPass func(err error, elapsed time.Duration) bool
	// OnFailure is called after a failed poll that will be repeated.
	OnFailure func(err error)
}

// Until calls get until the work is done, get fails permanently, or ctx ends. It
// returns the error of the last poll or context.Cause(ctx). With an error, get may
// return a RetryAfter.
func (w Wait) Until(ctx context.Context, get func(context.Context) (Observation, error)) error {
	began, mayFail := w.StartedAt, !w.StartedAt.IsZero()
	if !mayFail {
		began = w.Clock.Now()
	}
	seen := Observation{Queued: true}
	var failing time.Time   // since when polls fail; zero if the last one succeeded
	var asked time.Duration // wait that the last one asked for, if it failed
	isLast := false
	for first := true; ; first = false {
		if !first || mayFail {
			pause := max(asked, w.Schedule.Next(w.Clock.Now().Sub(began), seen))
			if left, bounded := timeLeft(ctx); bounded && pause >= left && !isLast {
				isLast, pause = true, left-min(lastPoll, left/2)
			}
			if err := w.Clock.Sleep(ctx, pause); err != nil {
				return err
			}
		}
		current, err := get(ctx)
		now := w.Clock.Now()
		if err == nil {
			if current.Done {
				return nil
			}
			seen, mayFail, failing, asked = current, true, time.Time{}, 0
			continue
		}
		if failing.IsZero() {
			failing = now
		}
		if ctx.Err() != nil || !mayFail || now.Sub(failing) > maxOutage || !w.MayPass(err, now.Sub(began)) {
			return err
		}
		asked = current.RetryAfter
		w.OnFailure(err)
	}
}

// timeLeft returns the time until ctx's deadline, if it has one.
func timeLeft(ctx context.Context) (left time.Duration, bounded bool) {
	deadline, bounded := ctx.Deadline()
	return time.Until(deadline), bounded
}
