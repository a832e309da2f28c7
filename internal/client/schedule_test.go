package client

import (
	"math"
	"testing"
	"time"
)

const s = second

// look is a poll and the time that had elapsed when it was made.
type look struct {
	at   time.Duration
	seen observation
}

func queued(at time.Duration) look  { return look{at, observation{queued: true}} }
func noValue(at time.Duration) look { return look{at, observation{}} }
func running(at time.Duration, percent float64) look {
	return look{at, observation{progress: &percent}}
}

func TestScheduleEstimatesTheRemainingTimeFromARiseOfTheProgress(t *testing.T) {
	for name, test := range map[string]struct {
		looks []look
		want  time.Duration // the wait after the last look
	}{
		"waits 5 % of the time without a progress":    {[]look{queued(0), noValue(100 * s)}, 5 * s},
		"waits at least a second":                     {[]look{queued(0), noValue(s)}, s},
		"bounds a far end by the time so far":         {[]look{queued(0), running(20*s, 1e-300)}, 5 * s},
		"waits at most 15 s":                          {[]look{queued(0), noValue(time.Hour)}, 15 * s},
		"waits half of the remaining time":            {[]look{queued(0), running(80*s, 80)}, 10 * s},
		"waits 25 % of the time while the end is far": {[]look{queued(0), running(40*s, 1)}, 10 * s},
		"waits 0.5 % of the time at the very end":     {[]look{queued(0), running(1000*s, 100)}, 5 * s},
		"does not count the time in a queue":          {[]look{queued(0), queued(100 * s), running(120*s, 80)}, 2500 * time.Millisecond},
		"waits longer than 5 % only after a rise":     {[]look{queued(0), running(50*s, 50), running(60*s, 50)}, 3 * s},
		"polls more often just after it":              {[]look{queued(0), running(100*s, 80), running(128*s, 80)}, 1500 * time.Millisecond},
		"polls as before long after it":               {[]look{queued(0), running(100*s, 80), running(200*s, 80)}, 10 * s},
		"does not use a progress that drops":          {[]look{queued(0), running(10*s, 10), running(40*s, 5)}, 2 * s},
		"measures a drop by the highest progress":     {[]look{queued(0), running(10*s, 10), running(40*s, 5), running(50*s, 8)}, 2500 * time.Millisecond},
		"starts over when the job is queued again":    {[]look{queued(0), running(80*s, 80), queued(100 * s), running(180*s, 80)}, 10 * s},
		"does not use a negative value":               {[]look{queued(0), running(100*s, -5)}, 5 * s},
		"does not use a value above 100":              {[]look{queued(0), running(100*s, 101)}, 5 * s},
		"uses a rise after NaN":                       {[]look{queued(0), running(10*s, math.NaN()), running(80*s, 80)}, 10 * s},
	} {
		t.Run(name, func(t *testing.T) {
			schedule := schedule{}
			var wait time.Duration
			for _, look := range test.looks {
				wait = schedule.next(look.at, look.seen, 0)
			}
			if (wait - test.want).Abs() > time.Microsecond {
				t.Errorf("waits %s, want %s", wait, test.want)
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
		"no jitter":                                     {want: 10 * s},
		"a Retry-After beyond the longest wait":         {retryAfter: 50 * s, want: 50 * s},
		"a Retry-After of an hour counts as one minute": {retryAfter: time.Hour, want: 60 * s},
		"a negative Retry-After":                        {retryAfter: -time.Minute, want: 10 * s},
		"a fixed interval, without jitter":              {interval: 3 * time.Millisecond, random: .5, want: 3 * time.Millisecond},
		"a Retry-After above a fixed interval":          {interval: 3 * s, retryAfter: 30 * s, want: 30 * s},
	} {
		schedule := schedule{interval: test.interval}
		wait := schedule.next(200*s, observation{retryAfter: test.retryAfter}, test.random)
		if (wait - test.want).Abs() > time.Microsecond {
			t.Errorf("%s: waits %s, want %s", name, wait, test.want)
		}
	}
}
