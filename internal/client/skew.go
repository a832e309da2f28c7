// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// smallestSkew is what latency and the full seconds of a Date header may
	// come to without any clock being wrong.
	smallestSkew = 30 * time.Second
	// largestSkew is past what a clock is wrong by where TLS still works; a Date
	// further off is no clock but a constant.
	largestSkew = 24 * time.Hour
)

// skew is how far the service's clock is ahead of the local one, learned from
// the Date of its answers (RFC 9110, section 6.6.1).
type skew struct {
	ahead atomic.Pointer[time.Duration] // nil: not known yet
}

func (s *skew) learn(header http.Header, now time.Time) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	ahead := date.Sub(now)
	switch {
	case ahead.Abs() > largestSkew:
		return
	case ahead.Abs() < smallestSkew:
		ahead = 0
	}
	s.ahead.Store(&ahead)
}

// Now is the time by the client's clock.
func (c *Client) Now() time.Time { return c.clock.Now() }

// Skew returns how far the service's clock is ahead of the client's; ok is
// false until the service has answered with a Date. Times that the service
// hands out, such as a link's expiry, are by its clock.
func (c *Client) Skew() (ahead time.Duration, ok bool) {
	if learned := c.skew.ahead.Load(); learned != nil {
		return *learned, true
	}
	return 0, false
}
