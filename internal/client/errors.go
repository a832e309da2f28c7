// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"errors"
	"net/http"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

type (
	// APIError reports a response that is not a success.
	APIError = transport.APIError
	// UnexpectedResponseError reports a successful response with an unusable body.
	UnexpectedResponseError = transport.UnexpectedResponseError
	// ConnectionError reports a request without a complete response.
	ConnectionError = transport.ConnectionError
	// EndedError reports a call or a wait that was ended after an attempt had failed.
	EndedError = retry.EndedError
	// BusyError reports that the next attempt would come after the timeout.
	BusyError = retry.BusyError
	// StorageError reports a response of the object store without data.
	StorageError = transport.StorageError
)

// JobFailedError means that a static export job ended with status "failed".
type JobFailedError struct{ Job *StaticExportJob }

func (e *JobFailedError) Error() string { return "static export job " + e.Job.ID + " failed" }

// IsNotFound reports whether err is a response that says that the object does not exist,
// or no longer exists. The response must come from the API, so its body must not be a web
// page.
func IsNotFound(err error) bool {
	api, ok := errors.AsType[*APIError](err)
	return ok && (api.StatusCode == http.StatusNotFound || api.StatusCode == http.StatusGone) && !api.Page
}

// classify is [retry.Loop.Classify] for the errors of the transport.
func classify(err error) (retry.Kind, time.Duration) {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		switch {
		case connection.Untrusted:
			return retry.Permanent, 0
		case connection.Sent:
			return retry.Temporary, 0
		}
		return retry.Unconnected, 0
	}
	if unexpected, ok := errors.AsType[*UnexpectedResponseError](err); ok {
		if unexpected.NotJSON {
			return retry.Temporary, 0
		}
		return retry.Other, 0 // unusable JSON breaks the contract, and probably will again
	}
	status, retryAfter := statusOf(err)
	switch {
	case status == 0: // no response
		return retry.Permanent, 0
	case status == http.StatusTooManyRequests:
		return retry.Throttled, retryAfter
	case IsNotFound(err):
		return retry.NotFound, retryAfter
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported:
		return retry.Other, retryAfter
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		return retry.Temporary, retryAfter
	}
	return retry.Other, retryAfter
}

// statusOf returns the HTTP status and the Retry-After of the failed response that err is
// about, or zeros.
func statusOf(err error) (status int, retryAfter time.Duration) {
	if api, ok := errors.AsType[*APIError](err); ok {
		return api.StatusCode, api.RetryAfter
	}
	if storage, ok := errors.AsType[*StorageError](err); ok {
		return storage.StatusCode, storage.RetryAfter
	}
	return 0, 0
}

// MayHaveStarted reports whether [Client.StartStaticExport] may have started a job even
// though it failed with err.
func MayHaveStarted(err error) bool {
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
		return status >= 500 // a gateway may send any of them after the service has acted
	}
}
