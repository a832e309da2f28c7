// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/poll"
	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

// A service can be eventually consistent: a job can be unknown right after its start, and
// its bundle right after its completion. So a single answer decides nothing that costs an
// export.
var (
	outage   = poll.Tolerance{Kind: "outage", Limit: poll.MaxOutage}
	notFound = poll.Tolerance{Kind: "not found", Limit: 30 * time.Second}
	refusal  = poll.Tolerance{Kind: "refusal", Limit: 30 * time.Second}
)

// lookInterval is the interval between the requests of [Client.WaitForBundle] and
// [Client.FindStaticExportJob].
const lookInterval = 5 * time.Second

// WaitOptions configures a wait for a job.
type WaitOptions struct {
	// Interval is a fixed polling interval. If it is zero, the interval is adaptive: see
	// [poll.Schedule].
	Interval time.Duration
	// Patient means that the caller started the job. The first poll then comes after a
	// second, and what the service answers to a poll counts only after half a minute of
	// such answers in a row.
	Patient bool
}

// WaitForStaticExport polls a job until it finishes. It returns the job as it was last
// read, even with an error, or nil if it was never read. The error is a
// [*JobFailedError], the error of a poll, context.Cause(ctx), or an [*EndedError] if ctx
// ends after a failed poll.
func (c *Client) WaitForStaticExport(ctx context.Context, jobID string, opts WaitOptions) (*StaticExportJob, error) {
	what := "static export job " + jobID
	w := waitRules{interval: opts.Interval}
	if opts.Patient {
		w.first, w.patient = time.Second, true
	}
	var last *StaticExportJob
	err := c.wait(ctx, what, w, func(ctx context.Context) (poll.Observation, error) {
		job, err := c.GetStaticExportJob(ctx, jobID)
		if err != nil {
			return poll.Observation{}, err
		}
		if job.PageCount == nil && last != nil {
			job.PageCount = last.PageCount // the contract promises it only while the job runs
		}
		newStatus := last == nil || job.Status != last.Status
		if newStatus || !equal(job.Progress, last.Progress) || !equal(job.PageCount, last.PageCount) {
			c.logProgress(ctx, what, job.Status, newStatus && !job.Documented(), job.Progress, job.PageCount)
		}
		last = job
		return poll.Observation{Done: job.Finished(), Queued: job.Status == statusQueued, Progress: job.Progress, RetryAfter: job.retryAfter}, nil
	})
	if err == nil && !last.Succeeded() {
		err = &JobFailedError{Job: last}
	}
	return last, err
}

// WaitForBundle is [Client.GenerateBundle] for the first link of a job, or one on which an
// export depends: what the service answers counts only after half a minute of such answers
// in a row.
func (c *Client) WaitForBundle(ctx context.Context, jobID string) (*Bundle, error) {
	return patiently(ctx, c, "bundle of static export job "+jobID, func(ctx context.Context) (*Bundle, error) { return c.GenerateBundle(ctx, jobID) })
}

// FindStaticExportJob is [Client.GetStaticExportJob] for a job on which an export depends:
// what the service answers counts only after half a minute of such answers in a row.
func (c *Client) FindStaticExportJob(ctx context.Context, jobID string) (*StaticExportJob, error) {
	return patiently(ctx, c, "static export job "+jobID, func(ctx context.Context) (*StaticExportJob, error) { return c.GetStaticExportJob(ctx, jobID) })
}

func patiently[T any](ctx context.Context, c *Client, what string, get func(context.Context) (*T, error)) (result *T, _ error) {
	err := c.wait(ctx, what, waitRules{interval: lookInterval, patient: true}, func(ctx context.Context) (poll.Observation, error) {
		var err error
		result, err = get(ctx)
		return poll.Observation{Done: true}, err
	})
	return result, err
}

// WaitForUpdate polls an update until it finishes, successfully or not. It calls
// onUpdate, which may be nil, each time the status changes. It returns the same results
// as [Client.WaitForStaticExport], but a failed update is not an error. The ID may be
// unknown for half a minute, because the update may have been triggered a moment ago.
func (c *Client) WaitForUpdate(ctx context.Context, statusID string, interval time.Duration, onUpdate func(*UpdateStatus)) (*UpdateStatus, error) {
	what := "update " + statusID
	var last *UpdateStatus
	err := c.wait(ctx, what, waitRules{interval: interval, unknown: true}, func(ctx context.Context) (poll.Observation, error) {
		update, err := c.GetUpdateStatus(ctx, statusID)
		if err != nil {
			return poll.Observation{}, err
		}
		if last == nil || update.Status != last.Status {
			c.logProgress(ctx, what, update.Status, !update.Documented(), nil, nil)
			if onUpdate != nil {
				onUpdate(update)
			}
		}
		last = update
		return poll.Observation{Done: update.Finished(), RetryAfter: update.retryAfter}, nil
	})
	return last, err
}

// waitRules configures [Client.wait].
type waitRules struct {
	first, interval time.Duration
	// patient means that the service has the job, so that no single answer counts.
	patient bool
	// unknown means that the service may not know the ID yet.
	unknown bool
}

// tolerance returns for how long failures such as err are tolerated. An outage is
// tolerated once the work is known to exist; seen means that a poll has succeeded.
func (w waitRules) tolerance(err error, seen bool) poll.Tolerance {
	_, answered := errors.AsType[*APIError](err)
	_, unusable := errors.AsType[*UnexpectedResponseError](err)
	switch {
	case transport.IsTemporary(err) && (w.patient || seen):
		return outage
	case IsNotFound(err) && (w.patient || w.unknown):
		return notFound
	case (answered || unusable) && w.patient:
		return refusal
	}
	return poll.Tolerance{}
}

// wait calls get until the work is done. If ctx ends after a failed call, the error is an
// [*EndedError].
func (c *Client) wait(ctx context.Context, what string, w waitRules, get func(context.Context) (poll.Observation, error)) error {
	var failure error // of the last call that ctx did not cut off
	var known bool    // a call has succeeded
	loop := poll.Wait{
		Clock:    c.config.Clock,
		Schedule: poll.Schedule{Interval: w.interval, Random: c.config.Random},
		First:    w.first,
		Tolerate: func(err error) poll.Tolerance { return w.tolerance(err, known) },
	}
	err := loop.Until(ctx, func(ctx context.Context) (poll.Observation, error) {
		seen, err := get(ctx)
		known = known || err == nil
		if cause := context.Cause(ctx); cause == nil || !errors.Is(err, cause) {
			failure = err
		}
		if err != nil {
			_, seen.RetryAfter = transport.StatusOf(err)
			c.transport.Log(ctx, slog.LevelWarn, "Poll failed", map[string]any{"object": what, "error": err.Error()})
		}
		return seen, err
	})
	cause := context.Cause(ctx)
	if _, ended := errors.AsType[*EndedError](err); ended || err == nil || cause == nil {
		return err
	}
	return transport.Ended(cause, failure)
}

// logProgress logs a change. It warns about an unknown status.
func (c *Client) logProgress(ctx context.Context, what, status string, unknown bool, progress *float64, pages *int64) {
	level, message := slog.LevelInfo, "Progress"
	if unknown {
		level, message = slog.LevelWarn, "Unknown status, taken to mean that the work is still running"
	}
	fields := map[string]any{"object": what, "status": status}
	if progress != nil {
		fields["progress"] = *progress
	}
	if pages != nil {
		fields["page_count"] = *pages
	}
	c.transport.Log(ctx, level, message, fields)
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}
