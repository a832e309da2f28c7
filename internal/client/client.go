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
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Client calls the API. It is safe for concurrent use; all calls share one transport. A
// deadline of a call's context must be one of the configured clock.
type Client struct {
	config    transport.Config
	transport *transport.Transport
}

const (
	defaultRequestTimeout = 30 * time.Second
	defaultMaxRetries     = 4
)

// New checks the configuration and returns a client. It sends no request. The error is
// a [*ConfigError].
func New(config Config) (*Client, error) {
	baseURL, err := ParseBaseURL(config.BaseURL)
	if err != nil {
		return nil, &ConfigError{"base_url", err}
	}
	apiKey, err := ParseAPIKey(config.APIKey)
	if err != nil {
		return nil, &ConfigError{"api_key", err}
	}
	network := config.RoundTripper
	if network == nil {
		if network, err = transport.NewNetwork(config.RootCAs); err != nil {
			return nil, &ConfigError{"ca_cert_pem", err}
		}
	}
	complete := transport.Config{
		BaseURL: baseURL, APIKey: apiKey, UserAgent: config.UserAgent, Network: network, Log: config.Log, Random: config.Random,
		RequestTimeout: cmp.Or(config.RequestTimeout, defaultRequestTimeout),
		MaxRetries:     *cmp.Or(config.MaxRetries, new(defaultMaxRetries)),
		Clock:          cmp.Or[clock.Clock](config.Clock, clock.System{}),
	}
	if complete.Log == nil {
		complete.Log = func(context.Context, slog.Level, string, map[string]any) {}
	}
	if complete.Random == nil {
		complete.Random = rand.Float64
	}
	return &Client{complete, transport.New(complete)}, nil
}

// BaseURL returns the URL that the paths of the API are appended to.
func (c *Client) BaseURL() string { return c.config.BaseURL.String() }

// Redact makes text safe to show: printable, at most 2 KiB, without the API key, and
// without the user information and the query of any URL.
func (c *Client) Redact(text string) string { return c.transport.Redact(text) }

// call sends a request and decodes the response with convert, whose error says why the
// response is unusable.
func call[T any](ctx context.Context, c *Client, req transport.Request, convert func(*record) (T, error)) (T, error) {
	var none T
	response, err := c.transport.Do(ctx, req)
	if err != nil {
		return none, err
	}
	value, err := convert(&record{response.Object, response.RetryAfter, func(field string) {
		c.transport.Log(ctx, slog.LevelInfo, "Ignored a field that could not be read", map[string]any{"path": response.Path, "field": field})
	}})
	if err != nil {
		return none, c.transport.Unexpected(response, err)
	}
	return value, nil
}
