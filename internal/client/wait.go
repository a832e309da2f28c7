// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"slices"
	"time"
)

const (
	// maxOutage is how long a wait that has seen an answer goes on without
	// another one: an outage of the service must not lose a job that runs.
	maxOutage = 5 * time.Minute
	// settling is how long a job that was just started may be unknown to the
	// service, whose reads may lag behind its writes.
	settling = 15 * time.Second
)

// WaitOptions say how a waiter polls.
type WaitOptions struct {
	Poll PollOptions
	// StartedAt is when the start request was made, for a wait that follows one.
	// Zero means that the wait is for something that was there before: it then
	// begins with a GET.
	StartedAt time.Time
}

// WaitForStaticExport polls a job until it has ended. onUpdate, which may be
// nil, is called for each answer that brings a new status, progress or page
// count. It returns the last state it saw, nil if none, also with an error:
// [*JobFailedError], or what ended ctx, which is [ErrTimeout] for a timeout.
func (c *Client) WaitForStaticExport(ctx context.Context, jobID string, opts WaitOptions, onUpdate func(*StaticExportJob)) (*StaticExportJob, error) {
	last, err := wait(ctx, c, opts, waiting[*StaticExportJob]{
		what:  "static export job " + jobID,
		known: []string{"queued", "running", JobCompleted, JobFailed},
		fetch: func(ctx context.Context, last *StaticExportJob) (*StaticExportJob, error) {
			job, err := c.GetStaticExportJob(ctx, jobID)
			if err == nil && job.PageCount == nil && last != nil {
				// The contract shows the count only while the job runs.
				job.PageCount = last.PageCount
			}
			return job, err
		},
		view: func(job *StaticExportJob) view {
			return view{status: job.Status, finished: job.Finished(), progress: job.Progress, count: job.PageCount, retryAfter: job.retryAfter}
		},
		onUpdate: onUpdate,
	})
	if err == nil && !last.Succeeded() {
		err = &JobFailedError{Job: last}
	}
	return last, err
}

// WaitForUpdate polls an update until it has ended, well or not. onUpdate and
// the results are as for [Client.WaitForStaticExport]; a failed update is no
// error.
func (c *Client) WaitForUpdate(ctx context.Context, statusID string, opts WaitOptions, onUpdate func(*UpdateStatus)) (*UpdateStatus, error) {
	return wait(ctx, c, opts, waiting[*UpdateStatus]{
		what:  "update " + statusID,
		known: []string{"queued", "in_progress", UpdateSucceeded, UpdateFailed},
		fetch: func(ctx context.Context, _ *UpdateStatus) (*UpdateStatus, error) {
			return c.GetUpdateStatus(ctx, statusID)
		},
		view: func(update *UpdateStatus) view {
			return view{status: update.Status, finished: update.Finished(), retryAfter: update.retryAfter}
		},
		onUpdate: onUpdate,
	})
}

// waiting is what the loop needs to know of the thing that is waited for.
type waiting[T any] struct {
	what     string
	known    []string
	fetch    func(ctx context.Context, last T) (T, error)
	view     func(T) view
	onUpdate func(T)
}

// view is what the loop sees of one answer.
type view struct {
	status     string
	finished   bool
	progress   *float64
	count      *int64
	retryAfter time.Duration
}

func (v view) differs(w view) bool {
	return v.status != w.status || !equal(v.progress, w.progress) || !equal(v.count, w.count)
}

func equal[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// wait is the one polling loop. A failed poll ends it, unless the failure may
// pass by itself and the last good answer is not too long ago.
func wait[T any](ctx context.Context, c *Client, opts WaitOptions, w waiting[T]) (last T, err error) {
	began := c.clock.Now()
	lastGood := time.Time{}
	poller := NewPoller(opts.Poll, c.random)
	seen := view{}
	unknown := map[string]bool{}
	if !opts.StartedAt.IsZero() {
		began, lastGood = opts.StartedAt, c.clock.Now()
		seen.status = "queued"
		if err := c.sleepUntilPoll(ctx, poller, began, seen); err != nil {
			return last, err
		}
	}
	for {
		current, err := w.fetch(ctx, last)
		now := c.clock.Now()
		switch {
		case err == nil:
			lastGood = now
			last = current
			before := seen
			seen = w.view(current)
			if !slices.Contains(w.known, seen.status) && !unknown[seen.status] {
				unknown[seen.status] = true
				c.log.Warn(ctx, "unknown status, taken for still running", map[string]any{"object": w.what, "status": seen.status})
			}
			if seen.differs(before) {
				c.logProgress(ctx, w.what, seen, now.Sub(began))
				if w.onUpdate != nil {
					w.onUpdate(current)
				}
			}
			if seen.finished {
				return last, nil
			}
		case ctx.Err() != nil:
			return last, err
		case IsGone(err) && !opts.StartedAt.IsZero() && now.Sub(began) < settling:
		case !isTransient(err) || lastGood.IsZero() || now.Sub(lastGood) > maxOutage:
			return last, err
		default:
			c.log.Warn(ctx, "poll failed, the wait goes on", map[string]any{"object": w.what, "error": c.Redact(err.Error())})
		}
		if err := c.sleepUntilPoll(ctx, poller, began, seen); err != nil {
			return last, err
		}
	}
}

func (c *Client) sleepUntilPoll(ctx context.Context, poller *Poller, began time.Time, seen view) error {
	phase := PollRunning
	if seen.status == "queued" {
		phase = PollQueued
	}
	return c.clock.Sleep(ctx, poller.Next(c.clock.Now().Sub(began), phase, seen.progress, seen.retryAfter))
}

func (c *Client) logProgress(ctx context.Context, what string, seen view, elapsed time.Duration) {
	fields := map[string]any{"object": what, "status": seen.status, "elapsed_s": int(elapsed.Seconds())}
	if seen.progress != nil {
		fields["progress"] = *seen.progress
	}
	if seen.count != nil {
		fields["page_count"] = *seen.count
	}
	c.log.Info(ctx, "progress", fields)
}
