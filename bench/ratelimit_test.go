// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// load is how many requests come at once, and from how many processes.
type load struct {
	name                        string
	processes, workers, perWork int
	// rate is the limit of the service in requests per second; zero for none. burst is
	// how many more it accepts at once.
	rate, burst float64
	roundTrip   time.Duration
	// refuse is a status that one response in ten has, with Retry-After: 1.
	refuse int
}

func loads() []load {
	const far = 60 * time.Millisecond
	all := []load{
		{name: "20-processes-at-10-per-s", processes: 20, workers: 5, perWork: 3, rate: 10, burst: 10, roundTrip: far},
		{name: "one-in-ten-429", processes: 1, workers: 10, perWork: 12, roundTrip: far, refuse: http.StatusTooManyRequests},
		{name: "one-in-ten-503", processes: 1, workers: 10, perWork: 12, roundTrip: far, refuse: http.StatusServiceUnavailable},
	}
	for _, rate := range []float64{10, 50} {
		for _, burst := range []float64{rate, rate / 2} {
			for _, roundTrip := range []time.Duration{0, far} {
				name := fmt.Sprintf("50x4-at-%g-per-s-burst-%g-in-%s", rate, burst, roundTrip)
				all = append(all, load{name: name, processes: 1, workers: 50, perWork: 4, rate: rate, burst: burst, roundTrip: roundTrip})
			}
		}
	}
	return all
}

// ideal is the time without any refusal, if the service has a rate.
func (l load) ideal() time.Duration {
	requests := float64(l.processes * l.workers * l.perWork)
	return time.Duration((requests - l.burst) / l.rate * float64(time.Second))
}

// getters make the function that all workers of a process read with.
var getters = map[string]func(http.RoundTripper) func(context.Context) error{
	"ours": func(network http.RoundTripper) func(context.Context) error {
		c, err := client.New(client.Config{BaseURL: "https://service.invalid/v1", APIKey: "key_0123456789", RoundTripper: network})
		if err != nil {
			panic(err)
		}
		return func(ctx context.Context) error {
			_, err := c.GetStaticExportJob(ctx, "job")
			return err
		}
	},
	"retryablehttp":    retryable(retryablehttp.NewClient().RetryMax),
	"retryablehttp-30": retryable(30),
}

func retryable(retries int) func(http.RoundTripper) func(context.Context) error {
	return func(network http.RoundTripper) func(context.Context) error {
		c := retryablehttp.NewClient()
		c.Logger, c.RetryMax, c.HTTPClient.Transport = nil, retries, network
		return func(ctx context.Context) error {
			req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, "https://service.invalid/v1/static-export/jobs/job", nil)
			if err != nil {
				return err
			}
			resp, err := c.Do(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}
	}
}

// limited is a service with a token bucket. What it refuses it tells when to come back,
// in whole seconds.
type limited struct {
	load
	mu      sync.Mutex
	random  *rand.Rand
	tokens  float64
	last    time.Time
	refused int
}

func (s *limited) RoundTrip(req *http.Request) (*http.Response, error) {
	<-time.After(s.roundTrip / 2)
	status, retryAfter := s.take()
	<-time.After(s.roundTrip / 2)
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Request: req, Body: io.NopCloser(strings.NewReader(`{"status": "running"}`))}
	if retryAfter > 0 {
		resp.Header.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	return resp, nil
}

func (s *limited) take() (status, retryAfter int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != 0 {
		if s.random.IntN(10) > 0 {
			return http.StatusOK, 0
		}
		s.refused++
		return s.refuse, 1
	}
	now := time.Now()
	s.tokens = min(s.burst, s.tokens+s.rate*now.Sub(s.last).Seconds())
	s.last = now
	if s.tokens < 1 {
		s.refused++
		return http.StatusTooManyRequests, int(math.Ceil((1 - s.tokens) / s.rate))
	}
	s.tokens--
	return http.StatusOK, 0
}

// BenchmarkRateLimit has many workers share a service that refuses requests. A
// worker whose read fails gives up.
func BenchmarkRateLimit(b *testing.B) {
	for _, l := range loads() {
		for _, name := range []string{"ours", "retryablehttp", "retryablehttp-30"} {
			b.Run(l.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					var took time.Duration
					var refused, failed int
					for seed := range uint64(seeds) {
						inBubble(b, func(t *testing.T) {
							s := &limited{load: l, random: rand.New(rand.NewPCG(seed, 0)), tokens: l.burst, last: time.Now()}
							began := time.Now()
							failed += crowd(t, s, getters[name])
							took += time.Since(began)
							refused += s.refused
						})
					}
					b.ReportMetric(took.Seconds()/seeds, "time-s")
					b.ReportMetric(float64(refused)/seeds, "refused")
					b.ReportMetric(float64(failed)/seeds, "failed")
					if l.rate > 0 {
						b.ReportMetric(took.Seconds()/seeds/l.ideal().Seconds(), "x-ideal")
					}
				}
				b.ReportMetric(0, "ns/op") // virtual time is what counts
			})
		}
	}
}

// crowd lets all workers read at once and returns how many failed.
func crowd(t *testing.T, s *limited, newGetter func(http.RoundTripper) func(context.Context) error) (failed int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range s.processes {
		get := newGetter(s)
		for range s.workers {
			all.Go(func() {
				for range s.perWork {
					if get(ctx) != nil {
						mu.Lock()
						failed++
						mu.Unlock()
						return
					}
				}
			})
		}
	}
	all.Wait()
	return failed
}
