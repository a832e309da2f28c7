// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"math"
	"strconv"
	"time"
)

// rateLimit is a token bucket: burst tokens at most, perSecond new ones.
type rateLimit struct {
	perSecond  float64
	burst      float64
	retryAfter func(wait time.Duration) string
	tokens     float64
	last       time.Time
}

func newRateLimit(perSecond float64, burst int, retryAfter func(time.Duration) string) *rateLimit {
	if perSecond <= 0 {
		return nil
	}
	if retryAfter == nil {
		retryAfter = func(wait time.Duration) string {
			return strconv.Itoa(int(math.Ceil(wait.Seconds())))
		}
	}
	size := math.Max(float64(burst), 1)
	return &rateLimit{perSecond: perSecond, burst: size, retryAfter: retryAfter, tokens: size}
}

// take lets a request pass, or tells how long until one would.
func (l *rateLimit) take(now time.Time) (wait time.Duration, ok bool) {
	if now.After(l.last) {
		l.tokens = math.Min(l.burst, l.tokens+l.perSecond*now.Sub(l.last).Seconds())
		l.last = now
	}
	const rounding = 1e-6 // of sums of fractions of a token
	if l.tokens >= 1-rounding {
		l.tokens--
		return 0, true
	}
	return time.Duration((1 - l.tokens) / l.perSecond * float64(time.Second)), false
}
