// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"math"
	"strconv"
	"time"
)

// rateLimit spaces requests evenly, but for a burst: the generic cell rate
// algorithm, which is a token bucket without fractions of a token.
type rateLimit struct {
	interval   time.Duration // between requests
	slack      time.Duration // by which a burst may be ahead of even spacing
	retryAfter func(wait time.Duration) string
	next       time.Time // when the next request is due, evenly spaced
}

// newRateLimit returns nil, no limit, if perSecond is not positive.
func newRateLimit(perSecond float64, burst int, retryAfter func(time.Duration) string) *rateLimit {
	if perSecond <= 0 {
		return nil
	}
	if retryAfter == nil {
		retryAfter = func(wait time.Duration) string {
			return strconv.Itoa(int(math.Ceil(wait.Seconds())))
		}
	}
	interval := time.Duration(float64(time.Second) / perSecond)
	return &rateLimit{
		interval:   interval,
		slack:      time.Duration(max(burst, 1)-1) * interval,
		retryAfter: retryAfter,
	}
}

// take lets a request pass, or tells how long until one would.
func (l *rateLimit) take(now time.Time) (wait time.Duration, ok bool) {
	if l.next.Before(now) {
		l.next = now
	}
	if wait := l.next.Sub(now) - l.slack; wait > 0 {
		return wait, false
	}
	l.next = l.next.Add(l.interval)
	return 0, true
}
