// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// request is a request of the API.
type request struct {
	method string
	// path holds the unescaped path elements below the base URL.
	path []string
	// body is the JSON to send; nil for none.
	body []byte
	// once marks a request that must not be sent twice. If the context ends while it is in
	// flight, do still waits for the response, which may contain the only copy of an ID.
	once     bool
	attempts int // made so far, for the log
}

// attempt sends a request once and converts the response with read, whose error says why
// the response is unusable.
func attempt[T any](ctx context.Context, c *Client, req *request, read func(*record) (*T, error)) (*T, error) {
	req.attempts++
	response, err := c.do(ctx, *req)
	if err != nil {
		return nil, err
	}
	value, err := read(&record{response.object, response.RetryAfter, func(field string) {
		c.log(ctx, slog.LevelInfo, "Ignored a field that could not be read", map[string]any{"path": response.Path, "field": field})
	}})
	if err != nil {
		err = c.unexpected(response, err)
		c.log(ctx, slog.LevelWarn, "Unusable response", map[string]any{"error": err.Error()})
		return nil, err
	}
	return value, nil
}

// do waits for the turn of a request and sends it once.
//
// The error is an [*APIError], [*UnexpectedResponseError], or [*ConnectionError], or
// context.Cause(ctx) if ctx ended.
func (c *Client) do(ctx context.Context, r request) (*response, error) {
	req, err := c.newRequest(r)
	if err != nil {
		return nil, err
	}
	if err := c.pacer.take(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	response, exchange, err := c.send(ctx, req, r.once)
	c.logAttempt(ctx, "API request", began, err, map[string]any{
		"method": req.Method, "path": req.URL.EscapedPath(), "attempt": r.attempts,
		"status": exchange.StatusCode, "request_id": exchange.RequestID,
	})
	return response, err
}

// logAttempt adds the duration and the error of an attempt to the fields, and logs them.
func (c *Client) logAttempt(ctx context.Context, message string, began time.Time, err error, fields map[string]any) {
	level := slog.LevelDebug
	fields["duration_ms"] = time.Since(began).Milliseconds()
	if err != nil {
		level, fields["error"] = slog.LevelWarn, err.Error()
	}
	c.log(ctx, level, message, fields)
}

// newRequest builds a request. It escapes the path elements, so that each stays one element
// regardless of what it contains.
func (c *Client) newRequest(r request) (*http.Request, error) {
	u := c.baseURL
	for _, element := range r.path {
		u = u.JoinPath(escapeElement(element))
	}
	req, err := http.NewRequest(r.method, u.String(), bytes.NewReader(r.body)) //nolint:noctx // send adds it
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.config.APIKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.config.UserAgent)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// escapeElement escapes a path element. Unlike url.PathEscape, it also escapes "." and
// "..", which a server or proxy would resolve (RFC 3986, section 5.2.4).
func escapeElement(element string) string {
	switch element {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return url.PathEscape(element)
}

// send sends a request, limited by the request timeout. It returns the exchange even with
// an error, or the zero value if there was no response.
func (c *Client) send(ctx context.Context, req *http.Request, once bool) (*response, Exchange, error) {
	network := c.api
	if once {
		ctx, network = context.WithoutCancel(ctx), c.fresh
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.RequestTimeout, silence("no complete response within the request timeout"))
	defer cancel()
	// Nothing is sent without a connection. net/http may get it in another goroutine, even
	// after it has given up on the request.
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	resp, err := network.Do(req.WithContext(traced)) //nolint:gosec // the user configures the host
	if err != nil {
		return nil, Exchange{}, c.connectionError(ctx, req, sent.Load(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	c.pacer.count(resp.StatusCode)
	exchange := c.exchange(req, resp)
	response, err := c.decodeResponse(ctx, req, resp, exchange)
	return response, exchange, err
}
