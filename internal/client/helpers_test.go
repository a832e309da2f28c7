// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const (
	second = time.Second
	noTime = -second // of a queue or a run

	testKey = "docs_4f1c9a7e2b8d60"
	// signature is in the query of each link.
	signature = "c4a1d0signature"
)

// simulation is a simulated service and a client for it, in a bubble of testing/synctest.
type simulation struct {
	*Client
	*simulator.Service
	*service
}

// inSimulation runs a test in a simulation whose exchanges must match the contract.
func inSimulation(t *testing.T, test func(t *testing.T, w *simulation)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		w := &simulation{Service: simulator.New(simulator.Options{Observe: contract.New(t).Check})}
		w.Client, w.service = serve(t, w.ServeHTTP, func(config *Config) {
			config.BaseURL, config.APIKey, config.Random = "http://localhost/v1", simulator.DefaultAPIKey, func() float64 { return 0 }
		})
		test(t, w)
	})
}

// polls returns when the service got requests to an endpoint, in seconds.
func (w *simulation) polls(endpoint string) []float64 {
	times := []float64{}
	for _, r := range w.Requests() {
		if r.Endpoint == endpoint {
			times = append(times, r.Time.Sub(w.began).Seconds())
		}
	}
	return times
}

// receiving returns a client that receives one body as the response to every request.
func receiving(t *testing.T, body string, log *logbook) *Client {
	t.Helper()
	return newClient(t, func(config *Config) {
		config.MaxRetries, config.RoundTripper, config.Log = new(0), always(body), log.add
	})
}

type always string

func (body always) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
}

var emptyMember = regexp.MustCompile(`"\w+":(null|""),?|,"\w+":(null|"")`)

// show returns a value as JSON without the fields that are null or empty.
func show(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	shown := emptyMember.ReplaceAllString(strings.TrimSpace(text.String()), "")
	return strings.ReplaceAll(shown, ",}", "}")
}

// logbook collects log records, each as one line.
type logbook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logbook) add(_ context.Context, level slog.Level, message string, fields map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprint(level, " ", message, " ", fields))
}

// above returns the lines above the level of debugging.
func (l *logbook) above() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := []string{}
	for _, line := range l.lines {
		if !strings.HasPrefix(line, slog.LevelDebug.String()) {
			lines = append(lines, line)
		}
	}
	return lines
}
