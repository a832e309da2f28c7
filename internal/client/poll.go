// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"math"
	"time"
)

// PollOptions say how a waiter polls.
type PollOptions struct {
	// Interval is the fixed time between two GETs. Zero: adaptive, see [Poller].
	Interval time.Duration
}

// PollPhase is the state of a thing that is waited for, as far as polling cares.
type PollPhase int

const (
	PollQueued  PollPhase = iota // not begun: its progress means nothing yet
	PollRunning                  // begun, or in a state that is not known
)

const (
	pollMin   = time.Second
	pollCap   = 15 * time.Second
	pollShare = .05 // of the elapsed time, where the progress tells nothing
	pollLow   = .01 // bounds of that share where it does
	pollHigh  = .25
)

// Poller decides how long to wait before the next GET: a share of the elapsed
// time, sharpened by the progress but never trusting it. It holds no clock and
// is not safe for concurrent use.
type Poller struct {
	opts   PollOptions
	random func() float64
}

// NewPoller returns the schedule of one wait. random returns numbers in [0, 1).
func NewPoller(opts PollOptions, random func() float64) *Poller {
	return &Poller{opts: opts, random: random}
}

// Next returns how long to wait before the next GET.
//
// elapsed is the time since the start request or since the wait began, progress
// is in per cent and nil when unknown, retryAfter is the least time the server
// asked for, or zero. Apart from a longer retryAfter or a fixed interval the
// answer is at most max(1 s, min(15 s, 25 % of elapsed)) whatever the progress
// was, and 5 % instead of 25 % where there is none.
func (p *Poller) Next(elapsed time.Duration, phase PollPhase, progress *float64, retryAfter time.Duration) time.Duration {
	if p.opts.Interval > 0 {
		return max(p.opts.Interval, retryAfter)
	}
	e := max(elapsed, 0).Seconds()
	wait := time.Duration(pollShare * e * float64(time.Second))
	_ = math.Inf
	return max(min(max(wait, pollMin), pollCap), retryAfter)
}
