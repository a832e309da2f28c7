// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// maxBody is the most that is read of an answer, after decompression.
const maxBody = 8 << 20

// exchange is one attempt and what came of it.
type exchange struct {
	status    int
	header    http.Header
	body      []byte
	requestID string
	// err is nil exactly if the status is a success and the body came whole.
	err error
}

// do sends a call until it succeeds, fails for good, or the deadline of ctx
// makes another attempt pointless. The order of things is: the gate admits the
// request, one attempt is made, the gate learns from its answer, decode reads
// the body, and the retry policy decides what a failure means.
//
// decode gets the body of a success and returns a problem to show if it is of
// no use. For a call that must not be repeated it also gets what came of a body
// that was cut, so that no id is lost.
func (c *Client) do(ctx context.Context, call call, decode func(body []byte, retryAfter time.Duration) error) error {
	deadline := deadlineOf(ctx)
	bounded := !deadline.IsZero()
	var last error
	failures := 0
	for attempt := 1; ; attempt++ {
		if err := c.gate.enter(ctx, deadline); err != nil {
			return because(err, last)
		}
		began := c.clock.Now()
		x := c.attempt(ctx, call)
		c.gate.leave(outcomeOf(x.err))
		if x.status/100 == 2 && (x.err == nil || call.once) {
			x.err = c.decode(call, x, decode)
		}
		c.logAttempt(ctx, call, attempt, x, c.clock.Now().Sub(began))
		if last = x.err; last == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ended(ctx, last)
		}
		if heldByGate(last, bounded) {
			continue
		}
		wait, again := c.retry(call, last, failures)
		if !again {
			return last
		}
		if at := c.clock.Now().Add(wait); bounded && at.After(deadline) {
			return tooLate(at, last)
		}
		if err := c.clock.Sleep(ctx, wait); err != nil {
			return ended(ctx, last)
		}
		failures++
	}
}

// tooLate is the error of a call whose next attempt would come after its
// deadline, at the given time.
func tooLate(at time.Time, last error) error {
	var apiError *APIError
	if errors.As(last, &apiError) && apiError.RetryAfter > 0 {
		return because(&BusyError{RetryAt: at}, last)
	}
	return fmt.Errorf("%w: the next attempt would come after the timeout", last)
}

// ended says why ctx is over, and what the last attempt brought.
func ended(ctx context.Context, last error) error {
	return because(context.Cause(ctx), last)
}

// because joins why a call is over with what its last attempt brought, where
// that tells more.
func because(cause, last error) error {
	if last == nil || errors.Is(last, cause) {
		return cause
	}
	return fmt.Errorf("%w; the last attempt: %w", cause, last)
}

// attempt makes one request. Its context ends after the request timeout; for
// a call that must not be repeated it does not end with ctx, because an answer
// that is not waited for would lose the id of what it started.
func (c *Client) attempt(ctx context.Context, call call) exchange {
	parent, client := ctx, c.api
	if call.once {
		parent, client = context.WithoutCancel(ctx), c.once
	}
	attemptCtx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	defer c.clock.AfterFunc(c.requestTimeout, func() { cancel(errNoAnswer) })()

	// Only a transport that looked for a connection and got none has certainly not
	// sent. It repeats by itself a request of which nothing was written, so it may
	// look more than once.
	sent := true
	attemptCtx = httptrace.WithClientTrace(attemptCtx, &httptrace.ClientTrace{
		GetConn: func(string) { sent = false },
		GotConn: func(httptrace.GotConnInfo) { sent = true },
	})
	req, err := http.NewRequestWithContext(attemptCtx, call.method, c.url(call.path).String(), bytes.NewReader(call.body))
	if err != nil {
		return exchange{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+c.apiKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	if call.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	resp, err := client.Do(req)
	if err != nil {
		return exchange{err: c.connectionError(attemptCtx, req, sent, err)}
	}
	defer func() { _ = resp.Body.Close() }()
	c.skew.learn(resp.Header, c.clock.Now())
	x := exchange{status: resp.StatusCode, header: resp.Header, requestID: c.requestID(resp.Header)}
	x.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	tooLarge := len(x.body) > maxBody
	x.body = c.scrub(x.body)
	switch {
	case resp.StatusCode/100 != 2:
		x.err = c.apiError(req, resp, x)
	case tooLarge:
		x.err = c.unexpected(call, x, fmt.Sprintf("the body is larger than %d MiB", maxBody>>20))
	case err != nil:
		x.err = c.connectionError(attemptCtx, req, true, fmt.Errorf("the answer was cut off after %d bytes: %w", len(x.body), err))
	}
	return x
}

// decode reads the body of a success. Where only part of it came, the error of
// the attempt stays unless that part is enough.
func (c *Client) decode(call call, x exchange, decode func([]byte, time.Duration) error) error {
	problem := decode(x.body, retryAfter(x.header, c.clock.Now()))
	if problem == nil || x.err != nil {
		if problem == nil {
			return nil
		}
		return x.err
	}
	return c.unexpected(call, x, problem.Error())
}

// scrub takes the key out of what the service said, so that no echo of it gets
// any further.
func (c *Client) scrub(body []byte) []byte {
	if len(c.apiKey) < minScrubbedKey {
		return body
	}
	return bytes.ReplaceAll(body, []byte(c.apiKey), []byte(redacted))
}

func (c *Client) apiError(req *http.Request, resp *http.Response, x exchange) error {
	e := &APIError{
		Method:     req.Method,
		Path:       req.URL.EscapedPath(),
		StatusCode: x.status,
		Message:    c.Redact(errorMessage(x.body)),
		Page:       isPage(x.body),
		RequestID:  x.requestID,
		RetryAfter: retryAfter(x.header, c.clock.Now()),
	}
	if location := resp.Header.Get("Location"); x.status/100 == 3 && location != "" {
		if target, err := resp.Location(); err == nil {
			location = target.String()
		}
		e.Redirect = c.Redact(redactURL(location))
	}
	return e
}

func (c *Client) unexpected(call call, x exchange, problem string) error {
	e := &UnexpectedAnswerError{
		Method:     call.method,
		Path:       c.url(call.path).EscapedPath(),
		StatusCode: x.status,
		Problem:    problem,
		RequestID:  x.requestID,
	}
	if len(x.body) <= maxBody {
		e.Message = c.Redact(knownMessage(x.body))
	}
	return e
}

// connectionError takes the reason out of the error of net/http, whose text
// has the whole URL and may quote what the service sent, and prefers the cause
// of a context that ended.
func (c *Client) connectionError(ctx context.Context, req *http.Request, sent bool, err error) error {
	var urlError *url.Error
	if errors.As(err, &urlError) {
		err = urlError.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, errNoAnswer) {
		err = fmt.Errorf("%w (%s)", errNoAnswer, c.requestTimeout)
	}
	err = &redactedError{err, c.Redact(err.Error())}
	return &ConnectionError{Method: req.Method, Path: req.URL.EscapedPath(), Host: req.URL.Host, Sent: sent, Err: err}
}

func (c *Client) logAttempt(ctx context.Context, call call, attempt int, x exchange, took time.Duration) {
	fields := map[string]any{
		"method":      call.method,
		"path":        c.url(call.path).EscapedPath(),
		"status":      x.status,
		"attempt":     attempt,
		"duration_ms": took.Milliseconds(),
		"request_id":  x.requestID,
	}
	if x.err != nil {
		fields["error"] = c.Redact(x.err.Error())
	}
	c.log.Debug(ctx, "API request", fields)
}
