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

const (
	retries     = retry.Retries // MaxRetries times
	halfAMinute = retry.Limit(30 * time.Second)
	outage      = retry.Limit(5 * time.Minute)
)

// The rules for failed requests. A failure of a kind that a rule does not name ends the call.
//
// A service can be eventually consistent: a job can be unknown right after its start, and
// its bundle right after its completion. Terraform replaces what depends on a job that is
// missing, so "not found" counts only after half a minute.
var (
	// plainRule is for a request that the next run repeats, and for a wait until its first
	// success, so that a wrong URL fails soon.
	plainRule = retry.Rule{retry.Unconnected: retries, retry.Temporary: retries, retry.NotFound: halfAMinute}
	// promptRule is plainRule for a caller that needs no second "not found".
	promptRule = retry.Rule{retry.Unconnected: retries, retry.Temporary: retries}
	// startRule is for the start of an export: after any other failure, a job may have started.
	startRule = retry.Rule{retry.Unconnected: retries}
	// patientRule is for a job that the caller started, for its first link, and for a wait
	// after its first success: giving up costs an export.
	patientRule = retry.Rule{retry.Unconnected: outage, retry.Temporary: outage, retry.NotFound: halfAMinute, retry.Other: halfAMinute}
)

// loop returns a loop with a rule.
func (c *Client) loop(rule retry.Rule) retry.Loop {
	return retry.Loop{Clock: c.config.Clock, Rule: rule, Proven: patientRule, MaxRetries: *c.config.MaxRetries, Classify: classify, Random: c.config.Random}
}

// call sends a request as often as its rule allows, and returns the response as read
// converts it.
func call[T any](ctx context.Context, c *Client, rule retry.Rule, req request, read func(*record) (*T, error)) (value *T, err error) {
	err = c.loop(rule).Run(ctx, func(ctx context.Context) (*retry.Poll, error) {
		value, err = attempt(ctx, c, &req, read)
		return nil, err
	})
	return value, err
}

// classify is [retry.Loop.Classify] for the errors of an attempt.
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
