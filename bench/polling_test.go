// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/retry"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// schedule returns how long to wait before the next GET. elapsed counts from
// the start request, or from the beginning of a wait that joins later.
type schedule func(elapsed time.Duration, status string, progress *float64) time.Duration

// strategies are those that are nothing but a schedule.
var strategies = []struct {
	name  string
	start func(j *job, random *rand.Rand) schedule
}{
	{"ours", ours},
	{"fixed-1s", fixed(time.Second)},
	{"fixed-5s", fixed(5 * time.Second)},
	{"exponential", exponential},
	{"oracle", oracle},
}

func ours(_ *job, random *rand.Rand) schedule {
	poller := client.NewPoller(client.PollOptions{}, random.Float64)
	return func(elapsed time.Duration, status string, progress *float64) time.Duration {
		return poller.Next(elapsed, phaseOf(status), progress, 0)
	}
}

func phaseOf(status string) client.PollPhase {
	if status == "queued" {
		return client.PollQueued
	}
	return client.PollRunning
}

func fixed(interval time.Duration) func(*job, *rand.Rand) schedule {
	return func(*job, *rand.Rand) schedule {
		return func(time.Duration, string, *float64) time.Duration { return interval }
	}
}

// exponential waits as go-retryablehttp does with its defaults.
func exponential(*job, *rand.Rand) schedule {
	defaults := retryablehttp.NewClient()
	attempt := -1
	return func(time.Duration, string, *float64) time.Duration {
		attempt++
		return retryablehttp.DefaultBackoff(defaults.RetryWaitMin, defaults.RetryWaitMax, attempt, nil)
	}
}

// oracle knows the end.
func oracle(j *job, _ *rand.Rand) schedule {
	return func(elapsed time.Duration, _ string, _ *float64) time.Duration {
		return max(0, j.ends()-j.joined-elapsed-j.roundTrip/2)
	}
}

// outcome is what came of one wait.
type outcome struct {
	delay time.Duration // from the end of the job to the answer that tells it
	gets  int
	wait  time.Duration // from the beginning of the wait to the end of the job
}

// inTime is the bound of the first goal.
func (o outcome) inTime() bool {
	return o.delay <= max(1200*time.Millisecond, o.wait/20)
}

// simulate polls a job.
func simulate(j *job, next schedule) outcome {
	o := outcome{wait: j.ends() - j.joined}
	elapsed := time.Duration(0)
	if j.joined == 0 {
		elapsed = next(0, "queued", nil)
	}
	for {
		status, progress := j.state(j.joined + elapsed + j.roundTrip/2)
		o.gets++
		elapsed += j.roundTrip
		if status == "completed" {
			o.delay = elapsed - o.wait
			return o
		}
		elapsed += next(elapsed, status, progress)
	}
}

// stateChange polls a job with the SDK's own loop and its defaults, which must
// run in virtual time.
func stateChange(ctx context.Context, j *job) (outcome, error) {
	o := outcome{wait: j.ends() - j.joined}
	began := time.Now()
	conf := retry.StateChangeConf{
		Pending: []string{"queued", "running"},
		Target:  []string{"completed"},
		Timeout: 24 * time.Hour,
		Refresh: func() (any, string, error) {
			o.gets++
			<-time.After(j.roundTrip / 2)
			status, _ := j.state(j.joined + time.Since(began))
			<-time.After(j.roundTrip - j.roundTrip/2)
			return j, status, nil
		},
	}
	_, err := conf.WaitForStateContext(ctx)
	o.delay = time.Since(began) - o.wait
	return o, err
}

// sample is what came of many waits.
type sample []outcome

func (s sample) report(b *testing.B) {
	b.Helper()
	delays, relative, gets := s.column(outcome.seconds), s.column(outcome.share), s.column(outcome.count)
	b.ReportMetric(mean(delays), "delay-s")
	b.ReportMetric(percentile(delays, .95), "delay-p95-s")
	b.ReportMetric(100*mean(relative), "delay-%")
	b.ReportMetric(100*percentile(relative, .95), "delay-p95-%")
	b.ReportMetric(mean(gets), "GETs")
	b.ReportMetric(percentile(gets, .95), "GETs-p95")
	b.ReportMetric(100*mean(s.column(outcome.hit)), "in-time-%")
	b.ReportMetric(0, "ns/op") // virtual time is what counts
}

func (o outcome) seconds() float64 { return o.delay.Seconds() }
func (o outcome) share() float64   { return o.delay.Seconds() / o.wait.Seconds() }
func (o outcome) count() float64   { return float64(o.gets) }
func (o outcome) hit() float64 {
	if o.inTime() {
		return 1
	}
	return 0
}

func (s sample) column(of func(outcome) float64) []float64 {
	column := make([]float64, len(s))
	for i, o := range s {
		column[i] = of(o)
	}
	return column
}

func mean(values []float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func percentile(values []float64, share float64) float64 {
	slices.Sort(values)
	return values[int(math.Ceil(share*float64(len(values))))-1]
}

const (
	seeds       = 5
	jobsPerSeed = 20_000
)

// BenchmarkPolling runs the jobs of two workloads past each strategy.
func BenchmarkPolling(b *testing.B) {
	for _, m := range []mix{usual, other} {
		for _, s := range strategies {
			b.Run(m.name+"/"+s.name, func(b *testing.B) {
				for b.Loop() {
					scheduled(m, s.start, jobsPerSeed).report(b)
				}
			})
		}
		b.Run(m.name+"/sdk-v2", func(b *testing.B) {
			log.SetOutput(io.Discard) // it logs each GET
			jobs := jobsPerSeed
			if m.name == other.name {
				jobs /= 4 // its loop is slow to simulate
			}
			for b.Loop() {
				var all sample
				inBubble(b, func(t *testing.T) {
					for seed := range uint64(seeds) {
						for _, j := range m.jobs(jobs, seed) {
							o, err := stateChange(t.Context(), j)
							if err != nil {
								t.Fatal(err)
							}
							all = append(all, o)
						}
					}
				})
				all.report(b)
			}
		})
	}
}

// scheduled runs jobs of all seeds past one strategy.
func scheduled(m mix, start func(*job, *rand.Rand) schedule, jobs int) sample {
	var all sample
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 1))
		for _, j := range m.jobs(jobs, seed) {
			all = append(all, simulate(j, start(j, random)))
		}
	}
	return all
}

// The first two goals, on fewer jobs than the benchmark has.
func TestPollingMeetsItsGoals(t *testing.T) {
	t.Parallel()
	const jobs = 4000
	ours, fixed := scheduled(usual, ours, jobs), scheduled(usual, fixed(5*time.Second), jobs)
	for name, c := range map[string]struct{ got, most float64 }{
		"waits that are noticed too late, per cent": {100 * (1 - mean(ours.column(outcome.hit))), 3},
		"GETs beside fixed 5 s":                     {mean(ours.column(outcome.count)) / mean(fixed.column(outcome.count)), 1.15},
		"delay beside fixed 5 s":                    {mean(ours.column(outcome.seconds)) / mean(fixed.column(outcome.seconds)), .6},
	} {
		if c.got > c.most {
			t.Errorf("%s: %.3f, want at most %.3f", name, c.got, c.most)
		}
	}
}

// What the benchmark simulates is what the client does: its own wait polls the
// same jobs with the same number of GETs and ends at the same time.
func TestClientPollsAsSimulated(t *testing.T) {
	t.Parallel()
	random := func() float64 { return .5 }
	for _, m := range []mix{usual, other} {
		for _, j := range m.jobs(100, 0) {
			poller := client.NewPoller(client.PollOptions{}, random)
			want := simulate(j, func(elapsed time.Duration, status string, progress *float64) time.Duration {
				return poller.Next(elapsed, phaseOf(status), progress, 0)
			})
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				service := &jobService{job: j, began: began}
				c, err := client.New(client.Config{
					BaseURL:    "https://service.invalid/v1",
					APIKey:     "key_0123456789",
					HTTPClient: &http.Client{Transport: service},
					Random:     random,
				})
				if err != nil {
					t.Fatal(err)
				}
				opts := client.WaitOptions{}
				if j.joined == 0 {
					opts.StartedAt = began
				}
				if _, err := c.WaitForStaticExport(t.Context(), "job", opts, nil); err != nil {
					t.Fatal(err)
				}
				if service.gets != want.gets {
					t.Errorf("%d GETs, simulated %d", service.gets, want.gets)
				}
				if delay := time.Since(began) - want.wait; delay != want.delay {
					t.Errorf("delay %s, simulated %s", delay, want.delay)
				}
			})
		}
	}
}

// jobService answers as the service of the job would.
type jobService struct {
	job   *job
	began time.Time
	gets  int
}

func (s *jobService) RoundTrip(req *http.Request) (*http.Response, error) {
	s.gets++
	<-time.After(s.job.roundTrip / 2)
	status, progress := s.job.state(s.job.joined + time.Since(s.began))
	<-time.After(s.job.roundTrip - s.job.roundTrip/2)
	body, err := json.Marshal(map[string]any{"jobId": "job", "status": status, "progress": progress})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
		Request:    req,
	}, nil
}
