// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

// The limits of failures in a row.
var (
	counted = retry.Limit{Times: true}
	// settled is for what may never have worked, such as a wrong URL.
	settled     = retry.Limit{Times: true, Time: retry.Outage}
	outage      = retry.Limit{Time: retry.Outage}
	halfAMinute = retry.Limit{Time: 30 * time.Second}
)

// The rules for failed requests. A kind that a rule does not have ends it at once.
//
// A service can be eventually consistent: a job can be unknown right after its start, and
// its bundle right after its completion. So no single response decides about anything that
// costs an export.
var (
	// plain is for a request whose failure costs little: the next run asks again.
	plain = retry.Rule{retry.Unconnected: counted, retry.Temporary: counted}
	// start is for the start of an export: after any other failure, a job may have started.
	start = retry.Rule{retry.Unconnected: counted}
	// wait is for polls.
	wait = retry.Rule{retry.Unconnected: settled, retry.Temporary: settled}
	// waitForNew is for polls of what the service may not know yet.
	waitForNew = retry.Rule{retry.Unconnected: settled, retry.Temporary: settled, retry.NotFound: halfAMinute}
	// patient is for what an export depends on: its job, its first link, and what is missing.
	// An error response counts only after half a minute of such responses in a row.
	patient = retry.Rule{retry.Unconnected: outage, retry.Temporary: outage, retry.NotFound: halfAMinute, retry.Other: halfAMinute}
)

// loop returns a loop with a rule.
func (c *Client) loop(rule retry.Rule) retry.Loop {
	return retry.Loop{Clock: c.config.Clock, Rule: rule, MaxRetries: *c.config.MaxRetries, Classify: classify, Schedule: retry.Schedule{Random: c.config.Random}}
}

// call sends a request as often as its rule allows, and returns the response as read
// converts it.
func call[T any](ctx context.Context, c *Client, rule retry.Rule, req transport.Request, read func(*record) (*T, error)) (value *T, err error) {
	err = c.loop(rule).Run(ctx, func(ctx context.Context) (retry.Observation, error) {
		value, err = attempt(ctx, c, &req, read)
		return retry.Observation{Done: true}, err
	})
	return value, err
}
