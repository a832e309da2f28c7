// Package bench compares the client with alternatives, in one run and under the same load. See README.md.
package bench

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/hashicorp/terraform-plugin-sdk/v2/helper/retry"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	seeds       = 5
	jobsPerSeed = 4000
	roundTrip   = 120 * time.Millisecond
)

// job is a simulated export job.
type job struct {
	queue, run time.Duration
	// progress is the percentage shown at a share (0 to 1) of the run; nil if none is.
	progress func(share float64) float64
}

func (j job) ends() time.Duration { return j.queue + j.run }

// observe is what a GET that reaches the service at a given time sees.
func (j job) observe(at time.Duration) (status string, progress float64) {
	switch {
	case at >= j.ends():
		return "completed", 100
	case at < j.queue:
		return "queued", 0
	case j.progress == nil:
		return "running", math.NaN()
	}
	return "running", min(100, max(0, j.progress(float64(at-j.queue)/float64(j.run))))
}

// newJob draws a job. Most take a minute or two; most show a progress that means
// something.
func newJob(r *rand.Rand) job {
	j := job{run: logNormal(r, time.Minute, 1.3, 2*time.Second, 30*time.Minute)}
	if r.Float64() >= .3 {
		j.queue = logNormal(r, 3*time.Second, 1, 0, time.Minute)
	}
	switch kind := r.Float64(); {
	case kind < .55:
		j.progress = noisy(r)
	case kind < .70: // none
	case kind < .80:
		progress, stuckAt := noisy(r), .1+.8*r.Float64()
		j.progress = func(share float64) float64 { return progress(min(share, stuckAt)) }
	case kind < .90:
		j.progress = func(share float64) float64 { return 25 * math.Floor(4*share) }
	default:
		exponent := 2 + r.Float64()
		if r.Float64() < .5 {
			exponent = 1 / exponent
		}
		j.progress = func(share float64) float64 { return 100 * math.Pow(share, exponent) }
	}
	return j
}

// logNormal draws a duration, again and again until it is within bounds.
func logNormal(r *rand.Rand, median time.Duration, sigma float64, least, most time.Duration) time.Duration {
	for {
		if d := time.Duration(float64(median) * math.Exp(sigma*r.NormFloat64())); d >= least && d <= most {
			return d
		}
	}
}

// noisy is the progress of pieces of work whose durations are log-normal.
func noisy(r *rand.Rand) func(float64) float64 {
	const pieces = 40
	done := make([]float64, pieces+1)
	for i := range pieces {
		done[i+1] = done[i] + math.Exp(.5*r.NormFloat64())
	}
	return func(share float64) float64 {
		at := share * done[pieces]
		i := min(pieces, sort.SearchFloat64s(done, at))
		if i == 0 {
			return 0
		}
		return 100 * (float64(i-1) + (at-done[i-1])/(done[i]-done[i-1])) / pieces
	}
}

// outcomes collects the waits of one strategy.
type outcomes struct {
	delays []float64 // from the end of the job to the response that shows it, in seconds
	gets   float64
	inTime float64 // within max(1.2 s, 5 % of the job)
}

func (o *outcomes) add(j job, delay time.Duration, gets int) {
	o.delays = append(o.delays, delay.Seconds())
	o.gets += float64(gets)
	if delay <= max(1200*time.Millisecond, j.ends()/20) {
		o.inTime++
	}
}

func (o *outcomes) report(b *testing.B) {
	n, sum := float64(len(o.delays)), 0.
	for _, delay := range o.delays {
		sum += delay
	}
	slices.Sort(o.delays)
	b.ReportMetric(sum/n, "delay-s")
	b.ReportMetric(o.delays[len(o.delays)*95/100], "delay-p95-s")
	b.ReportMetric(o.gets/n, "GETs")
	b.ReportMetric(100*o.inTime/n, "in-time-%")
	b.ReportMetric(0, "ns/op") // virtual time is what counts
}

// BenchmarkPolling waits for the same jobs with different strategies.
func BenchmarkPolling(b *testing.B) {
	log.SetOutput(io.Discard) // the SDK logs each GET
	for name, follow := range map[string]func(*outcomes, *testing.T, job, *rand.Rand){
		"ours":     (*outcomes).followOurs,
		"sdk-v2":   followSDK(0),
		"fixed-5s": followSDK(5 * time.Second),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var o outcomes
				inBubble(b, func(t *testing.T) {
					for seed := range uint64(seeds) {
						jobs, random := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
						for range jobsPerSeed {
							follow(&o, t, newJob(jobs), random)
						}
					}
				})
				o.report(b)
			}
		})
	}
}

// followOurs polls a job with the client.
func (o *outcomes) followOurs(t *testing.T, j job, r *rand.Rand) {
	service := &jobService{job: j, began: time.Now()}
	c, err := client.New(client.Config{
		BaseURL: "https://service.invalid/v1", APIKey: "key_0123456789", Random: r.Float64, RoundTripper: service,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Second) // as after a start
	if _, err := c.Begin().WaitForStaticExport(t.Context(), "job", 0); err != nil {
		t.Fatal(err)
	}
	o.add(j, time.Since(service.began)-j.ends(), service.gets)
}

// jobService is a service with one job.
type jobService struct {
	job   job
	began time.Time
	gets  int
}

func (s *jobService) RoundTrip(req *http.Request) (*http.Response, error) {
	s.gets++
	<-time.After(roundTrip / 2)
	status, progress := s.job.observe(time.Since(s.began))
	<-time.After(roundTrip / 2)
	body := fmt.Sprintf(`{"status": %q, "progress": %g}`, status, progress)
	if math.IsNaN(progress) {
		body = fmt.Sprintf(`{"status": %q}`, status)
	}
	return &http.Response{StatusCode: http.StatusOK, Request: req, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// followSDK polls a job with the SDK's own loop. An interval of zero is the default, which grows.
func followSDK(interval time.Duration) func(*outcomes, *testing.T, job, *rand.Rand) {
	return func(o *outcomes, t *testing.T, j job, _ *rand.Rand) {
		began, gets := time.Now(), 0
		conf := sdk.StateChangeConf{
			Delay:        interval,
			PollInterval: interval,
			Pending:      []string{"queued", "running"},
			Target:       []string{"completed"},
			Timeout:      24 * time.Hour,
			Refresh: func() (any, string, error) {
				gets++
				<-time.After(roundTrip / 2)
				status, _ := j.observe(time.Since(began))
				<-time.After(roundTrip / 2)
				return j, status, nil
			},
		}
		if _, err := conf.WaitForStateContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.add(j, time.Since(began)-j.ends(), gets)
	}
}

// inBubble runs f once in virtual time. synctest takes a *testing.T, which a benchmark
// does not have, so this makes one. RunTests would repeat it as -count says.
func inBubble(b *testing.B, f func(t *testing.T)) {
	b.Helper()
	count := flag.Lookup("test.count").Value
	defer func(before string) { _ = count.Set(before) }(count.String())
	_ = count.Set("1")
	all := func(_, _ string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) { synctest.Test(t, f) }}}) {
		b.Fatal("the simulation failed")
	}
}
