// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

var (
	errOutage    = errors.New("outage")
	errRefusal   = errors.New("refusal")
	errForGood   = errors.New("for good")
	errInterrupt = errors.New("interrupt")
)

// tolerated holds the errors that the waits tolerate.
var tolerated = map[error]Tolerance{
	errOutage:  {"outage", 5 * time.Minute},
	errRefusal: {"refusal", 30 * s},
}

func TestUntilPollsToTheEndOrAFailure(t *testing.T) {
	const never = 24 * time.Hour
	for name, test := range map[string]struct {
		first    time.Duration    // pause before the first poll
		interval time.Duration    // 10 s if zero; adaptive if negative
		timeout  time.Duration    // of the context; an hour if zero
		outage   [2]time.Duration // polls fail from the first to before the second
		failures []error          // of those polls, in turn; errOutage if there are none
		asked    time.Duration    // pause after a failure
		cutOff   bool             // the context ends during a failed poll
		cancel   time.Duration    // when the context ends; an hour if zero
		done     time.Duration
		polls    []time.Duration // the first of them and the last
		want     string          // the error
	}{
		"at once, and until the work is done":      {done: 42 * s, polls: []time.Duration{0, 50 * s}},
		"after a first pause":                      {first: s, done: 42 * s, polls: []time.Duration{s, 51 * s}},
		"as often as while queued":                 {interval: -1, first: s, done: 30 * s, polls: []time.Duration{s, 31026 * time.Millisecond}},
		"through an outage of five minutes":        {outage: [2]time.Duration{10 * s, 310 * s}, done: 310 * s, polls: []time.Duration{0, 310 * s}},
		"to the end of a longer outage":            {outage: [2]time.Duration{10 * s, never}, done: never, polls: []time.Duration{0, 310 * s}, want: "outage"},
		"through two outages of three minutes":     {interval: 3 * time.Minute, outage: [2]time.Duration{180 * s, 540 * s}, done: 540 * s, polls: []time.Duration{0, 540 * s}},
		"through a failure between two long waits": {interval: 6 * time.Minute, outage: [2]time.Duration{360 * s, 370 * s}, done: 720 * s, polls: []time.Duration{0, 720 * s}},
		"later if a failure asks for that":         {outage: [2]time.Duration{10 * s, 20 * s}, asked: 90 * s, done: 100 * s, polls: []time.Duration{0, 100 * s}},
		"through refusals of 20 s":                 {outage: [2]time.Duration{10 * s, 40 * s}, failures: []error{errRefusal}, done: 40 * s, polls: []time.Duration{0, 40 * s}},
		"to the end of refusals of 30 s":           {outage: [2]time.Duration{0, never}, failures: []error{errRefusal}, done: never, polls: []time.Duration{0, 30 * s}, want: "refusal"},
		"through a refusal after an outage":        {outage: [2]time.Duration{0, 300 * s}, failures: append(slices.Repeat([]error{errOutage}, 28), errRefusal), done: 300 * s, polls: []time.Duration{0, 300 * s}},
		"to the end of failures of two kinds":      {outage: [2]time.Duration{0, never}, failures: []error{errOutage, errRefusal}, done: never, polls: []time.Duration{0, 300 * s}, want: "outage"},
		"through refusals after a success":         {outage: [2]time.Duration{10 * s, 30 * s}, failures: []error{errRefusal}, done: 30 * s, polls: []time.Duration{0, 30 * s}},
		"not before the service allows it":         {timeout: 40 * s, outage: [2]time.Duration{10 * s, never}, asked: 60 * s, done: never, polls: []time.Duration{0, 10 * s}, want: "context deadline exceeded"},
		"until a failure that is not tolerated":    {outage: [2]time.Duration{10 * s, never}, failures: []error{errForGood}, done: never, polls: []time.Duration{0, 10 * s}, want: "for good"},
		"until its context ends":                   {done: never, cancel: 25 * s, polls: []time.Duration{0, 20 * s}, want: "interrupt"},
		"not at all if its context ends before":    {first: s, done: never, cancel: s / 2, want: "interrupt"},
		"until its context cuts off a poll":        {outage: [2]time.Duration{10 * s, never}, cutOff: true, done: never, polls: []time.Duration{0, 10 * s}, want: "outage"},
		"until its context ends after a failure":   {outage: [2]time.Duration{20 * s, never}, cancel: 35 * s, done: never, polls: []time.Duration{0, 30 * s}, want: "interrupt"},
		"once more before the deadline":            {interval: 10 * time.Minute, timeout: 5 * time.Minute, done: 100 * s, polls: []time.Duration{0, 295 * s}},
		"before a turn that is at the deadline":    {interval: 5 * time.Minute, timeout: 5 * time.Minute, done: 100 * s, polls: []time.Duration{0, 295 * s}},
		"until the deadline after the last poll":   {interval: 10 * time.Minute, timeout: 5 * time.Minute, done: never, polls: []time.Duration{0, 295 * s}, want: "context deadline exceeded"},
		"once if the deadline is near":             {timeout: 5 * s, done: never, polls: []time.Duration{0, 0}, want: "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, failures := time.Now(), test.failures
				bounded, stop := context.WithTimeout(t.Context(), cmp.Or(test.timeout, time.Hour))
				defer stop()
				ctx, cancel := context.WithCancelCause(bounded)
				time.AfterFunc(cmp.Or(test.cancel, time.Hour), func() { cancel(errInterrupt) })
				w := Wait{
					Clock:    clock.System{},
					Schedule: Schedule{Random: noJitter, Interval: max(0, cmp.Or(test.interval, 10*s))},
					First:    test.first,
					Tolerate: func(err error) Tolerance { return tolerated[err] },
				}
				var polls []time.Duration
				err := w.Until(ctx, func(context.Context) (Observation, error) {
					now := time.Since(began)
					polls = append(polls, now)
					if now < test.outage[0] || now >= test.outage[1] {
						return Observation{Queued: true, Done: now >= test.done}, nil
					}
					if test.cutOff {
						cancel(errInterrupt)
					}
					failure := errOutage
					if len(failures) > 0 {
						failure, failures = failures[0], append(failures[1:], failures[0])
					}
					return Observation{RetryAfter: test.asked}, failure
				})
				if got := fmt.Sprint(err); got != cmp.Or(test.want, "<nil>") {
					t.Errorf("the error is %s, want %s", got, test.want)
				}
				if len(polls) > 1 {
					polls = slices.Delete(polls, 1, len(polls)-1)
				} else {
					polls = append(polls, polls...)
				}
				for i := range polls {
					polls[i] = polls[i].Truncate(time.Millisecond)
				}
				if !slices.Equal(polls, test.polls) {
					t.Errorf("the first and the last poll are at %v, want %v", polls, test.polls)
				}
			})
		})
	}
}
