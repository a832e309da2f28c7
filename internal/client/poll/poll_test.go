// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package poll

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

var (
	errOutage    = errors.New("outage")
	errForGood   = errors.New("for good")
	errInterrupt = errors.New("interrupt")
)

func TestUntilPollsToTheEndOrAFailure(t *testing.T) {
	const never = 24 * time.Hour
	for name, test := range map[string]struct {
		startedAgo time.Duration // zero: the work is older than the wait
		started    bool
		interval   time.Duration    // zero: 10 s after no start, adaptive after one
		timeout    time.Duration    // of the context; zero: none
		outage     [2]time.Duration // polls fail from the first to before the second
		failure    error            // of those polls
		done       time.Duration
		cutOff     bool          // the context ends during the first of them
		cancel     time.Duration // zero: not at all
		first      time.Duration // time of the first poll
		ended      time.Duration // time of the last poll
		want       error
	}{
		"of older work, at once":                         {done: 0, ended: 0},
		"of older work, until it ends":                   {done: 42 * s, ended: 50 * s},
		"after a start, a moment later":                  {started: true, done: 0, first: s, ended: s},
		"after a start that was long ago":                {started: true, startedAgo: 10 * time.Minute, first: 15 * s, ended: 15 * s},
		"fails if the first poll of older work fails":    {outage: [2]time.Duration{0, s}, failure: errOutage, done: never, want: errOutage},
		"tolerates a failed first poll after a start":    {started: true, outage: [2]time.Duration{0, 60 * s}, failure: errOutage, done: 60 * s, first: s, ended: 61 * s},
		"tolerates an outage of five minutes":            {outage: [2]time.Duration{10 * s, 300 * s}, failure: errOutage, done: 300 * s, ended: 300 * s},
		"fails after a longer outage":                    {outage: [2]time.Duration{10 * s, never}, failure: errOutage, done: never, ended: 320 * s, want: errOutage},
		"tolerates a failure between two long waits":     {interval: 6 * time.Minute, outage: [2]time.Duration{360 * s, 370 * s}, failure: errOutage, done: 720 * s, ended: 720 * s},
		"polls once more before the deadline":            {interval: 10 * time.Minute, timeout: 5 * time.Minute, done: 100 * s, ended: 295 * s},
		"polls before a turn that is at the deadline":    {interval: 5 * time.Minute, timeout: 5 * time.Minute, done: 100 * s, ended: 295 * s},
		"polls once more before the first turn":          {started: true, interval: 10 * time.Minute, timeout: 5 * time.Minute, done: 100 * s, first: 295 * s, ended: 295 * s},
		"polls once more before a deadline that is near": {interval: 10 * time.Minute, timeout: 4 * s, done: s, ended: 2 * s},
		"ends at the deadline after the last poll":       {interval: 10 * time.Minute, timeout: 5 * time.Minute, done: never, ended: 295 * s, want: context.DeadlineExceeded},
		"fails after a longer outage since the start":    {started: true, outage: [2]time.Duration{0, never}, failure: errOutage, done: never, first: s, ended: 301 * s, want: errOutage},
		"fails at once with an error that does not end":  {outage: [2]time.Duration{10 * s, never}, failure: errForGood, done: never, ended: 10 * s, want: errForGood},
		"fails with the poll that the context cuts off":  {outage: [2]time.Duration{10 * s, never}, failure: errOutage, cutOff: true, done: never, ended: 10 * s, want: errOutage},
		"ends with the cause of the context":             {done: never, cancel: 25 * s, ended: 20 * s, want: errInterrupt},
		"ends before the first poll":                     {started: true, done: never, cancel: s / 2, first: -1, ended: -1, want: errInterrupt},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.timeout > 0 {
					var stop context.CancelFunc
					ctx, stop = context.WithTimeout(ctx, test.timeout)
					defer stop()
				}
				began := time.Now()
				if test.cancel > 0 {
					time.AfterFunc(test.cancel, func() { cancel(errInterrupt) })
				}
				tolerated := 0
				wait := Wait{
					Clock:     clock.System{},
					Schedule:  Schedule{Random: noJitter, Interval: test.interval},
					OnFailure: func(error) { tolerated++ },
					MayPass: func(err error, elapsed time.Duration) bool {
						if want := time.Since(began) + test.startedAgo; elapsed != want {
							t.Errorf("MayPass is called with %s elapsed, want %s", elapsed, want)
						}
						return errors.Is(err, errOutage)
					},
				}
				if !test.started && test.interval == 0 {
					wait.Schedule.Interval = 10 * s
				}
				if test.started {
					wait.StartedAt = began.Add(-test.startedAgo)
				}
				failed := 0
				polls := []time.Duration{}
				err := wait.Until(ctx, func(context.Context) (Observation, error) {
					now := time.Since(began)
					polls = append(polls, now)
					if now >= test.outage[0] && now < test.outage[1] {
						failed++
						if test.cutOff {
							cancel(errInterrupt)
						}
						return Observation{}, test.failure
					}
					return Observation{Done: now >= test.done}, nil
				})
				if !errors.Is(err, test.want) {
					t.Errorf("the error is %v, want %v", err, test.want)
				}
				if errors.Is(err, test.failure) && err != nil {
					failed-- // the last one, which is not tolerated
				}
				if tolerated != failed {
					t.Errorf("OnFailure is called %d times, want %d", tolerated, failed)
				}
				if len(polls) == 0 {
					polls = []time.Duration{-1}
				}
				latest := test.ended
				if wait.Schedule.Interval == 0 {
					latest = latest * 105 / 100
				}
				if last := polls[len(polls)-1]; polls[0] != test.first || last < test.ended || last > latest {
					t.Errorf("polls at %v, want the first at %s and the last at %s", polls, test.first, test.ended)
				}
			})
		})
	}
}
