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

// Request is a call of the API.
type Request struct {
	Method string
	// Path holds the unescaped path elements below the base URL.
	Path []string
	// Body is the JSON to send; nil for none.
	Body []byte
	// Once marks a request that is repeated only if the service is known not to have
	// acted on it. If the context ends, Do still waits for the response, which may
	// contain the only copy of an ID.
	Once bool
}

// Do sends a request until it succeeds, fails permanently, or ctx ends. If ctx has a
// deadline, that alone limits the retries after a 429.
//
// The error is an [*APIError], [*UnexpectedResponseError], or [*ConnectionError]. If ctx
// ended, or would end before the next attempt, it is context.Cause(ctx) or a [*BusyError],
// in an [*EndedError] if an attempt had failed.
func (t *Transport) Do(ctx context.Context, call Request) (*Response, error) {
	req, err := t.newRequest(call)
	if err != nil {
		return nil, err
	}
	retries := &retries{config: t.config, once: call.Once}
	for attempt := 1; ; attempt++ {
		if err := t.pacer.take(ctx); err != nil {
			return nil, Ended(err, retries.last)
		}
		response, err := t.attempt(ctx, req, call.Once, attempt)
		if err == nil {
			return response, nil
		}
		if err := retries.wait(ctx, err); err != nil {
			return nil, err
		}
	}
}

// newRequest builds the request that each attempt sends a copy of. It escapes the path
// elements, so that each stays one element regardless of what it contains.
func (t *Transport) newRequest(call Request) (*http.Request, error) {
	u := t.config.BaseURL
	for _, element := range call.Path {
		u = u.JoinPath(escapeElement(element))
	}
	req, err := http.NewRequest(call.Method, u.String(), bytes.NewReader(call.Body)) //nolint:noctx // each attempt's copy has one
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

// attempt sends the request once, reads the response, and logs the outcome.
func (t *Transport) attempt(ctx context.Context, req *http.Request, once bool, number int) (*Response, error) {
	began, fields := time.Now(), map[string]any{"method": req.Method, "path": req.URL.EscapedPath(), "attempt": number}
	response, err := t.send(ctx, req, once, fields)
	t.logAttempt(ctx, "API request", began, err, fields)
	return response, err
}

// send sends the request, limited by the request timeout. It adds to the fields of the log
// record.
func (t *Transport) send(ctx context.Context, req *http.Request, once bool, fields map[string]any) (*Response, error) {
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
	copied := req.Clone(traced)
	copied.Body, _ = req.GetBody() // of a bytes.Reader, which never fails
	resp, err := client.Do(copied)
	if err != nil {
		return nil, t.connectionError(ctx, req, sent.Load(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	t.pacer.record(resp.StatusCode)
	exchange := t.exchange(req, resp)
	fields["status"], fields["request_id"] = exchange.StatusCode, exchange.RequestID
	return t.read(ctx, req, resp, exchange)
}
