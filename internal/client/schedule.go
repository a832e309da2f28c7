package client

import (
	"math"
	"time"
)

const (
	minWait = time.Second
	maxWait = 15 * time.Second
)

// observation is what a poll saw of work that is still running.
type observation struct {
	queued     bool          // the work has not begun, so its progress says nothing
	progress   *float64      // a percentage; nil if unknown
	retryAfter time.Duration // the minimum wait that the service requests; zero if it requests none
}

// schedule decides how long to wait before the next poll. It waits up to 5% of the elapsed time, so that a long job
// is polled less often than a short one, and its end is still noticed within a few percent of its duration. Each time
// the progress rises, it estimates the end, and it polls more often shortly before and after that. It waits longer
// only right after a rise, if the end is far away: at other times, the progress may have stalled, dropped, or started
// over.
//
// A schedule is not safe for concurrent use.
type schedule struct {
	interval time.Duration // a fixed polling interval; zero means adaptive

	// Times since the start, in nanoseconds.
	began float64 // when the work was last seen in the queue
	ends  float64 // when it ends, as estimated at the last rise; zero before the first one
	top   float64 // the highest progress since it began
}

// next returns how long to wait after a poll. elapsed is the time from the start to the poll, and random a number in
// [0, 1) for jitter.
//
// Without an interval and a Retry-After, the result is at least 1 s and at most max(1 s, min(15 s, 25% of elapsed)),
// regardless of the progress. If the progress is unknown, 5% replaces 25%.
func (s *schedule) next(elapsed time.Duration, seen observation, random float64) time.Duration {
	asked := min(seen.retryAfter, maxRetryAfter)
	if s.interval > 0 {
		return max(s.interval, asked)
	}
	now, most := float64(elapsed), .05*float64(elapsed)
	if seen.queued {
		s.began, s.top, s.ends = now, 0, 0
	} else if seen.progress != nil && *seen.progress > s.top && *seen.progress <= 100 {
		s.top = *seen.progress
		s.ends = now + (now-s.began)*(100-s.top)/s.top
		most = .25 * now
	}
	wait := min(max(.5*math.Abs(s.ends-now), .005*now), most)
	wait -= .1 * random * wait // so that many waits do not poll at the same time
	return max(asked, min(max(time.Duration(wait), minWait), maxWait))
}
