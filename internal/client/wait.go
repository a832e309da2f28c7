// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/poll"
	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

// settling is how long a 404 for a job that was just started is tolerated, because the
// service's reads may lag behind its writes.
const settling = 15 * time.Second

// WaitOptions configures a wait.
type WaitOptions struct {
	// Interval is a fixed polling interval. If it is zero, the interval is adaptive: see
	// [poll.Schedule].
	Interval time.Duration
	// StartedAt is when the service returned the job, if it was just started; zero
	// otherwise. The request may have waited long before, after a 429. Only a job that was
	// just started may be unknown for a while, and its first poll may fail.
	StartedAt time.Time
}

// WaitForStaticExport polls a job until it finishes. It returns the job as it was last
// read, even with an error, or nil if it was never read. The error is a
// [*JobFailedError], the error of a poll, or context.Cause(ctx).
func (c *Client) WaitForStaticExport(ctx context.Context, jobID string, opts WaitOptions) (*StaticExportJob, error) {
	what := "static export job " + jobID
	var last *StaticExportJob
	err := c.wait(ctx, what, opts, func(ctx context.Context) (poll.Observation, error) {
		job, err := c.GetStaticExportJob(ctx, jobID)
		if err != nil {
			return poll.Observation{}, err
		}
		if job.PageCount == nil && last != nil {
			job.PageCount = last.PageCount // the contract promises it only while the job runs
		}
		if last == nil || job.Status != last.Status || !equal(job.Progress, last.Progress) || !equal(job.PageCount, last.PageCount) {
			c.logProgress(ctx, what, job.Status, jobStatuses, job.Progress, job.PageCount)
		}
		last = job
		return poll.Observation{Done: job.Finished(), Queued: job.Status == statusQueued, Progress: job.Progress, RetryAfter: job.retryAfter}, nil
	})
	if err == nil && !last.Succeeded() {
		err = &JobFailedError{Job: last}
	}
	return last, err
}

// WaitForUpdate polls an update until it finishes, successfully or not. It calls
// onUpdate, which may be nil, each time the status changes. It returns the same results
// as [Client.WaitForStaticExport], but a failed update is not an error.
func (c *Client) WaitForUpdate(ctx context.Context, statusID string, opts WaitOptions, onUpdate func(*UpdateStatus)) (*UpdateStatus, error) {
	what := "update " + statusID
	var last *UpdateStatus
	err := c.wait(ctx, what, opts, func(ctx context.Context) (poll.Observation, error) {
		update, err := c.GetUpdateStatus(ctx, statusID)
		if err != nil {
			return poll.Observation{}, err
		}
		if last == nil || update.Status != last.Status {
			c.logProgress(ctx, what, update.Status, updateStatuses, nil, nil)
			if onUpdate != nil {
				onUpdate(update)
			}
		}
		last = update
		return poll.Observation{Done: update.Finished(), RetryAfter: update.retryAfter}, nil
	})
	return last, err
}

// statusQueued is the status of a job or update that has not begun.
const statusQueued = "queued"

// The statuses that the contract names.
var (
	jobStatuses    = []string{statusQueued, "running", JobCompleted, JobFailed}
	updateStatuses = []string{statusQueued, "in_progress", UpdateSucceeded, UpdateFailed}
)

func (c *Client) wait(ctx context.Context, what string, opts WaitOptions, get func(context.Context) (poll.Observation, error)) error {
	began, seen := opts.StartedAt, poll.Observation{Queued: true}
	if began.IsZero() {
		// Nothing is known of older work, so the first poll comes at once and must succeed.
		began = c.config.Clock.Now()
		var err error
		if seen, err = get(ctx); err != nil || seen.Done {
			return err
		}
	}
	var failed error // the last poll, if the wait continued after it
	w := poll.Wait{
		Clock:    c.config.Clock,
		Schedule: poll.Schedule{Interval: opts.Interval, Random: c.config.Random},
		Tolerate: func(err error) (time.Duration, bool) {
			settles := IsNotFound(err) && c.config.Clock.Now().Sub(opts.StartedAt) < settling
			if !settles && !transport.IsTemporary(err) {
				return 0, false
			}
			c.transport.Log(ctx, slog.LevelWarn, "Poll failed; the wait continues", map[string]any{"object": what, "error": err.Error()})
			failed = err
			_, retryAfter := transport.StatusOf(err)
			return retryAfter, true
		},
	}
	err := w.Until(ctx, began, seen, func(ctx context.Context) (poll.Observation, error) {
		failed = nil
		return get(ctx)
	})
	return transport.Ended(err, failed)
}

// logProgress logs a change. It warns about a status that the contract does not name.
func (c *Client) logProgress(ctx context.Context, what, status string, known []string, progress *float64, pages *int64) {
	level, message := slog.LevelInfo, "Progress"
	if !slices.Contains(known, status) {
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
