// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// Request is a call of the API.
type Request struct {
	Method string
	// Path holds the unescaped path elements below the base URL.
	Path []string
	// Body is the JSON to send; nil for none.
	Body []byte
	// Once marks a request that is repeated only if the service certainly did not act
	// on it. If the context ends, Do still waits for the response, which may contain
	// the only copy of an ID.
	Once bool
}

// Do sends a request until it succeeds, fails permanently, or the context ends. The
// context must have a deadline, which limits the retries after a 429.
//
// The error is an [*APIError], [*UnexpectedAnswerError], [*ConnectionError] or
// [*BusyError], or the cause of the context's end, which may wrap the error of the
// last attempt.
func (t *Transport) Do(ctx context.Context, call Request) (*Answer, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		return nil, errors.New("the context of a request must have a deadline")
	}
	req, err := t.newRequest(call)
	if err != nil {
		return nil, err
	}
	var last error
	failures := 0
	for attempt := 1; ; attempt++ {
		// 1. The limiter admits the request.
		admitted, err := t.limiter.acquire(ctx)
		if err != nil {
			return nil, after(err, last)
		}
		// 2. attempt sends the request once, and reads and redacts the response.
		began := t.Clock.Now()
		answer, err := t.attempt(ctx, req, call.Once)
		// 3. The limiter adapts to the outcome.
		t.limiter.release(admitted, err)
		t.logAttempt(ctx, req, attempt, t.Clock.Now().Sub(began), answer, err)
		// 4. The retry policy decides.
		if err == nil {
			return answer, nil
		}
		last = err
		if status, _ := answerOf(err); status == http.StatusTooManyRequests {
			continue // the limiter waits as long as the service asked for
		}
		if call.Once && !neverActed(err) {
			return nil, err
		}
		if err := t.Retry(ctx, failures, err); err != nil {
			return nil, err
		}
		failures++
	}
}

// newRequest builds the request that each attempt sends a copy of. It escapes the path
// elements, so that each stays one element regardless of what it contains.
func (t *Transport) newRequest(call Request) (*http.Request, error) {
	u := *t.base
	escaped := u.EscapedPath()
	for _, element := range call.Path {
		u.Path += "/" + element
		escaped += "/" + escapeElement(element)
	}
	u.RawPath = escaped
	req, err := http.NewRequest(call.Method, u.String(), bytes.NewReader(call.Body)) //nolint:noctx // each attempt's copy has one
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+t.APIKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", t.UserAgent)
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

// attempt sends the request once, limited by the request timeout.
func (t *Transport) attempt(ctx context.Context, req *http.Request, once bool) (*Answer, error) {
	client := t.api
	if once {
		ctx, client = context.WithoutCancel(ctx), t.fresh
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.RequestTimeout, fmt.Errorf("no response within the request timeout (%s)", t.RequestTimeout))
	defer cancel()
	// Only a request that asked for a connection and got none was certainly not sent.
	// net/http may ask more than once.
	sent := true
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { sent = false },
		GotConn: func(httptrace.GotConnInfo) { sent = true },
	})
	copied := req.Clone(traced)
	copied.Body, _ = req.GetBody() // of a bytes.Reader, which never fails
	resp, err := client.Do(copied)
	if err != nil {
		return nil, t.connectionError(ctx, req, sent, err)
	}
	defer func() { _ = resp.Body.Close() }()
	return t.read(ctx, req, resp)
}

func (t *Transport) logAttempt(ctx context.Context, req *http.Request, attempt int, took time.Duration, answer *Answer, err error) {
	fields := map[string]any{
		"method":      req.Method,
		"path":        req.URL.EscapedPath(),
		"attempt":     attempt,
		"duration_ms": took.Milliseconds(),
	}
	if answer != nil {
		fields["status"], fields["request_id"] = answer.StatusCode, answer.RequestID
	}
	if err != nil {
		fields["error"] = err.Error()
	}
	if api, ok := errors.AsType[*APIError](err); ok {
		fields["status"], fields["request_id"] = api.StatusCode, api.RequestID
	}
	t.Log(ctx, slog.LevelDebug, "API request", fields)
}
