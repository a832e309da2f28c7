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

const (
	workers        = 50
	getsPerWorker  = 4
	shortestAnswer = 80 * time.Millisecond
	longestAnswer  = 160 * time.Millisecond
)

// getter makes the function with which all workers read, over a transport.
type getter func(transport http.RoundTripper, random *rand.Rand) (get func(ctx context.Context) error, err error)

var clients = []struct {
	name string
	make getter
}{
	{"ours", ourClient},
	{"retryablehttp", retryable(retryablehttp.NewClient().RetryMax)},
	{"retryablehttp-30", retryable(30)},
}

func ourClient(transport http.RoundTripper, random *rand.Rand) (func(context.Context) error, error) {
	var mu sync.Mutex
	c, err := client.New(client.Config{
		BaseURL:    "https://service.invalid/v1",
		APIKey:     "key_0123456789",
		HTTPClient: &http.Client{Transport: transport},
		Random: func() float64 {
			mu.Lock()
			defer mu.Unlock()
			return random.Float64()
		},
	})
	return func(ctx context.Context) error {
		ctx, cancel := c.WithTimeout(ctx, time.Hour)
		defer cancel()
		_, err := c.GetStaticExportJob(ctx, "job")
		return err
	}, err
}

func retryable(most int) getter {
	return func(transport http.RoundTripper, _ *rand.Rand) (func(context.Context) error, error) {
		c := retryablehttp.NewClient()
		c.Logger = nil
		c.RetryMax = most
		c.HTTPClient.Transport = transport
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
		}, nil
	}
}

// limitedService serves so many requests per second, and as many at once, from
// a token bucket. What it refuses it tells when to come back, in whole seconds.
type limitedService struct {
	mu      sync.Mutex
	random  *rand.Rand
	rate    float64
	tokens  float64
	last    time.Time
	refused int
}

func (s *limitedService) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	answers := shortestAnswer + time.Duration(s.random.Float64()*float64(longestAnswer-shortestAnswer))
	s.mu.Unlock()
	<-time.After(answers / 2)
	retryAfter := s.take()
	<-time.After(answers / 2)

	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: req}
	body := `{"jobId": "job", "status": "running"}`
	if retryAfter > 0 {
		resp.StatusCode = http.StatusTooManyRequests
		resp.Header.Set("Retry-After", strconv.Itoa(retryAfter))
		body = `{"error": "too many requests"}`
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp, nil
}

// take returns 0, or the seconds to wait.
func (s *limitedService) take() (retryAfter int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.tokens = min(s.rate, s.tokens+s.rate*now.Sub(s.last).Seconds())
	s.last = now
	if s.tokens < 1 {
		s.refused++
		return int(math.Ceil((1 - s.tokens) / s.rate))
	}
	s.tokens--
	return 0
}

// crowding is what came of all workers together.
type crowding struct {
	took            time.Duration
	refused, failed int
}

// crowd lets all workers read at once; one whose read fails gives up.
func crowd(t *testing.T, make getter, rate float64, seed uint64) crowding {
	t.Helper()
	service := &limitedService{random: rand.New(rand.NewPCG(seed, 0)), rate: rate, tokens: rate, last: time.Now()}
	get, err := make(service, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	failed := 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range getsPerWorker {
				if get(t.Context()) != nil {
					mu.Lock()
					failed++
					mu.Unlock()
					return
				}
			}
		})
	}
	all.Wait()
	return crowding{time.Since(began), service.refused, failed}
}

// ideal is how long the workers take if nobody ever comes too early.
func ideal(rate float64) time.Duration {
	answer := (shortestAnswer + longestAnswer) / 2
	return answer + time.Duration((workers*getsPerWorker-rate)/rate*float64(time.Second))
}

// BenchmarkRateLimit has many workers share a service that limits them.
func BenchmarkRateLimit(b *testing.B) {
	for _, rate := range []float64{2, 5, 10, 50} {
		for _, c := range clients {
			b.Run(fmt.Sprintf("%g-per-s/%s", rate, c.name), func(b *testing.B) {
				for b.Loop() {
					var sum crowding
					for seed := range uint64(seeds) {
						inBubble(b, func(t *testing.T) {
							one := crowd(t, c.make, rate, seed)
							sum.took += one.took
							sum.refused += one.refused
							sum.failed += one.failed
						})
					}
					b.ReportMetric(sum.took.Seconds()/seeds, "time-s")
					b.ReportMetric(sum.took.Seconds()/seeds/ideal(rate).Seconds(), "x-ideal")
					b.ReportMetric(float64(sum.refused)/seeds, "429s")
					b.ReportMetric(float64(sum.failed)/seeds, "failed")
				}
				b.ReportMetric(0, "ns/op") // virtual time is what counts
			})
		}
	}
}
