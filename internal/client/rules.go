// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
)

// NotFoundLimit is how long a service may return "not found" before the provider believes it.
// A service can be eventually consistent: a job can be unknown right after its start, its bundle
// right after its completion, and its archive right after that. Terraform replaces what
// depends on a job that is missing.
const NotFoundLimit = 30 * time.Second

const (
	retries     = retry.Retries // MaxRetries times
	halfAMinute = retry.Limit(NotFoundLimit)
	outage      = retry.Limit(5 * time.Minute)
)

// The rules for failed requests. A failure of a kind that a rule does not name ends the call.
var (
	// plainRule is for a request that the next run repeats, and for a wait until its first
	// success, so that a wrong URL fails soon.
	plainRule = retry.Rule{retry.Unconnected: retries, retry.Temporary: retries, retry.NotFound: halfAMinute}
	// startRule is for the start of an export, which must not be sent again if the service may
	// have received it.
	startRule = retry.Rule{retry.Unconnected: retries}
	// patientRule is for what costs an export to give up: a job that an apply waits for, its
	// first link, and a wait after its first success.
	patientRule = retry.Rule{retry.Unconnected: outage, retry.Temporary: outage, retry.NotFound: halfAMinute, retry.Other: halfAMinute}
)

// Patience says which failures a call repeats, and for how long.
type Patience int

const (
	// Plain is for a request that the next run repeats.
	Plain Patience = iota
	// Patient is for a request of an apply that loses an export if it gives up.
	Patient
)

func (p Patience) rule() retry.Rule {
	if p == Patient {
		return patientRule
	}
	return plainRule
}

// call sends a request as often as a rule allows, and returns the response as read converts it.
// retryAfter is the pause before the next poll that the response requests.
func call[T any](ctx context.Context, c *Client, rule retry.Rule, req request, read func(*record) (*T, error)) (value *T, retryAfter time.Duration, err error) {
	var failed error // the last attempt
	err = c.loop.Do(ctx, rule, func(ctx context.Context, number int) error {
		value, retryAfter, failed = attempt(ctx, c, c.networkAfter(failed), req, number, read)
		return failed
	})
	return value, retryAfter, err
}

// classify is [retry.Loop.Classify] for the errors of an attempt.
func classify(err error) retry.Failure {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		switch {
		case connection.Untrusted, connection.PlainHTTP, connection.ProxyStatus == http.StatusProxyAuthRequired:
			return retry.Failure{Kind: retry.Permanent}
		case connection.Sent:
			return retry.Failure{Kind: retry.Temporary, Progress: connection.Progress}
		}
		return retry.Failure{Kind: retry.Unconnected}
	}
	if unexpected, ok := errors.AsType[*UnexpectedResponseError](err); ok {
		if unexpected.NotJSON {
			return retry.Failure{Kind: retry.Temporary}
		}
		return retry.Failure{Kind: retry.Other} // unusable JSON breaks the contract, and probably will again
	}
	status, retryAfter := statusOf(err)
	return retry.Failure{Kind: kindOf(err, status), RetryAfter: retryAfter}
}

// kindOf returns the kind of a failed response; status is zero if there was none.
func kindOf(err error, status int) retry.Kind {
	_, ofStorage := errors.AsType[*StorageError](err)
	switch {
	case status == 0:
		return retry.Permanent
	case status == http.StatusTooManyRequests:
		return retry.Throttled
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported:
		return retry.Other
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		return retry.Temporary
	case IsNotFound(err), ofStorage && status/100 != 3: // a store may return 403, or a page, for what it does not have
		return retry.NotFound
	}
	return retry.Other
}
