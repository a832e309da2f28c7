// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import "time"

// rateLimit spaces requests evenly except for a burst (the generic cell rate
// algorithm). The zero value limits nothing.
type rateLimit struct {
	interval time.Duration // between requests
	slack    time.Duration // how far a burst can be ahead of the even spacing
	next     time.Time     // when the next evenly spaced request is due
}

func newRateLimit(perSecond float64, burst int) rateLimit {
	if perSecond <= 0 {
		return rateLimit{}
	}
	interval := time.Duration(float64(time.Second) / perSecond)
	return rateLimit{interval: interval, slack: time.Duration(max(burst, 1)-1) * interval}
}

// take lets a request pass and returns zero, or returns how long to wait until
// one would pass.
func (l *rateLimit) take(now time.Time) (wait time.Duration) {
	if l.next.Before(now) {
		l.next = now
	}
	if wait := l.next.Sub(now) - l.slack; wait > 0 {
		return wait
	}
	l.next = l.next.Add(l.interval)
	return 0
}
