// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package client calls the API of the documentation hosting service: it reads
// updates, runs static exports, and generates links to their bundles. Comments name
// the operations of api/openapi.yaml. The package does not depend on Terraform.
package client

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

// Config configures a Client. [ParseBaseURL] and [CheckAPIKey] define which values of
// BaseURL and APIKey are valid.
type Config = transport.Config

// Client calls the API. It is safe for concurrent use; all calls share one
// transport. The context of each call must have a deadline.
type Client struct{ transport *transport.Transport }

// New checks the configuration and returns a client. It sends no request.
func New(config Config) (*Client, error) {
	baseURL, err := ParseBaseURL(config.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base URL: %w", err)
	}
	if err := CheckAPIKey(config.APIKey); err != nil {
		return nil, fmt.Errorf("API key: %w", err)
	}
	config.BaseURL = baseURL.String()
	t, err := transport.New(config)
	if err != nil {
		return nil, err
	}
	return &Client{t}, nil
}

// Transport returns the client's transport, which also downloads bundles.
func (c *Client) Transport() *transport.Transport { return c.transport }

// BaseURL returns the URL that the paths of the API are appended to.
func (c *Client) BaseURL() string { return c.transport.BaseURL }

// Now returns the time of the client's clock.
func (c *Client) Now() time.Time { return c.transport.Clock.Now() }

// call sends a request and decodes the response with convert. The string that convert
// returns says why the response is unusable; it is empty if the response is usable.
func call[T any](ctx context.Context, c *Client, req transport.Request, convert func(*record) (T, string)) (T, error) {
	var none T
	answer, err := c.transport.Do(ctx, req)
	if err != nil {
		return none, err
	}
	r := newRecord(answer)
	value, problem := convert(r)
	if len(*r.unreadable) > 0 {
		slices.Sort(*r.unreadable)
		c.transport.Log(ctx, slog.LevelWarn, "Ignored fields of a response that could not be read", map[string]any{"path": answer.Path, "fields": *r.unreadable})
	}
	if problem != "" {
		return none, answer.Unexpected(problem)
	}
	return value, nil
}
