// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func percent(p float64) *float64 { return &p }

// longestWait is the promise of Poller.Next, in its own terms.
func longestWait(elapsed time.Duration, progress bool) time.Duration {
	part := .05
	if progress {
		part = .25
	}
	return max(time.Second, min(15*time.Second, time.Duration(part*elapsed.Seconds()*float64(time.Second))))
}

// checkWait reports a wait that breaks the promise. One nanosecond is left to
// the rounding of products.
func checkWait(t *testing.T, wait, elapsed time.Duration, progress bool) {
	t.Helper()
	if longest := longestWait(elapsed, progress); wait < time.Second || wait > longest+1 {
		t.Fatalf("waits %s at %s, want 1s to %s (progress shown: %t)", wait, elapsed, longest, progress)
	}
}

func never() float64 { return 0 }

// oddities are what a progress might be although it should not.
var oddities = []float64{
	math.NaN(), math.Inf(1), math.Inf(-1), -1, -math.MaxFloat64, 101, math.MaxFloat64,
	0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, 1e-300, 100, math.Nextafter(100, 0),
}

func TestPollerKeepsItsBoundWhateverTheProgress(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 0))
		poller := NewPoller(PollOptions{}, random.Float64)
		elapsed, shown := time.Duration(0), false
		for range 200 {
			phase, progress := PollRunning, percent(100*random.Float64())
			switch random.IntN(8) {
			case 0:
				progress = nil
			case 1:
				phase = PollQueued
			case 2:
				progress = percent(oddities[random.IntN(len(oddities))])
			case 3:
				progress = percent(math.Float64frombits(random.Uint64()))
			}
			shown = shown || progress != nil
			wait := poller.Next(elapsed, phase, progress, 0)
			checkWait(t, wait, elapsed, shown)
			elapsed += wait + time.Duration(random.ExpFloat64()*float64(time.Second))
		}
	}
}

func TestPollerKeepsItsBoundWhateverTheTime(t *testing.T) {
	t.Parallel()
	poller := NewPoller(PollOptions{}, never)
	for i, elapsed := range []time.Duration{
		0, 5 * time.Second, 5 * time.Second, 4 * time.Second, -time.Hour,
		math.MinInt64, time.Hour, math.MaxInt64, math.MaxInt64, 1,
	} {
		wait := poller.Next(elapsed, PollRunning, percent(float64(i)), 0)
		checkWait(t, wait, max(elapsed, 0), true)
	}
}

// Every row polls a job and says within what the wait at its end must be.
func TestPollerReadsTheProgress(t *testing.T) {
	t.Parallel()
	type sight struct {
		at       time.Duration
		phase    PollPhase
		progress *float64
	}
	const s = time.Second
	run := func(at time.Duration, p float64) sight { return sight{at, PollRunning, percent(p)} }
	queued := func(at time.Duration) sight { return sight{at, PollQueued, nil} }
	blind := func(at time.Duration) sight { return sight{at, PollRunning, nil} }
	for name, c := range map[string]struct {
		seen        []sight
		least, most time.Duration
	}{
		"begins with the shortest wait":           {[]sight{queued(0)}, s, s},
		"waits 5 % of the time when it is queued": {[]sight{queued(100 * s)}, 5 * s, 5 * s},
		"waits 5 % of the time without progress":  {[]sight{queued(0), blind(100 * s)}, 5 * s, 5 * s},
		"waits no more than 15 s":                 {[]sight{queued(0), blind(time.Hour)}, 15 * s, 15 * s},
		"believes no single rise":                 {[]sight{queued(0), run(100*s, 1)}, 5 * s, 5 * s},
		"takes a long stride when the end is far": {[]sight{queued(0), run(20*s, 10), run(40*s, 20)}, 10 * s, 10 * s},
		"takes a short one when it is near":       {[]sight{queued(0), run(100*s, 49), run(200*s, 98)}, s, 2 * s},
		"goes by the rate of the second half where that is faster": {
			[]sight{queued(0), run(50*s, 10), run(100*s, 20), run(120*s, 60)}, 7 * s, 9 * s,
		},
		"goes by the whole where the second half is slower": {
			[]sight{queued(0), run(10*s, 40), run(100*s, 80), run(110*s, 81)}, 9 * s, 11 * s,
		},
		"counts the time in the queue for nothing": {
			[]sight{queued(0), queued(100 * s), run(110*s, 50), run(180*s, 80)}, 7 * s, 8 * s,
		},
		"believes a bar that moves in steps": {
			[]sight{queued(0), run(100*s, 25), run(200*s, 50), run(270*s, 50)}, 15 * s, 15 * s,
		},
		"no longer believes a bar that is stuck": {
			[]sight{queued(0), run(10*s, 10), run(20*s, 20), run(100*s, 20)}, 5 * s, 5 * s,
		},
		"no longer believes a bar that is stuck at the end": {
			[]sight{queued(0), run(50*s, 50), run(100*s, 100), run(200*s, 100)}, 10 * s, 10 * s,
		},
		"does not mind a small fall": {
			[]sight{queued(0), run(50*s, 25), run(100*s, 50), run(101*s, 48)}, 15 * s, 15 * s,
		},
		"begins anew with a progress that does": {
			[]sight{queued(0), run(50*s, 50), run(90*s, 90), run(100*s, 0), run(150*s, 25), run(200*s, 50)}, 15 * s, 15 * s,
		},
		"knows nothing of the time before it joined": {
			[]sight{run(0, 80), run(50*s, 82), run(100*s, 84)}, 15 * s, 15 * s,
		},
		"starts over when the job is queued again": {
			[]sight{queued(0), run(50*s, 50), run(90*s, 90), queued(100 * s)}, 5 * s, 5 * s,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			poller := NewPoller(PollOptions{}, never)
			var wait time.Duration
			for _, seen := range c.seen {
				wait = poller.Next(seen.at, seen.phase, seen.progress, 0)
			}
			if wait < c.least || wait > c.most {
				t.Errorf("waits %s, want %s to %s", wait, c.least, c.most)
			}
		})
	}
}

func TestPollerSpreadsWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		random float64
		want   time.Duration
	}{
		"not at all at one end":    {0, 10 * time.Second},
		"by a tenth at the other":  {.999999, 9 * time.Second},
		"by half of that half-way": {.5, 9500 * time.Millisecond},
	} {
		poller := NewPoller(PollOptions{}, func() float64 { return c.random })
		if wait := poller.Next(200*time.Second, PollRunning, nil, 0); (wait - c.want).Abs() > time.Millisecond {
			t.Errorf("%s: waits %s, want %s", name, wait, c.want)
		}
	}
}

func TestPollerWaitsAsLongAsItIsToldTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		interval, retryAfter, want time.Duration
	}{
		"by the service, past its own cap":        {0, time.Minute, time.Minute},
		"by the service, but not less than usual": {0, 2 * time.Second, 10 * time.Second},
		"by the user":                                          {3 * time.Millisecond, 0, 3 * time.Millisecond},
		"by the user, for longer than the cap":                 {time.Hour, 0, time.Hour},
		"by the service rather than by the user":               {3 * time.Second, time.Minute, time.Minute},
		"by nobody, if the service asks for less than nothing": {0, -time.Minute, 10 * time.Second},
	} {
		poller := NewPoller(PollOptions{Interval: c.interval}, never)
		if wait := poller.Next(200*time.Second, PollRunning, nil, c.retryAfter); wait != c.want {
			t.Errorf("%s: waits %s, want %s", name, wait, c.want)
		}
	}
}
