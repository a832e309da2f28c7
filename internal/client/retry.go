// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"errors"
	"net/http"
	"time"
)

const (
	firstBackoff = time.Second
	maxBackoff   = 30 * time.Second
)

// backoff returns how long to wait after an attempt that failed, where so many
// had failed before: twice as long each time, capped, and half of it left to chance so
// that many clients do not come back at once.
func backoff(failures int, random float64) time.Duration {
	wait := maxBackoff
	if failures < 5 {
		wait = min(maxBackoff, firstBackoff<<failures)
	}
	return wait/2 + time.Duration(random*float64(wait/2))
}

// heldByGate reports whether a failed call goes back to the gate without being
// counted: after a 429 the gate holds all requests for as long as the service
// asks, and the operation's deadline is the bound, if there is one.
func heldByGate(err error, bounded bool) bool {
	return bounded && IsStatus(err, http.StatusTooManyRequests)
}

// retry decides whether a failed call is sent again, and after how long, where
// so many attempts had failed before. What may pass by itself is repeated up to
// the maximum, a call that must not be repeated only if the service certainly
// did not act on it.
func (c *Client) retry(call call, err error, failures int) (wait time.Duration, again bool) {
	if failures >= c.maxRetries || !isTransient(err) || call.once && !didNotAct(err) {
		return 0, false
	}
	var apiError *APIError
	if errors.As(err, &apiError) && apiError.RetryAfter > 0 {
		return apiError.RetryAfter, true
	}
	return backoff(failures, c.random()), true
}

// didNotAct reports whether the service certainly did nothing: it refused the
// request before acting, by saying when to come back, or no connection was
// ever made.
func didNotAct(err error) bool {
	var connection *ConnectionError
	if errors.As(err, &connection) {
		return !connection.Sent
	}
	var apiError *APIError
	if !errors.As(err, &apiError) {
		return false
	}
	return apiError.StatusCode == http.StatusTooManyRequests ||
		apiError.StatusCode == http.StatusServiceUnavailable && apiError.RetryAfter > 0
}

// outcomeOf tells the gate what it learns from.
func outcomeOf(err error) outcome {
	var apiError *APIError
	if errors.As(err, &apiError) && apiError.StatusCode == http.StatusTooManyRequests {
		return outcome{throttled: true, retryAfter: apiError.RetryAfter}
	}
	return outcome{ok: err == nil}
}
