// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package transport sends all requests to the service and to its object store, each once.
// It authenticates, paces, and logs them. It does not depend on any endpoint.
package transport

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Config configures a Transport. All fields are required.
type Config struct {
	// BaseURL is the absolute URL that the paths of requests are appended to.
	BaseURL *url.URL
	APIKey  string
	// UserAgent is sent with each request.
	UserAgent string
	// RequestTimeout limits each request, and how long a download may receive no data. Both
	// measure the network, so they are real time even if Clock is not.
	RequestTimeout time.Duration
	Clock          clock.Clock
	// Log writes a log record.
	Log func(ctx context.Context, level slog.Level, message string, fields map[string]any)
	// Network is what [NewNetwork] returns, or its replacement in tests.
	Network http.RoundTripper
}

// Transport sends requests. It is safe for concurrent use; all requests share
// one connection pool and one pacer.
type Transport struct {
	redactor display.Redactor
	config   Config
	pacer    *pacer
	api      *http.Client
	fresh    *http.Client // opens a connection for each request
	storage  *http.Client
}

// New returns a Transport. It sends no request.
func New(config Config) *Transport {
	return &Transport{
		redactor: display.Redactor{Secret: config.APIKey}, config: config, pacer: newPacer(config.Clock),
		api: apiClient(config.Network, true), fresh: apiClient(withoutReuse(config.Network), false), storage: storageClient(config.Network),
	}
}

// Redact makes text safe to show: see [display.Redactor].
func (t *Transport) Redact(text string) string { return t.redactor.Redact(text) }

// Log writes a log record, redacted.
func (t *Transport) Log(ctx context.Context, level slog.Level, message string, fields map[string]any) {
	for name, value := range fields {
		if text, ok := value.(string); ok {
			fields[name] = t.Redact(text)
		}
	}
	t.config.Log(ctx, level, message, fields)
}

// logAttempt adds the duration and the error of an attempt to the fields, and logs them.
func (t *Transport) logAttempt(ctx context.Context, message string, began time.Time, err error, fields map[string]any) {
	level := slog.LevelDebug
	fields["duration_ms"] = time.Since(began).Milliseconds()
	if err != nil {
		level, fields["error"] = slog.LevelWarn, err.Error()
	}
	t.Log(ctx, level, message, fields)
}
