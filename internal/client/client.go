// Package client calls the API of the documentation hosting service: it reads updates, runs static exports, and
// creates links to their bundles. Comments name the operations of api/openapi.yaml.
package client

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Client calls the API. It is safe for concurrent use; all calls share one connection pool and one pacer. Contexts
// must take their deadlines from the configured clock.
type Client struct {
	config   Config // complete; its RoundTripper keeps connections
	baseURL  *url.URL
	redactor display.Redactor
	pacer    *pacer
	fresh    http.RoundTripper // opens a connection for each request
	maxBody  int64             // bytes read of a successful response, after decompression; tests lower it
}

const defaultRequestTimeout = 30 * time.Second

// New checks the configuration and returns a client. It sends no request.
func New(config Config) (*Client, error) {
	baseURL, err := ParseBaseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	if config.APIKey, err = ParseAPIKey(config.APIKey); err != nil {
		return nil, err
	}
	if config.RoundTripper == nil {
		if config.RoundTripper, err = newTransport(config.RootCAs); err != nil {
			return nil, err
		}
	}
	config.RequestTimeout = cmp.Or(config.RequestTimeout, defaultRequestTimeout)
	config.Clock = cmp.Or[clock.Clock](config.Clock, clock.System{})
	if config.Log == nil {
		config.Log = func(context.Context, slog.Level, string, map[string]any) {}
	}
	if config.Random == nil {
		config.Random = rand.Float64
	}
	return &Client{
		config:   config,
		baseURL:  baseURL,
		redactor: display.Redactor{config.APIKey, url.QueryEscape(config.APIKey)},
		pacer:    newPacer(config.Clock),
		fresh:    withoutIdle(config.RoundTripper),
		maxBody:  32 << 20,
	}, nil
}

// transport returns what sends a request: over a connection of its own, or over an idle one if there is any.
func (c *Client) transport(fresh bool) http.RoundTripper {
	if fresh {
		return c.fresh
	}
	return c.config.RoundTripper
}

// Redact makes text safe to show: see [display.Redactor.Redact].
func (c *Client) Redact(text string) string { return c.redactor.Redact(text) }

// RedactLines does so with the lines of a log. It keeps their indentation, and marks the beginning of each.
func (c *Client) RedactLines(lines []string) (shown []string) {
	for _, line := range lines {
		text := strings.TrimLeft(line, " \t")
		shown = append(shown, display.LineMark+line[:len(line)-len(text)]+c.Redact(text))
	}
	return shown
}

// log writes a log record, redacted.
func (c *Client) log(ctx context.Context, level slog.Level, message string, fields map[string]any) {
	for name, value := range fields {
		if text, ok := value.(string); ok {
			fields[name] = c.Redact(text)
		}
	}
	c.config.Log(ctx, level, message, fields)
}
