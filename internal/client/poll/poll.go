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
	// Tolerate reports whether the wait continues after a failed poll, and the least
	// pause before the next one. It is not called if the wait ends anyway.
	Tolerate func(err error) (pause time.Duration, ok bool)
}

// Until calls get until the work is done, get fails permanently, or ctx ends. The first
// call comes after a pause: began is when the work, or else the wait for it, began, and
// seen is what is known of the work at first.
//
// The error is that of the last poll. If ctx ends during a pause, it is
// context.Cause(ctx).
func (w Wait) Until(ctx context.Context, began time.Time, seen Observation, get func(context.Context) (Observation, error)) error {
	var failure error       // of the last poll
	var failing time.Time   // since when polls fail
	var least time.Duration // pause after a failure
	for {
		pause := max(least, w.Schedule.Next(w.Clock.Now().Sub(began), seen))
		if deadline, bounded := ctx.Deadline(); bounded {
			if left := deadline.Sub(w.Clock.Now()); pause >= left && left > lastPoll {
				pause = left - lastPoll
			}
		}
		if err := w.Clock.Sleep(ctx, pause); err != nil {
			return err
		}
		current, err := get(ctx)
		if err == nil {
			if current.Done {
				return nil
			}
			seen, failure, least = current, nil, 0
			continue
		}
		if failure == nil {
			failing = w.Clock.Now()
		}
		failure = err
		if ctx.Err() != nil || w.Clock.Now().Sub(failing) > maxOutage {
			return err
		}
		var ok bool
		if least, ok = w.Tolerate(err); !ok {
			return err
		}
	}
}
