// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package client calls the API of the documentation hosting service: it reads
// updates, runs static exports, and creates links to their bundles. Comments name
// the operations of api/openapi.yaml. The package does not depend on Terraform.
package client

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Client calls the API. It is safe for concurrent use; all calls share one transport. A
// deadline of a call's context must be one of the configured clock.
type Client struct {
	config    Config // complete
	baseURL   *url.URL
	transport *transport.Transport
}

const (
	defaultRequestTimeout = 30 * time.Second
	defaultMaxRetries     = 4
)

// New checks the configuration and returns a client. It sends no request. The error is a
// [BaseURLError], [APIKeyError], or [CertificatesError].
func New(config Config) (*Client, error) {
	baseURL, err := ParseBaseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	if config.APIKey, err = ParseAPIKey(config.APIKey); err != nil {
		return nil, err
	}
	if config.RoundTripper == nil {
		if config.RoundTripper, err = transport.NewNetwork(config.RootCAs); err != nil {
			return nil, CertificatesError(err.Error())
		}
	}
	config.RequestTimeout = cmp.Or(config.RequestTimeout, defaultRequestTimeout)
	config.MaxRetries = cmp.Or(config.MaxRetries, new(defaultMaxRetries))
	config.Clock = cmp.Or[clock.Clock](config.Clock, clock.System{})
	if config.Log == nil {
		config.Log = func(context.Context, slog.Level, string, map[string]any) {}
	}
	if config.Random == nil {
		config.Random = rand.Float64
	}
	return &Client{config, baseURL, transport.New(transport.Config{
		BaseURL: baseURL, APIKey: config.APIKey, UserAgent: config.UserAgent, RequestTimeout: config.RequestTimeout,
		Clock: config.Clock, Log: config.Log, Network: config.RoundTripper,
	})}, nil
}

// BaseURL returns the URL that the paths of the API are appended to.
func (c *Client) BaseURL() string { return c.baseURL.String() }

// Redact makes text safe to show: printable, at most 2 KiB, without the API key, and
// without the user information and the query of any URL.
func (c *Client) Redact(text string) string { return c.transport.Redact(text) }

// attempt sends a request once and converts the response with read, whose error says why
// the response is unusable.
func attempt[T any](ctx context.Context, c *Client, req *transport.Request, read func(*record) (*T, error)) (*T, error) {
	req.Attempt++
	response, err := c.transport.Do(ctx, *req)
	if err != nil {
		return nil, err
	}
	value, err := read(&record{response.Object, response.RetryAfter, func(field string) {
		c.transport.Log(ctx, slog.LevelInfo, "Ignored a field that could not be read", map[string]any{"path": response.Path, "field": field})
	}})
	if err != nil {
		err = c.transport.Unexpected(response, err)
		c.transport.Log(ctx, slog.LevelWarn, "Unusable response", map[string]any{"error": err.Error()})
		return nil, err
	}
	return value, nil
}
