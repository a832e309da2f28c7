package client

import (
	"context"
	"log/slog"
	"time"
)

// firstPause comes before the first poll of a wait that is patient from the beginning: its job has just started.
const firstPause = time.Second

// WaitForStaticExport polls a job until it finishes, successfully or not. An interval of zero adapts to the elapsed
// time and the progress. Patience applies until the first success; then every wait is [Patient].
//
// It returns the job as it was last read, even with an error, or nil if it was never read. A failed job is not an
// error. The error is that of a poll or context.Cause(ctx), wrapped in a [*GaveUpError] if an earlier attempt of the
// same poll failed.
func (c *Client) WaitForStaticExport(
	ctx context.Context, jobID string, interval time.Duration,
) (*StaticExportJob, error) {
	var last StaticExportJob
	return poll(ctx, c, interval, Plain, c.jobOperation(jobID), func(job *StaticExportJob) (observation, bool) {
		if job.PageCount == nil {
			job.PageCount = last.PageCount // the contract promises it only while the job runs
		}
		newStatus := job.Status != last.Status
		if newStatus || !equal(job.Progress, last.Progress) || !equal(job.PageCount, last.PageCount) {
			unknown := newStatus && !job.Documented()
			c.logProgress(ctx, "static export job "+jobID, job.Status, unknown, job.Progress, job.PageCount)
		}
		last = *job
		return observation{queued: job.Status == jobQueued, progress: job.Progress}, job.Finished()
	})
}

// WaitForUpdate polls an update until it finishes, successfully or not. It calls onUpdate, which may be nil, each
// time the status changes. It is [Plain] until its first success. It returns the same results as
// [Client.WaitForStaticExport].
func (c *Client) WaitForUpdate(
	ctx context.Context, statusID string, interval time.Duration, onUpdate func(*UpdateStatus),
) (*UpdateStatus, error) {
	status := ""
	return poll(ctx, c, interval, Plain, c.updateOperation(statusID), func(update *UpdateStatus) (observation, bool) {
		if update.Status != status {
			status = update.Status
			c.logProgress(ctx, "update "+statusID, status, !update.Documented(), nil, nil)
			if onUpdate != nil {
				onUpdate(update)
			}
		}
		return observation{}, update.Finished()
	})
}

// poll repeats an operation that reads work until the work has finished, and returns what it read last, or nil.
// observe returns what a poll saw of the work, and whether the work has finished.
func poll[T any](
	ctx context.Context, c *Client, every time.Duration, patience Patience, op operation[T],
	observe func(*T) (observation, bool),
) (last *T, err error) {
	schedule, began, pause := schedule{interval: every}, c.config.Clock.Now(), time.Duration(0)
	if patience == Patient {
		pause = firstPause
	}
	for {
		if err := c.config.Clock.Sleep(ctx, c.beforeDeadline(ctx, pause)); err != nil {
			return last, err
		}
		value, retryAfter, err := call(ctx, c, op, patience)
		if err != nil {
			return last, err
		}
		last = value
		seen, finished := observe(value)
		if finished {
			return last, nil
		}
		seen.retryAfter = retryAfter
		patience, pause = Patient, schedule.next(c.config.Clock.Now().Sub(began), seen, c.config.Random())
	}
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
