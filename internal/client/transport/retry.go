// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

const (
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second
)

// retries decides what follows the failed attempts of one call.
type retries struct {
	*Transport
	once     bool  // see [Request]
	failures int   // that count
	refusals int   // responses with 429, which do not count
	last     error // of the last attempt that ctx did not cut off
}

// wait waits after a failed attempt and returns nil if another one may follow.
// Otherwise, it returns the final error. It returns at once if ctx's deadline is
// before the next attempt: with a [*BusyError] if the service asked for that wait, and
// with the failure otherwise.
func (r *retries) wait(ctx context.Context, err error) error {
	status, retryAfter := StatusOf(err)
	cause := context.Cause(ctx)
	switch {
	case r.once && !neverActed(err):
		return err
	case cause != nil && errors.Is(err, cause):
		return Ended(cause, r.last)
	case cause != nil:
		return Ended(cause, err)
	case !IsTemporary(err):
		return err
	case status == http.StatusTooManyRequests:
		r.refusals++
	case r.failures == r.config.MaxRetries:
		return err
	default:
		r.failures++
	}
	r.last = err
	pause := retryAfter
	if pause == 0 {
		// Half of the pause is random, so that many clients do not retry at the same time.
		pause = time.Duration((1 + r.config.Random()) / 2 * float64(backoff(r.failures+r.refusals-1)))
	}
	if outlasts(ctx, r.config.Clock, pause) {
		if retryAfter == 0 {
			return err
		}
		return Ended(&BusyError{RetryAt: r.config.Clock.Now().Add(pause)}, err)
	}
	if cause := r.config.Clock.Sleep(ctx, pause); cause != nil {
		return Ended(cause, err)
	}
	return nil
}

// outlasts reports whether a wait would leave no time until ctx's deadline.
func outlasts(ctx context.Context, c clock.Clock, wait time.Duration) bool {
	deadline, bounded := ctx.Deadline()
	return bounded && deadline.Sub(c.Now()) <= wait
}

// backoff returns a pause that doubles with each earlier failure up to a cap.
func backoff(failures int) time.Duration { return min(maxBackoff, firstBackoff<<min(failures, 5)) }

// IsTemporary reports whether the same request may succeed later.
func IsTemporary(err error) bool {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		return !connection.Untrusted
	}
	if unexpected, ok := errors.AsType[*UnexpectedResponseError](err); ok {
		return unexpected.NotJSON // unusable JSON breaks the contract, and will again
	}
	switch status, _ := StatusOf(err); status {
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
	status, retryAfter := StatusOf(err)
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
	switch status, _ := StatusOf(err); status {
	case http.StatusSeeOther, // follows a POST that was acted on (RFC 9110, section 15.4.4)
		http.StatusRequestTimeout: // some proxies return it if the service behind them is slow
		return true
	default:
		return status >= 500 && !neverActed(err)
	}
}
