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

// Retry waits before the next attempt and returns nil if the request is worth
// repeating. Otherwise, it returns the final error. failures counts the failed attempts
// before this one.
func (t *Transport) Retry(ctx context.Context, failures int, err error) error {
	if ctx.Err() != nil {
		return after(context.Cause(ctx), err)
	}
	if failures >= *t.MaxRetries || !MayPass(err) {
		return err
	}
	_, wait := answerOf(err)
	asked := wait > 0
	if !asked {
		wait = backoff(failures, t.Random())
	}
	if outlasts(ctx, wait) {
		if asked {
			return after(&BusyError{RetryAt: t.Clock.Now().Add(wait)}, err)
		}
		return err
	}
	if cause := t.Clock.Sleep(ctx, wait); cause != nil {
		return after(cause, err)
	}
	return nil
}

// backoff doubles with each failure up to a cap. Half of it is random, so that
// many clients do not retry at the same time.
func backoff(failures int, random float64) time.Duration {
	wait := min(maxBackoff, firstBackoff<<min(failures, 5))
	return wait/2 + time.Duration(random*float64(wait/2))
}

// MayPass reports whether a failure is temporary, so that the same request may
// succeed later.
func MayPass(err error) bool {
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return false
	}
	if _, broken := errors.AsType[*ConnectionError](err); broken {
		return true
	}
	if _, unusable := errors.AsType[*UnexpectedAnswerError](err); unusable {
		return true
	}
	switch status, _ := answerOf(err); status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	default:
		return status >= 500
	}
}

// neverActed reports whether the service certainly did not act on the request: no
// connection was made, or the service returned 429, or 503 with a Retry-After.
func neverActed(err error) bool {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		return !connection.Sent
	}
	status, retryAfter := answerOf(err)
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && retryAfter > 0
}

// MayHaveActed reports whether the service may have acted on a request that failed
// with err. It is not the opposite of neverActed: after a 400, the service did not
// act, but there is no reason to send the request again.
func MayHaveActed(err error) bool {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		return connection.Sent
	}
	if answer, ok := errors.AsType[*UnexpectedAnswerError](err); ok {
		// A web page with status 200 does not come from the API.
		return !answer.Page || answer.StatusCode != http.StatusOK
	}
	switch status, _ := answerOf(err); status {
	case http.StatusSeeOther, // answers a POST that was acted on (RFC 9110, section 15.4.4)
		http.StatusRequestTimeout: // some proxies return it if the service behind them is slow
		return true
	default:
		return status >= 500 && !neverActed(err)
	}
}
