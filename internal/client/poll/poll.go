// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package poll waits for work that a service does. It has a schedule, which decides
// when to poll next, and the loop that follows it. It knows nothing of HTTP.
package poll

import (
	"context"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// maxOutage is how long failed polls are tolerated after the last good one. A wait
// must survive a short outage of the service, because the job keeps running.
const maxOutage = 5 * time.Minute

// Wait says how to wait for one piece of work.
type Wait struct {
	Clock    clock.Clock
	Schedule Schedule
	// StartedAt is when the work was requested, if this wait follows the request: the
	// wait then begins with a delay. Zero means that the work is older: the wait then
	// begins with a poll, which must succeed.
	StartedAt time.Time
	// MayPass reports whether a failed poll is worth repeating, given the time
	// since the wait began.
	MayPass func(err error, elapsed time.Duration) bool
}

// Until calls get until it observes the end, fails for good, or ctx is done. It
// returns the error of the last poll or the cause of ctx's end.
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
