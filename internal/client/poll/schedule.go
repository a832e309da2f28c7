// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package poll

import (
	"math"
	"time"
)

const (
	minWait = time.Second
	maxWait = 15 * time.Second
	jitter  = .1 // each wait is shortened by up to this share

	shareUnknown = .05  // share of the elapsed time to wait if the remaining time is unknown
	shareLeast   = .005 // lower bound of that share if the remaining time is known
	shareMost    = .25  // upper bound of that share if the remaining time is known
	shareRest    = .4   // share of the remaining time to wait if it is known

	minRises    = 2    // increases of the progress before it is used
	stallPoints = 15.  // percentage points that the progress may lag behind its own rate
	stallSteps  = 1.5  // the same if the progress rises in steps, as a multiple of the last step
	complete    = 100. // percent

	// maxRetryAfter caps the Retry-After of a successful response.
	maxRetryAfter = time.Minute
)

// Observation is what one poll saw.
type Observation struct {
	// Done ends the wait.
	Done bool
	// Queued means that the work has not begun, so its progress says nothing.
	Queued bool
	// Progress is in percent; nil if unknown.
	Progress *float64
	// RetryAfter is the minimum wait before the next poll that the service asks for;
	// zero if it asks for none.
	RetryAfter time.Duration
}

// Schedule decides how long to wait before the next poll. It waits a share of
// the elapsed time, so that a long job is polled less often than a short one and
// its end is still noticed within a few percent of its duration. If the
// progress yields an estimate of the remaining time, it waits a share of that
// instead, within bounds that do not depend on the progress.
//
// A Schedule is not safe for concurrent use.
type Schedule struct {
	// Interval is a fixed polling interval; zero means adaptive.
	Interval time.Duration
	// Random returns numbers in [0, 1).
	Random func() float64

	rises []rise
}

// rise is a progress value that is higher than all earlier ones. The rate is measured
// from the first rise of a Schedule.
type rise struct {
	at      time.Duration
	percent float64
}

// Next returns how long to wait after an observation. elapsed is the time from the
// start to the observation.
//
// Without an Interval and a RetryAfter, the result is at least 1 s and at most
// max(1 s, min(15 s, 25% of elapsed)), regardless of the progress. If the progress is
// unknown, 5% replaces 25%.
func (s *Schedule) Next(elapsed time.Duration, seen Observation) time.Duration {
	asked := min(seen.RetryAfter, maxRetryAfter)
	if s.Interval > 0 {
		return max(s.Interval, asked)
	}
	s.observe(elapsed, seen)
	wait := share(shareUnknown, elapsed)
	if remaining, known := s.remaining(elapsed); known {
		wait = min(max(share(shareRest, remaining), share(shareLeast, elapsed)), share(shareMost, elapsed))
	}
	wait -= share(jitter*s.Random(), wait)
	return max(min(max(wait, minWait), maxWait), asked)
}

// observe records an increase of the progress. If the job was queued, it is assumed to
// have begun when it was last seen in the queue. If the progress drops far, it has
// started over.
func (s *Schedule) observe(elapsed time.Duration, seen Observation) {
	if seen.Queued {
		s.rises = []rise{{at: elapsed}}
		return
	}
	if seen.Progress == nil || math.IsNaN(*seen.Progress) {
		return
	}
	now := rise{elapsed, min(max(*seen.Progress, 0), complete)}
	if len(s.rises) == 0 {
		s.rises = []rise{now}
		return
	}
	if last := s.rises[len(s.rises)-1]; now.percent < last.percent-stallPoints {
		s.rises = []rise{now}
	} else if now.percent > last.percent {
		s.rises = append(s.rises, now)
	}
}

// remaining estimates the time to the end from the rate of the whole run. There is no
// estimate until there are enough rises, or after the progress has stalled.
func (s *Schedule) remaining(elapsed time.Duration) (_ time.Duration, known bool) {
	if len(s.rises) <= minRises {
		return 0, false
	}
	first, last, before := s.rises[0], s.rises[len(s.rises)-1], s.rises[len(s.rises)-2]
	rate := (last.percent - first.percent) / (last.at - first.at).Seconds() // percent per second
	silent := (elapsed - last.at).Seconds()
	if silent*rate > max(stallPoints, stallSteps*(last.percent-before.percent)) {
		return 0, false
	}
	seconds := max(0, (complete-last.percent)/rate-silent)
	return time.Duration(min(seconds, maxWait.Seconds()/shareRest) * float64(time.Second)), true
}

func share(part float64, of time.Duration) time.Duration {
	return time.Duration(part * float64(of))
}
