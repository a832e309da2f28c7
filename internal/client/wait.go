// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"log/slog"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
)

// WaitOptions configures a wait for a job.
type WaitOptions struct {
	// Interval is a fixed polling interval. If it is zero, the interval is adaptive: see
	// [retry.Schedule].
	Interval time.Duration
	// Started means that the caller started the job. The first poll then comes after a
	// second, and an error response counts only after half a minute of such responses in a
	// row, even before the first success.
	Started bool
}

// WaitForStaticExport polls a job until it finishes, successfully or not. It returns the job
// as it was last read, even with an error, or nil if it was never read. A failed job is not
// an error. The error is that of a poll, or context.Cause(ctx), in a
// [*retry.EndedError] if an attempt failed before.
func (c *Client) WaitForStaticExport(ctx context.Context, jobID string, opts WaitOptions) (*StaticExportJob, error) {
	loop := c.loop(plainRule)
	if opts.Started {
		loop = c.loop(patientRule)
		loop.First = time.Second
	}
	loop.Schedule.Interval = opts.Interval
	what, req, read := "static export job "+jobID, jobRequest(jobID), jobReader(jobID)
	var last *StaticExportJob
	err := loop.Run(ctx, func(ctx context.Context) (*retry.Poll, error) {
		job, err := attempt(ctx, c, &req, read)
		if err != nil {
			return nil, err
		}
		if job.PageCount == nil && last != nil {
			job.PageCount = last.PageCount // the contract promises it only while the job runs
		}
		newStatus := last == nil || job.Status != last.Status
		if newStatus || !equal(job.Progress, last.Progress) || !equal(job.PageCount, last.PageCount) {
			c.logProgress(ctx, what, job.Status, newStatus && !job.Documented(), job.Progress, job.PageCount)
		}
		last = job
		if job.Finished() {
			return nil, nil
		}
		return &retry.Poll{Queued: job.Status == statusQueued, Progress: job.Progress, RetryAfter: job.retryAfter}, nil
	})
	return last, err
}

// WaitForUpdate polls an update until it finishes, successfully or not. It calls
// onUpdate, which may be nil, each time the status changes. It returns the same results
// as [Client.WaitForStaticExport].
func (c *Client) WaitForUpdate(ctx context.Context, statusID string, interval time.Duration, onUpdate func(*UpdateStatus)) (*UpdateStatus, error) {
	loop := c.loop(plainRule)
	loop.Schedule.Interval = interval
	what, req := "update "+statusID, updateRequest(statusID)
	var last *UpdateStatus
	err := loop.Run(ctx, func(ctx context.Context) (*retry.Poll, error) {
		update, err := attempt(ctx, c, &req, readUpdate)
		if err != nil {
			return nil, err
		}
		if last == nil || update.Status != last.Status {
			c.logProgress(ctx, what, update.Status, !update.Documented(), nil, nil)
			if onUpdate != nil {
				onUpdate(update)
			}
		}
		last = update
		if update.Finished() {
			return nil, nil
		}
		return &retry.Poll{RetryAfter: update.retryAfter}, nil
	})
	return last, err
}

// logProgress logs a change. It warns about an unknown status.
func (c *Client) logProgress(ctx context.Context, what, status string, unknown bool, progress *float64, pages *int64) {
	level, message := slog.LevelInfo, "Progress"
	if unknown {
		level, message = slog.LevelWarn, "Unknown status; treating the work as still running"
	}
	fields := map[string]any{"work": what, "status": status}
	if progress != nil {
		fields["progress"] = *progress
	}
	if pages != nil {
		fields["page_count"] = *pages
	}
	c.log(ctx, level, message, fields)
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}
