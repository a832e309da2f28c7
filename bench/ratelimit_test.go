package bench

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	distance = 60 * time.Millisecond // to the service and back
	calls    = 200                   // of all workers
)

// limit decides about a request at a time. Status 0 means that it accepts the request.
type limit func(now time.Time) (status int, retryAfter time.Duration)

// load is a limit, and how many workers share it.
type load struct {
	name               string
	processes, workers int
	limit              func(random *rand.Rand) limit
	// ideal is the time without any refusal; zero if the limit has none.
	ideal time.Duration
	// starts are refused for ten minutes while the workers read.
	starts int
}

func loads() []load {
	all := []load{
		{name: "20-processes-at-10-per-s-burst-10", processes: 20, workers: 5, limit: bucket(10, 10), ideal: 19 * time.Second},
		{name: "one-in-ten-429", processes: 1, workers: 10, limit: stray(http.StatusTooManyRequests)},
		{name: "one-in-ten-503", processes: 1, workers: 10, limit: stray(http.StatusServiceUnavailable)},
		{name: "no-limit", processes: 1, workers: 10, limit: bucket(calls, calls)},
		{name: "no-limit-but-two-starts-refused", processes: 1, workers: 10, limit: bucket(calls, calls), starts: 2},
	}
	for _, workers := range []int{10, 50} {
		add := func(name string, limit func(*rand.Rand) limit, ideal float64) {
			all = append(all, load{
				name: fmt.Sprintf("%s-%d-workers", name, workers), processes: 1, workers: workers,
				limit: limit, ideal: time.Duration(ideal * float64(time.Second)),
			})
		}
		for _, rate := range []float64{1, 2, 5, 10, 50} {
			for _, burst := range slices.Compact([]float64{rate, max(1, rate/2), 1}) {
				add(fmt.Sprintf("%g-per-s-burst-%g", rate, burst), bucket(rate, burst), (calls-burst)/rate)
			}
		}
		add("60-per-minute", window(60), 3*60)
	}
	return all
}

// bucket is a token bucket, which is full at first.
func bucket(rate, burst float64) func(*rand.Rand) limit {
	return func(*rand.Rand) limit {
		tokens, last := burst, time.Now()
		return func(now time.Time) (int, time.Duration) {
			tokens, last = min(burst, tokens+rate*now.Sub(last).Seconds()), now
			if tokens < 1 {
				return http.StatusTooManyRequests, time.Duration(math.Ceil((1 - tokens) / rate * float64(time.Second)))
			}
			tokens--
			return 0, 0
		}
	}
}

// window accepts a number of requests in each minute.
func window(perMinute int) func(*rand.Rand) limit {
	return func(*rand.Rand) limit {
		accepted, end := 0, time.Now().Add(time.Minute)
		return func(now time.Time) (int, time.Duration) {
			for !now.Before(end) {
				accepted, end = 0, end.Add(time.Minute)
			}
			if accepted++; accepted > perMinute {
				return http.StatusTooManyRequests, end.Sub(now)
			}
			return 0, 0
		}
	}
}

// stray refuses one request in ten, at any rate.
func stray(status int) func(*rand.Rand) limit {
	return func(random *rand.Rand) limit {
		return func(time.Time) (int, time.Duration) {
			if random.IntN(10) > 0 {
				return 0, 0
			}
			return status, time.Second
		}
	}
}

// getters make the function that all workers of a process read with, and the one that
// starts a job.
var getters = map[string]func(http.RoundTripper) (get, start func(context.Context) error){
	"ours": func(network http.RoundTripper) (get, start func(context.Context) error) {
		c, err := client.New(client.Config{BaseURL: "https://service.invalid/v1", APIKey: "key_0123456789", RoundTripper: network})
		if err != nil {
			panic(err)
		}
		get = func(ctx context.Context) error {
			_, err := c.Begin().GetStaticExportJob(ctx, "job")
			return err
		}
		return get, func(ctx context.Context) error {
			_, err := c.Begin().StartStaticExport(ctx, `{"domain":"docs.example.com"}`)
			return err
		}
	},
	"retryablehttp": func(network http.RoundTripper) (get, start func(context.Context) error) {
		c := retryablehttp.NewClient()
		c.Logger, c.RetryMax, c.HTTPClient.Transport = nil, 30, network
		request := func(method string) func(context.Context) error {
			return func(ctx context.Context) error {
				req, err := retryablehttp.NewRequestWithContext(ctx, method, "https://service.invalid/v1/static-export/jobs/job", nil)
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
		return request(http.MethodGet), request(http.MethodPost)
	},
}

// service is a service with a limit. What it refuses, it asks to come back, after whole
// seconds. It refuses every POST for ten minutes.
type service struct {
	mu      sync.Mutex
	limit   limit
	refused int
}

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	<-time.After(distance / 2)
	status, retryAfter := s.decide(req)
	<-time.After(distance / 2)
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Request: req, Body: io.NopCloser(strings.NewReader(`{"status": "running"}`))}
	if retryAfter > 0 {
		resp.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(retryAfter.Seconds()))))
	}
	return resp, nil
}

func (s *service) decide(req *http.Request) (status int, retryAfter time.Duration) {
	if req.Method == http.MethodPost {
		return http.StatusTooManyRequests, 10 * time.Minute
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	status, retryAfter = s.limit(time.Now())
	if status == 0 {
		return http.StatusOK, 0
	}
	s.refused++
	return status, retryAfter
}

// BenchmarkRateLimit has many workers share a service that refuses requests. A
// worker whose read fails, or takes longer than five minutes, gives up.
func BenchmarkRateLimit(b *testing.B) {
	for _, l := range loads() {
		for _, name := range slices.Sorted(maps.Keys(getters)) {
			b.Run(l.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					var took time.Duration
					var refused, failed int
					for seed := range uint64(seeds) {
						inBubble(b, func(t *testing.T) {
							s := &service{limit: l.limit(rand.New(rand.NewPCG(seed, 0)))}
							elapsed, failures := l.run(t, s, getters[name])
							took += elapsed
							failed += failures
							refused += s.refused
						})
					}
					b.ReportMetric(took.Seconds()/seeds, "time-s")
					b.ReportMetric(float64(refused)/seeds, "refused")
					b.ReportMetric(float64(failed)/seeds, "failed")
					if l.ideal > 0 {
						b.ReportMetric(took.Seconds()/seeds/l.ideal.Seconds(), "x-ideal")
					}
				}
				b.ReportMetric(0, "ns/op") // virtual time is what counts
			})
		}
	}
}

// run lets all workers read at once. It returns how long they took and how many failed.
func (l load) run(t *testing.T, s *service, newGetter func(http.RoundTripper) (get, start func(context.Context) error)) (took time.Duration, failures int) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	var failed atomic.Int64
	var workers sync.WaitGroup
	began := time.Now()
	for range l.processes {
		get, start := newGetter(s)
		for range l.starts {
			go func() { _ = start(ctx) }()
			<-time.After(time.Second) // until it was refused
		}
		for range l.workers {
			workers.Go(func() {
				for range calls / l.processes / l.workers {
					limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
					err := get(limited)
					cancel()
					if err != nil {
						failed.Add(1)
						return
					}
				}
			})
		}
	}
	workers.Wait()
	return time.Since(began), int(failed.Load())
}
