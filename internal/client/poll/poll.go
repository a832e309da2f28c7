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

// maxOutage is how long failed polls are tolerated after the last successful one, so
// that a short outage of the service does not end the wait for a running job.
const maxOutage = 5 * time.Minute

// Wait configures a wait for one piece of work.
type Wait struct {
	Clock    clock.Clock
	Schedule Schedule
	// StartedAt is when the work was requested, if the wait follows the request. The
	// first poll is then delayed. If StartedAt is zero, the wait begins with a poll,
	// which must succeed.
	StartedAt time.Time
	// MayPass reports whether to repeat a failed poll. elapsed is the time since the
	// wait began.
	MayPass func(err error, elapsed time.Duration) bool
}

// Until calls get until the work is done, get fails permanently, or ctx ends. It
// returns the error of the last poll or the cause of the end of ctx.
func (w Wait) Until(ctx context.Context, get func(context.Context) (Observation, error)) error {
	began := w.StartedAt
	var lastGood time.Time
	var seen Observation
	if began.IsZero() {
		began = w.Clock.Now()
	} else {
		lastGood, seen.Queued = w.Clock.Now(), true
		if err := w.Clock.Sleep(ctx, w.Schedule.Next(w.Clock.Now().Sub(began), seen)); err != nil {
			return err
		}
	}
	for {
		current, err := get(ctx)
		now := w.Clock.Now()
		if err == nil {
			seen, lastGood = current, now
		} else if ctx.Err() != nil || lastGood.IsZero() || now.Sub(lastGood) > maxOutage || !w.MayPass(err, now.Sub(began)) {
			return err
		}
		if seen.Done {
			return nil
		}
		if err := w.Clock.Sleep(ctx, w.Schedule.Next(now.Sub(began), seen)); err != nil {
			return err
		}
	}
}
