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
	// MaxOutage is how long failures in a row are tolerated at most, whatever their kind.
	MaxOutage = 5 * time.Minute
	// lastPoll is how long before the context's deadline the last poll is made, if the
	// schedule would make it after the deadline.
	lastPoll = 5 * time.Second
)

// Wait configures a wait for one piece of work.
type Wait struct {
	Clock    clock.Clock
	Schedule Schedule
	// First is the pause before the first poll.
	First time.Duration
	// Tolerate returns for how long the wait tolerates failures such as err.
	Tolerate func(err error) Tolerance
}

// Tolerance is how long failures of one kind may follow one another before the last of
// them ends the wait. The zero value tolerates none.
type Tolerance struct {
	Kind  string
	Limit time.Duration
}

// Until calls get until the work is done, get fails for longer than is tolerated, or ctx
// ends. The error is that of the last poll or, if ctx ends during a pause,
// context.Cause(ctx).
//
// Of the observation of a failed poll, only RetryAfter counts, which may then be of any
// length.
func (w Wait) Until(ctx context.Context, get func(context.Context) (Observation, error)) error {
	began, pause := w.Clock.Now(), w.First
	last := Observation{Queued: true}     // of the successful polls
	var least time.Duration               // of the pause, as the service asks
	var tolerance Tolerance               // of the last poll; zero if it succeeded
	var failingSince, kindSince time.Time // when the first failed poll in a row began, and the first of this kind
	for {
		if deadline, bounded := ctx.Deadline(); bounded {
			if left := deadline.Sub(w.Clock.Now()); pause >= left && left-lastPoll > least {
				pause = left - lastPoll
			}
		}
		if err := w.Clock.Sleep(ctx, pause); err != nil {
			return err
		}
		asked := w.Clock.Now()
		seen, err := get(ctx)
		if err == nil {
			if seen.Done {
				return nil
			}
			last, tolerance, failingSince = seen, Tolerance{}, time.Time{}
			pause, least = w.Schedule.Next(w.Clock.Now().Sub(began), last), min(seen.RetryAfter, maxRetryAfter)
			continue
		}
		if failingSince.IsZero() {
			failingSince = asked
		}
		if t := w.Tolerate(err); t != tolerance {
			tolerance, kindSince = t, asked
		}
		if ctx.Err() != nil || asked.Sub(kindSince) >= tolerance.Limit || asked.Sub(failingSince) >= MaxOutage {
			return err
		}
		least = seen.RetryAfter
		pause = max(least, w.Schedule.Next(w.Clock.Now().Sub(began), last))
	}
}
