// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package transport sends all requests to the service and to its object store. It
// authenticates, limits, retries, and logs requests, and redacts what it shows of
// responses. It does not depend on any endpoint.
package transport

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// LogFunc writes one log record. No message or field contains the API key or the query
// of a URL.
type LogFunc func(ctx context.Context, level slog.Level, message string, fields map[string]any)

const (
	defaultRequestTimeout = 30 * time.Second
	defaultMaxRetries     = 4
)

// Config configures a Transport. BaseURL and APIKey are required; everything else has a
// default.
type Config struct {
	// BaseURL is the absolute URL that the paths of requests are appended to.
	BaseURL string
	APIKey  string
	// UserAgent is sent with each request.
	UserAgent string
	// RootCAs are PEM certificates to trust in addition to the system's.
	RootCAs []byte
	// RequestTimeout limits each attempt of a request, and how long a download may
	// receive no data; 30 s if zero.
	RequestTimeout time.Duration
	// MaxRetries limits the retries of a request; 4 if nil. Retries after a 429 do not
	// count: only the deadline of the context limits them.
	MaxRetries *int
	Clock      clock.Clock
	Log        LogFunc
	// Random returns numbers in [0, 1) for jitter.
	Random func() float64
	// RoundTripper replaces the network in tests.
	RoundTripper http.RoundTripper
}

// Transport sends requests. It is safe for concurrent use; all requests share
// one connection pool and one limiter.
type Transport struct {
	baseURL *url.URL
	config  Config
	limiter *limiter
	api     *http.Client
	fresh   *http.Client // opens a connection for each request
	storage *http.Client
}

// New returns a Transport for the parsed base URL. The Clock and Random of the
// configuration must be set. It sends no request.
func New(baseURL *url.URL, config Config) (*Transport, error) {
	if config.RequestTimeout == 0 {
		config.RequestTimeout = defaultRequestTimeout
	}
	if config.MaxRetries == nil {
		config.MaxRetries = new(defaultMaxRetries)
	}
	if config.Log == nil {
		config.Log = func(context.Context, slog.Level, string, map[string]any) {}
	}
	network := config.RoundTripper
	if network == nil {
		var err error
		if network, err = newHTTPTransport(config.RootCAs); err != nil {
			return nil, err
		}
	}
	return &Transport{
		baseURL: baseURL, config: config, limiter: newLimiter(config.Clock),
		api: apiClient(network, true), fresh: apiClient(withoutReuse(network), false), storage: storageClient(network),
	}, nil
}
