// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package poll

import (
	"math"
	"testing"
	"time"
)

const s = time.Second

func noJitter() float64 { return 0 }

func queued(at time.Duration) look  { return look{at, Observation{Queued: true}} }
func noValue(at time.Duration) look { return look{at, Observation{}} }
func running(at time.Duration, percent float64) look {
	return look{at, Observation{Progress: &percent}}
}

// look is an observation and the time that had elapsed when it was made.
type look struct {
	at   time.Duration
	seen Observation
}

func TestScheduleEstimatesTheRemainingTimeFromTheProgress(t *testing.T) {
	for name, test := range map[string]struct {
		looks       []look
		least, most time.Duration // of the wait after the last look
	}{
		"starts with the shortest wait":            {[]look{queued(0)}, s, s},
		"waits 5 % of the elapsed time in a queue": {[]look{queued(100 * s)}, 5 * s, 5 * s},
		"waits 5 % of the time without a progress": {[]look{queued(0), noValue(100 * s)}, 5 * s, 5 * s},
		"waits at most 15 s":                       {[]look{queued(0), noValue(time.Hour)}, 15 * s, 15 * s},
		"does not trust a single rise":             {[]look{queued(0), running(100*s, 1)}, 5 * s, 5 * s},
		"does not trust two values without a queue": {
			[]look{running(0, 0), running(100*s, 50)}, 5 * s, 5 * s,
		},
		"waits long while the end is far":     {[]look{queued(0), running(20*s, 10), running(40*s, 20)}, 10 * s, 10 * s},
		"waits briefly when the end is near":  {[]look{queued(0), running(100*s, 49), running(200*s, 98)}, s, 2 * s},
		"polls 0.5 % apart at the very end":   {[]look{queued(0), running(500*s, 50), running(1000*s, 100)}, 5 * s, 5 * s},
		"subtracts the time since the rise":   {[]look{queued(0), running(40*s, 40), running(80*s, 80), running(90*s, 80)}, 4 * s, 4 * s},
		"trusts a progress 15 % late":         {[]look{running(0, 0), running(10*s, 10), running(20*s, 20), running(35*s, 20)}, 8750 * time.Millisecond, 8750 * time.Millisecond},
		"does not count the time in a queue":  {[]look{queued(0), queued(100 * s), running(110*s, 50), running(180*s, 80)}, 8 * s, 8 * s},
		"trusts a progress in steps":          {[]look{queued(0), running(100*s, 25), running(200*s, 50), running(270*s, 50)}, 15 * s, 15 * s},
		"does not trust a progress that hung": {[]look{queued(0), running(10*s, 10), running(20*s, 20), running(100*s, 20)}, 5 * s, 5 * s},
		"does not trust one that hung at 100": {[]look{queued(0), running(50*s, 50), running(100*s, 100), running(200*s, 100)}, 10 * s, 10 * s},
		"ignores a small drop":                {[]look{queued(0), running(50*s, 25), running(100*s, 50), running(101*s, 48)}, 15 * s, 15 * s},
		"keeps its estimate through a drop of 15 points": {
			[]look{queued(0), running(50*s, 25), running(100*s, 50), running(101*s, 35)}, 15 * s, 15 * s,
		},
		"follows a progress that starts over": {
			[]look{queued(0), running(50*s, 50), running(90*s, 90), running(100*s, 0), running(150*s, 25), running(200*s, 50)}, 15 * s, 15 * s,
		},
		"measures from the first look if it joined late": {[]look{running(0, 80), running(50*s, 82), running(100*s, 84)}, 15 * s, 15 * s},
		"starts over when the job is queued again":       {[]look{queued(0), running(50*s, 50), running(90*s, 90), queued(100 * s)}, 5 * s, 5 * s},
		"takes a value above 100 for 100":                {[]look{queued(0), running(100*s, 50), running(200*s, 500)}, s, s},
		"ignores NaN":                                    {[]look{running(0, math.NaN()), running(20*s, 10), running(40*s, 20), running(60*s, 30)}, 15 * s, 15 * s},
		"takes a negative value for 0":                   {[]look{queued(0), running(50*s, -1000), running(100*s, 10), running(110*s, 20)}, 15 * s, 15 * s},
	} {
		t.Run(name, func(t *testing.T) {
			schedule := Schedule{Random: noJitter}
			var wait time.Duration
			for _, look := range test.looks {
				wait = schedule.Next(look.at, look.seen)
			}
			if wait < test.least || wait > test.most {
				t.Errorf("waits %s, want %s to %s", wait, test.least, test.most)
			}
		})
	}
}

func TestScheduleHonorsTheIntervalTheServiceAndTheJitter(t *testing.T) {
	for name, test := range map[string]struct {
		interval, retryAfter time.Duration
		random               float64
		want                 time.Duration
	}{
		"a tenth of jitter at most":                     {random: .999999999, want: 9 * s},
		"half of that":                                  {random: .5, want: 9500 * time.Millisecond},
		"no jitter":                                     {want: 10 * s},
		"a Retry-After beyond the longest wait":         {retryAfter: 50 * s, want: 50 * s},
		"a Retry-After of an hour counts as one minute": {retryAfter: time.Hour, want: 60 * s},
		"a Retry-After below the usual wait":            {retryAfter: 2 * s, want: 10 * s},
		"a negative Retry-After":                        {retryAfter: -time.Minute, want: 10 * s},
		"a fixed interval, without jitter":              {interval: 3 * time.Millisecond, random: .5, want: 3 * time.Millisecond},
		"a fixed interval above the cap":                {interval: time.Hour, want: time.Hour},
		"a Retry-After above a fixed interval":          {interval: 3 * s, retryAfter: 30 * s, want: 30 * s},
		"a Retry-After of an hour, fixed interval":      {interval: 3 * s, retryAfter: time.Hour, want: 60 * s},
	} {
		schedule := Schedule{Interval: test.interval, Random: func() float64 { return test.random }}
		wait := schedule.Next(200*s, Observation{RetryAfter: test.retryAfter})
		if (wait - test.want).Abs() > time.Microsecond {
			t.Errorf("%s: waits %s, want %s", name, wait, test.want)
		}
	}
}
