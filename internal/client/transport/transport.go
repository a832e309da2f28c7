// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package transport sends all requests to the service and to its object store. It
// authenticates, limits, retries, and logs requests, and redacts responses. It does not
// depend on any endpoint.
package transport

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
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
	// BaseURL is the absolute URL that the paths of requests are appended to, without
	// a trailing slash. If it is plain http, connections go to loopback addresses only.
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
	Config

	base     *url.URL
	scrubber scrubber
	limiter  *limiter
	api      *http.Client
	fresh    *http.Client // opens a connection for each request
	storage  *http.Client
}

// New returns a Transport. It sends no request.
func New(config Config) (*Transport, error) {
	if config.RequestTimeout == 0 {
		config.RequestTimeout = defaultRequestTimeout
	}
	if config.MaxRetries == nil {
		config.MaxRetries = new(defaultMaxRetries)
	}
	if config.Clock == nil {
		config.Clock = clock.System{}
	}
	if config.Log == nil {
		config.Log = func(context.Context, slog.Level, string, map[string]any) {}
	}
	if config.Random == nil {
		config.Random = rand.Float64
	}
	base, err := url.Parse(config.BaseURL)
	if err != nil {
		return nil, errors.New("the base URL is not a URL") // err quotes it
	}
	t := &Transport{
		Config:   config,
		base:     base,
		scrubber: newScrubber(config.APIKey),
		limiter:  newLimiter(config.Clock),
	}
	if fake := config.RoundTripper; fake != nil {
		t.api, t.fresh, t.storage = apiClient(fake, true), apiClient(fake, false), storageClient(fake)
		return t, nil
	}
	toStorage, err := newHTTPTransport(config.RootCAs)
	if err != nil {
		return nil, err
	}
	toAPI := toStorage
	if base.Scheme == "http" {
		toAPI = onlyLoopback(toStorage)
	}
	t.api, t.fresh, t.storage = apiClient(toAPI, true), apiClient(withoutReuse(toAPI), false), storageClient(toStorage)
	return t, nil
}

// connectionError returns an error of net/http as a [*ConnectionError]. It redacts the
// text, which has the whole URL and may quote what the server sent. If the context
// has ended, its cause replaces err.
func (t *Transport) connectionError(ctx context.Context, req *http.Request, sent bool, err error) error {
	if urlError, ok := errors.AsType[*url.Error](err); ok {
		err = urlError.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	err = &redactedError{err, Redact(t.scrubber.scrub(err.Error()))}
	return &ConnectionError{Method: req.Method, Path: req.URL.EscapedPath(), Host: Redact(req.URL.Host), Sent: sent, Err: err}
}
