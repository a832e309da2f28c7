// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// Request is an attempt of a call of the API.
type Request struct {
	Method string
	// Path holds the unescaped path elements below the base URL.
	Path []string
	// Body is the JSON to send; nil for none.
	Body []byte
	// Once marks a request that must not be sent twice. If the context ends while it is in
	// flight, Do still waits for the response, which may contain the only copy of an ID.
	Once    bool
	Attempt int // its number, for the log
}

// Do waits for its turn and sends a request once.
//
// The error is an [*APIError], [*UnexpectedResponseError], or [*ConnectionError]. If ctx
// ended, or would end before the turn, it is context.Cause(ctx) or a [*retry.BusyError].
func (t *Transport) Do(ctx context.Context, call Request) (*Response, error) {
	req, err := t.newRequest(call)
	if err != nil {
		return nil, err
	}
	if err := t.pacer.take(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	response, exchange, err := t.send(ctx, req, call.Once)
	t.logAttempt(ctx, "API request", began, err, map[string]any{
		"method": req.Method, "path": req.URL.EscapedPath(), "attempt": call.Attempt,
		"status": exchange.StatusCode, "request_id": exchange.RequestID,
	})
	return response, err
}

// newRequest builds a request. It escapes the path elements, so that each stays one element
// regardless of what it contains.
func (t *Transport) newRequest(call Request) (*http.Request, error) {
	u := t.config.BaseURL
	for _, element := range call.Path {
		u = u.JoinPath(escapeElement(element))
	}
	req, err := http.NewRequest(call.Method, u.String(), bytes.NewReader(call.Body)) //nolint:noctx // send adds it
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+t.config.APIKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", t.config.UserAgent)
	if call.Body != nil {
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
func (t *Transport) send(ctx context.Context, req *http.Request, once bool) (*Response, Exchange, error) {
	client := t.api
	if once {
		ctx, client = context.WithoutCancel(ctx), t.fresh
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.config.RequestTimeout, silence("no complete response within the request timeout"))
	defer cancel()
	// Nothing is sent without a connection. net/http may get it in another goroutine, even
	// after it has given up on the request.
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	resp, err := client.Do(req.WithContext(traced))
	if err != nil {
		return nil, Exchange{}, t.connectionError(ctx, req, sent.Load(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	t.pacer.record(resp.StatusCode)
	exchange := t.exchange(req, resp)
	response, err := t.read(ctx, req, resp, exchange)
	return response, exchange, err
}
