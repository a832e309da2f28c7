// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"time"
)

const (
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second
)

// retry waits before the next attempt and returns nil if the request is worth
// repeating. Otherwise, it returns the final error. failures counts the failed attempts
// before this one.
func (t *Transport) retry(ctx context.Context, failures int, err error) error {
	if ctx.Err() != nil {
		return withLast(context.Cause(ctx), err)
	}
	if failures >= *t.config.MaxRetries || !MayPass(err) {
		return err
	}
	if _, retryAfter := statusOf(err); retryAfter > 0 {
		return t.wait(ctx, retryAfter, err)
	}
	// Half of the pause is random, so that many clients do not retry at the same time.
	return t.wait(ctx, time.Duration((1+t.config.Random())/2*float64(backoff(failures))), err)
}

// wait waits after a failure. If ctx's deadline is earlier, it returns at once: a
// [*BusyError] if the service asked for the wait, and otherwise the failure.
func (t *Transport) wait(ctx context.Context, pause time.Duration, last error) error {
	if outlasts(ctx, pause) {
		if _, retryAfter := statusOf(last); retryAfter == 0 {
			return last
		}
		return withLast(&BusyError{RetryAt: t.config.Clock.Now().Add(pause)}, last)
	}
	if cause := t.config.Clock.Sleep(ctx, pause); cause != nil {
		return withLast(cause, last)
	}
	return nil
}

// outlasts reports whether a wait would leave no time until ctx's deadline.
func outlasts(ctx context.Context, wait time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return bounded && time.Until(deadline) <= wait
}

// backoff returns a pause that doubles with each earlier failure up to a cap.
func backoff(failures int) time.Duration { return min(maxBackoff, firstBackoff<<min(failures, 5)) }

// MayPass reports whether a failure is temporary, so that the same request may
// succeed later, but before the deadline of its context.
func MayPass(err error) bool {
	if _, busy := errors.AsType[*BusyError](err); busy {
		return false
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return false
	}
	if _, broken := errors.AsType[*ConnectionError](err); broken {
		return true
	}
	if _, unusable := errors.AsType[*UnexpectedResponseError](err); unusable {
		return true
	}
	switch status, _ := statusOf(err); status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	default:
		return status >= 500
	}
}

// neverActed reports whether the service is known not to have acted on the request: no
// connection was made, or the service returned 429, or 503 with a Retry-After.
func neverActed(err error) bool {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		return !connection.Sent
	}
	status, retryAfter := statusOf(err)
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && retryAfter > 0
}

// MayHaveActed reports whether the service may have acted on a request that failed
// with err. It is not the opposite of neverActed: after a 400, the service did not
// act, but there is no reason to send the request again.
func MayHaveActed(err error) bool {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		return connection.Sent
	}
	if unexpected, ok := errors.AsType[*UnexpectedResponseError](err); ok {
		// A web page with status 200 does not come from the API.
		return !unexpected.Page || unexpected.StatusCode != http.StatusOK
	}
	switch status, _ := statusOf(err); status {
	case http.StatusSeeOther, // follows a POST that was acted on (RFC 9110, section 15.4.4)
		http.StatusRequestTimeout: // some proxies return it if the service behind them is slow
		return true
	default:
		return status >= 500 && !neverActed(err)
	}
}
