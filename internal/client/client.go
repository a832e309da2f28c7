// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package client calls the API of the documentation hosting service: it reads
// updates, runs static exports and generates links to their bundles. The
// operations it cites are those of api/openapi.yaml. It knows nothing of
// Terraform.
package client

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	// DefaultRequestTimeout bounds one attempt of one request.
	DefaultRequestTimeout = 30 * time.Second
	// DefaultMaxRetries is how often a request is retried after a failure that may
	// pass by itself.
	DefaultMaxRetries = 4
)

// Config says how a Client reaches the service. BaseURL and APIKey are required;
// everything else has a default.
type Config struct {
	// BaseURL is the URL that the paths of the API begin at, including the version
	// segment. [ParseBaseURL] has its rules.
	BaseURL string
	// APIKey is the bearer token. [CheckAPIKey] has its rules.
	APIKey    string
	UserAgent string
	// RootCAs are PEM certificates to trust in addition to the system's.
	RootCAs []byte
	// RequestTimeout bounds one attempt; DefaultRequestTimeout if zero.
	RequestTimeout time.Duration
	// MaxRetries is DefaultMaxRetries if nil.
	MaxRetries *int
	Clock      clock.Clock
	Log        transport.LogFunc
	// Random returns numbers in [0, 1) for jitter.
	Random func() float64
	// RoundTripper replaces the network in tests.
	RoundTripper http.RoundTripper
}

// Client calls the API. It is safe for concurrent use; all calls share one
// transport. The context of each call must have a deadline.
type Client struct {
	transport *transport.Transport
	clock     clock.Clock
	log       transport.LogFunc
	random    func() float64
}

// New checks the configuration and returns a client. It makes no request.
func New(config Config) (*Client, error) {
	baseURL, err := ParseBaseURL(config.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if err := CheckAPIKey(config.APIKey); err != nil {
		return nil, fmt.Errorf("API key: %w", err)
	}
	if config.Clock == nil {
		config.Clock = clock.System{}
	}
	if config.Log == nil {
		config.Log = func(context.Context, slog.Level, string, map[string]any) {}
	}
	if config.RequestTimeout == 0 {
		config.RequestTimeout = DefaultRequestTimeout
	}
	if config.Random == nil {
		config.Random = rand.Float64
	}
	retries := DefaultMaxRetries
	if config.MaxRetries != nil {
		retries = *config.MaxRetries
	}
	t, err := transport.New(transport.Config{
		BaseURL:        baseURL,
		APIKey:         config.APIKey,
		UserAgent:      config.UserAgent,
		RootCAs:        config.RootCAs,
		RequestTimeout: config.RequestTimeout,
		MaxRetries:     retries,
		Clock:          config.Clock,
		Log:            config.Log,
		Random:         config.Random,
		RoundTripper:   config.RoundTripper,
	})
	if err != nil {
		return nil, err
	}
	return &Client{transport: t, clock: config.Clock, log: config.Log, random: config.Random}, nil
}

// Transport returns the client's way to the object store, for downloads.
func (c *Client) Transport() *transport.Transport { return c.transport }

// BaseURL returns the URL that the paths of the API begin at.
func (c *Client) BaseURL() string { return c.transport.BaseURL.String() }

// Now returns the time of the client's clock.
func (c *Client) Now() time.Time { return c.clock.Now() }

// call sends a request and reads its answer with read, which returns what is
// wrong with the answer, or nothing.
func call[T any](ctx context.Context, c *Client, req transport.Request, read func(*record) (T, string)) (T, error) {
	var none T
	answer, err := c.transport.Do(ctx, req)
	if err != nil {
		return none, err
	}
	r := newRecord(answer)
	value, problem := read(r)
	if len(*r.unreadable) > 0 {
		slices.Sort(*r.unreadable)
		c.log(ctx, slog.LevelWarn, "Ignored fields of an answer that could not be read", map[string]any{"path": answer.Path, "fields": *r.unreadable})
	}
	if problem != "" {
		return none, answer.Unexpected(problem)
	}
	return value, nil
}
