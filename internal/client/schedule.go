package client

import (
	"math"
	"time"
)

const (
	minWait = time.Second
	maxWait = 15 * time.Second
)

// Poll is what a poll saw of work that is still running.
type Poll struct {
	Queued     bool          // the work has not begun, so its progress says nothing
	Progress   *float64      // a percentage; nil if unknown
	RetryAfter time.Duration // the minimum wait that the service requests; zero if it requests none
}

// Schedule decides how long to wait before the next poll. It waits up to 5% of the elapsed time, so that a long job
// is polled less often than a short one, and its end is still noticed within a few percent of its duration. Each time
// the progress rises, it estimates the end, and it polls more often shortly before and after that. It waits longer
// only right after a rise, if the end is far away: at other times, the progress may have stalled, dropped, or started
// over.
//
// A Schedule is not safe for concurrent use.
type Schedule struct {
	Interval time.Duration // a fixed polling interval; zero means adaptive

	// Times since the start, in nanoseconds.
	began float64 // when the work was last seen in the queue
	ends  float64 // when it ends, as estimated at the last rise; zero before the first one
	top   float64 // the highest progress since it began
}

// Next returns how long to wait after a poll. elapsed is the time from the start to the poll, and random a number in
// [0, 1) for jitter.
//
// Without an Interval and a RetryAfter, the result is at least 1 s and at most max(1 s, min(15 s, 25% of elapsed)),
// regardless of the progress. If the progress is unknown, 5% replaces 25%.
func (s *Schedule) Next(elapsed time.Duration, seen Poll, random float64) time.Duration {
	asked := min(seen.RetryAfter, maxRetryAfter)
	if s.Interval > 0 {
		return max(s.Interval, asked)
	}
	now, most := float64(elapsed), .05*float64(elapsed)
	if seen.Queued {
		s.began, s.top, s.ends = now, 0, 0
	} else if seen.Progress != nil && *seen.Progress > s.top && *seen.Progress <= 100 {
		s.top = *seen.Progress
		s.ends = now + (now-s.began)*(100-s.top)/s.top
		most = .25 * now
	}
	wait := min(max(.5*math.Abs(s.ends-now), .005*now), most)
	wait -= .1 * random * wait // so that many waits do not poll at the same time
	return max(asked, min(max(time.Duration(wait), minWait), maxWait))
}
