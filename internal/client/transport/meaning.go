// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"errors"
	"net/http"
	"time"
)

// meaning is what the error of an attempt says about another attempt.
type meaning int

const (
	permanent meaning = iota // another one would fail as well
	temporary                // another one may succeed; the service may have acted on this one
	refused                  // another one may succeed; the service did not act on this one
)

// meaningOf classifies the error of an attempt.
func meaningOf(err error) meaning {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		switch {
		case connection.Untrusted:
			return permanent
		case connection.Sent:
			return temporary
		}
		return refused
	}
	if unexpected, ok := errors.AsType[*UnexpectedResponseError](err); ok && unexpected.NotJSON {
		return temporary // unusable JSON breaks the contract, and will again
	}
	switch status, retryAfter := StatusOf(err); {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && retryAfter > 0:
		return refused
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported:
		return permanent
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		return temporary
	}
	return permanent
}

// IsTemporary reports whether the request that failed with err may succeed later. It is
// false if the call was ended.
func IsTemporary(err error) bool { return meaningOf(err) != permanent }

// MayHaveActed reports whether the service may have acted on a request that failed
// with err.
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
		return status >= 500 && meaningOf(err) != refused
	}
}

// StatusOf returns the HTTP status and the Retry-After of the failed response that err is
// about, or zeros.
func StatusOf(err error) (status int, retryAfter time.Duration) {
	if api, ok := errors.AsType[*APIError](err); ok {
		return api.StatusCode, api.RetryAfter
	}
	if storage, ok := errors.AsType[*StorageError](err); ok {
		return storage.StatusCode, storage.RetryAfter
	}
	return 0, 0
}
