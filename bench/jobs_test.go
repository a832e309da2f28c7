// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bench

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// job is a job as a service would run it.
type job struct {
	queue, run time.Duration
	// joined is when the wait begins, counted from the start request; zero for
	// a wait that follows it.
	joined time.Duration
	// roundTrip is how long a GET of it takes; the service looks at the job
	// half-way.
	roundTrip time.Duration
	// progress tells the per cent shown at a share (0 to 1) of the run time;
	// nil where the service shows none.
	progress func(share float64) float64
}

// ends is when the job does, counted from the start request.
func (j *job) ends() time.Duration { return j.queue + j.run }

// state is what a GET that reaches the service at a time shows. The progress is
// in per cent, nil where there is none to show.
func (j *job) state(at time.Duration) (status string, progress *float64) {
	switch {
	case at >= j.ends():
		return "completed", nil
	case at < j.queue:
		return "queued", nil
	case j.progress == nil:
		return "running", nil
	}
	p := min(100, max(0, j.progress(float64(at-j.queue)/float64(j.run))))
	return "running", &p
}

// mix is a kind of workload.
type mix struct {
	name string
	draw func(r *rand.Rand) *job
}

// jobs returns n jobs of the mix, the same for the same seed.
func (m mix) jobs(n int, seed uint64) []*job {
	r := rand.New(rand.NewPCG(seed, 0))
	jobs := make([]*job, n)
	for i := range jobs {
		jobs[i] = m.draw(r)
	}
	return jobs
}

// usual is the workload that the poller was tuned on: most jobs take a minute
// or two, and most show a progress that means something.
var usual = mix{"usual", func(r *rand.Rand) *job {
	j := &job{
		run:       logNormal(r, time.Minute, 1.3, 2*time.Second, 30*time.Minute),
		roundTrip: 120 * time.Millisecond,
	}
	if r.Float64() >= .3 {
		j.queue = logNormal(r, 3*time.Second, 1, 0, time.Minute)
	}
	switch kind := r.Float64(); {
	case kind < .55:
		j.progress = noisyLinear(r, 40, .5)
	case kind < .70:
	case kind < .80:
		j.progress = stuck(noisyLinear(r, 40, .5), .1+.8*r.Float64())
	case kind < .90:
		j.progress = steps(25, linear)
	default:
		j.progress = curved(r)
	}
	return j
}}

// other is a workload that the poller was not tuned on: longer jobs and long
// queues, slower answers, waits that begin in the middle, and more kinds of
// misleading progress.
var other = mix{"other", func(r *rand.Rand) *job {
	j := &job{roundTrip: time.Duration((40 + 360*r.Float64()) * float64(time.Millisecond))}
	switch kind := r.Float64(); {
	case kind < .5:
		j.run = logNormal(r, 30*time.Second, .8, time.Second, time.Hour)
	case kind < .8:
		j.run = time.Duration((60 + 540*r.Float64()) * float64(time.Second))
	default:
		j.run = logNormal(r, 10*time.Minute, .6, time.Second, time.Hour)
	}
	if r.Float64() < .5 {
		j.queue = time.Duration(20 * r.ExpFloat64() * float64(time.Second))
	}
	if r.Float64() < .15 {
		j.joined = time.Duration(r.Float64() * float64(j.ends()))
	}
	switch kind := r.Float64(); {
	case kind < .4:
		j.progress = steps(1, noisyLinear(r, 20+r.IntN(200), 1))
	case kind < .6:
	case kind < .7:
		j.progress = lastStep(99, .4+.5*r.Float64())
	case kind < .75:
		j.progress = again(.2 + .6*r.Float64())
	case kind < .85:
		j.progress = func(x float64) float64 { return 100 * x * x * (3 - 2*x) }
	case kind < .95:
		j.progress = steps(10, curved(r))
	default:
		j.progress = stuck(linear, .9*r.Float64())
	}
	return j
}}

// logNormal draws a duration and draws again until it is in bounds.
func logNormal(r *rand.Rand, median time.Duration, sigma float64, least, most time.Duration) time.Duration {
	for {
		d := time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64()))
		if d >= least && d <= most {
			return d
		}
	}
}

func linear(share float64) float64 { return 100 * share }

// noisyLinear is the progress of n pieces of work of unequal size, whose
// durations are log-normal.
func noisyLinear(r *rand.Rand, n int, sigma float64) func(float64) float64 {
	done := make([]float64, n+1)
	for i := range n {
		done[i+1] = done[i] + math.Exp(sigma*r.NormFloat64())
	}
	return func(share float64) float64 {
		at := share * done[n]
		i := min(n, sort.SearchFloat64s(done, at))
		if i == 0 {
			return 0
		}
		within := (at - done[i-1]) / (done[i] - done[i-1])
		return 100 * (float64(i-1) + within) / float64(n)
	}
}

// stuck stops to move at a share of the run time.
func stuck(progress func(float64) float64, at float64) func(float64) float64 {
	return func(share float64) float64 { return progress(min(share, at)) }
}

// steps shows a progress in steps of some points.
func steps(points float64, progress func(float64) float64) func(float64) float64 {
	return func(share float64) float64 { return points * math.Floor(progress(share)/points) }
}

// curved is slow at first and then fast, or the other way round.
func curved(r *rand.Rand) func(float64) float64 {
	exponent := 2 + r.Float64()
	if r.Float64() < .5 {
		exponent = 1 / exponent
	}
	return func(share float64) float64 { return 100 * math.Pow(share, exponent) }
}

// lastStep is linear up to a level at a share of the run time, and stays there.
func lastStep(level, at float64) func(float64) float64 {
	return func(share float64) float64 { return min(level, level*share/at) }
}

// again is linear to a share of the run time, and then from the start again.
func again(at float64) func(float64) float64 {
	return func(share float64) float64 {
		if share < at {
			return 100 * share
		}
		return 100 * (share - at) / (1 - at)
	}
}
