package client

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

const s = second

func TestScheduleEstimatesTheRemainingTimeFromARiseOfTheProgress(t *testing.T) {
	for name, test := range map[string]struct {
		polls string        // what each saw, and when
		want  time.Duration // the wait after the last one
	}{
		"waits 5 % of the time without a progress":    {"queued at 0s, running at 100s", 5 * s},
		"waits at least a second":                     {"queued at 0s, running at 1s", s},
		"bounds a far end by the time so far":         {"queued at 0s, 1e-300% at 20s", 5 * s},
		"waits at most 15 s":                          {"queued at 0s, running at 1h", 15 * s},
		"waits half of the remaining time":            {"queued at 0s, 80% at 80s", 10 * s},
		"waits 25 % of the time while the end is far": {"queued at 0s, 1% at 40s", 10 * s},
		"waits 0.5 % of the time at the very end":     {"queued at 0s, 100% at 1000s", 5 * s},
		"does not count the time in a queue":          {"queued at 0s, queued at 100s, 80% at 120s", 2500 * time.Millisecond},
		"waits longer than 5 % only after a rise":     {"queued at 0s, 50% at 50s, 50% at 60s", 3 * s},
		"polls more often just after it":              {"queued at 0s, 80% at 100s, 80% at 128s", 1500 * time.Millisecond},
		"polls as before long after it":               {"queued at 0s, 80% at 100s, 80% at 200s", 10 * s},
		"does not use a progress that drops":          {"queued at 0s, 10% at 10s, 5% at 40s", 2 * s},
		"measures a drop by the highest progress":     {"queued at 0s, 10% at 10s, 5% at 40s, 8% at 50s", 2500 * time.Millisecond},
		"starts over when the job is queued again":    {"queued at 0s, 80% at 80s, queued at 100s, 80% at 180s", 10 * s},
		"does not use a negative value":               {"queued at 0s, -5% at 100s", 5 * s},
		"does not use a value above 100":              {"queued at 0s, 101% at 100s", 5 * s},
		"uses a rise after NaN":                       {"queued at 0s, NaN% at 10s, 80% at 80s", 10 * s},
	} {
		t.Run(name, func(t *testing.T) {
			schedule := schedule{}
			var wait time.Duration
			for poll := range strings.SplitSeq(test.polls, ", ") {
				what, at, _ := strings.Cut(poll, " at ")
				elapsed, err := time.ParseDuration(at)
				if err != nil {
					t.Fatal(err)
				}
				seen := observation{queued: what == "queued"}
				if percentage, isPercentage := strings.CutSuffix(what, "%"); isPercentage {
					progress, err := strconv.ParseFloat(percentage, 64)
					if err != nil {
						t.Fatal(err)
					}
					seen.progress = &progress
				} else if what != "queued" && what != "running" {
					t.Fatalf("%q is not a status", what)
				}
				wait = schedule.next(elapsed, seen, 0)
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
