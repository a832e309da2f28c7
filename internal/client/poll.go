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
	// PollQueued is for what has not begun: its progress means nothing yet.
	PollQueued PollPhase = iota
	// PollRunning is for what has begun, or is in a state that is not known.
	PollRunning
)

const (
	pollMin    = time.Second
	pollMax    = 15 * time.Second
	pollJitter = .1 // of a wait, which is shortened by up to this

	pollBlind   = .05  // share of the elapsed time to wait where the remaining time is unknown
	pollLeast   = .005 // bounds of that share where it is known
	pollMost    = .25
	pollTowards = .4 // share of the remaining time to wait where it is known

	pollRises   = 2   // of the progress before it is believed
	pollStall   = 15. // points that it may be behind what is expected of it
	pollStride  = 1.5 // the same for a progress that moves in steps, in steps
	fullPercent = 100.
)

// Poller decides how long to wait before the next GET: a share of the elapsed
// time, so that a long job is polled less often than a short one and is yet
// noticed to have ended within a few per cent of its time. Where the progress
// tells the remaining time, a share of that is waited instead, which takes long
// strides first and short ones towards the end. The progress is never trusted
// with more than to choose between bounds, see [Poller.Next].
//
// A Poller holds no clock and is not safe for concurrent use.
type Poller struct {
	opts   PollOptions
	random func() float64

	queued time.Duration // elapsed time when it was last seen queued; negative: never
	rises  []rise        // of the progress; the first is where it began
}

// rise is a progress in per cent that is higher than all before, and when it
// was seen.
type rise struct {
	at      time.Duration
	percent float64
}

// NewPoller returns the schedule of one wait. random returns numbers in [0, 1).
func NewPoller(opts PollOptions, random func() float64) *Poller {
	return &Poller{opts: opts, random: random, queued: -1}
}

// Next returns how long to wait before the next GET.
//
// elapsed is the time since the start request, or since the wait began if that
// is for something older. progress is in per cent, nil when unknown. retryAfter
// is the least time that the service asked for, zero if it did not.
//
// Unless retryAfter or a fixed interval is longer, the result is at most
// max(1 s, min(15 s, 25 % of elapsed)) whatever the progress was, and with 5 %
// in place of 25 % if there was none. It is at least 1 s.
func (p *Poller) Next(elapsed time.Duration, phase PollPhase, progress *float64, retryAfter time.Duration) time.Duration {
	if p.opts.Interval > 0 {
		return max(p.opts.Interval, retryAfter)
	}
	p.observe(elapsed, phase, progress)
	wait := share(pollBlind, elapsed)
	if remaining, known := p.remaining(elapsed); known {
		wait = min(max(share(pollTowards, remaining), share(pollLeast, elapsed)), share(pollMost, elapsed))
	}
	wait -= share(pollJitter*p.random(), wait)
	return max(min(max(wait, pollMin), pollMax), retryAfter)
}

// observe keeps each rise of the progress. A job that was seen to be queued
// began half-way between that and the first sign of running, at nothing; one
// that is older began who knows when, so only what is seen of it counts. A
// progress that falls far begins anew.
func (p *Poller) observe(elapsed time.Duration, phase PollPhase, progress *float64) {
	if phase == PollQueued {
		p.queued, p.rises = elapsed, nil
		return
	}
	if len(p.rises) == 0 && p.queued >= 0 {
		p.rises = append(p.rises, rise{at: (p.queued + elapsed) / 2})
	}
	if progress == nil || math.IsNaN(*progress) {
		return
	}
	seen := rise{elapsed, min(max(*progress, 0), fullPercent)}
	if len(p.rises) == 0 {
		p.rises = []rise{seen}
		return
	}
	switch last := p.rises[len(p.rises)-1]; {
	case seen.percent < last.percent-pollStall:
		p.rises = []rise{seen}
	case seen.percent > last.percent:
		p.rises = append(p.rises, seen)
	}
}

// remaining estimates the time to the end from the rate of progress: that of
// the whole run, or that of its second half if it was faster, because to come
// too early costs a GET and to come too late costs the user's time. Nothing is
// known before there are enough rises, and once the progress has stalled.
func (p *Poller) remaining(elapsed time.Duration) (_ time.Duration, known bool) {
	if len(p.rises) <= pollRises {
		return 0, false
	}
	first, last, before := p.rises[0], p.rises[len(p.rises)-1], p.rises[len(p.rises)-2]
	rate := speed(first, last)
	for i := len(p.rises) - 2; i > 0; i-- {
		if p.rises[i].percent <= (first.percent+last.percent)/2 {
			rate = max(rate, speed(p.rises[i], last))
			break
		}
	}
	silent := (elapsed - last.at).Seconds()
	if silent*rate > max(pollStall, pollStride*(last.percent-before.percent)) {
		return 0, false
	}
	seconds := max(0, (fullPercent-last.percent)/rate-silent)
	return time.Duration(min(seconds, pollMax.Seconds()/pollTowards) * float64(time.Second)), true
}

// speed is in per cent per second.
func speed(from, to rise) float64 {
	return (to.percent - from.percent) / (to.at - from.at).Seconds()
}

func share(part float64, of time.Duration) time.Duration {
	return time.Duration(part * float64(of))
}
