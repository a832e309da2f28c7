package client

import (
	"context"
	"log/slog"
	"time"
)

// WaitForStaticExport polls a job until it finishes, successfully or not. An interval of zero adapts to the elapsed
// time and the progress. After the first success, it bears failures for longer.
//
// It returns the job as it was last read, even with an error, or nil if it was never read. A failed job is not an
// error.
func (c *Client) WaitForStaticExport(
	ctx context.Context, jobID string, interval time.Duration,
) (*StaticExportJob, error) {
	var last StaticExportJob
	return poll(ctx, c, interval, jobOperation(jobID), func(job *StaticExportJob) (observation, bool) {
		if job.PageCount == nil {
			job.PageCount = last.PageCount // the contract promises it only while the job runs
		}
		newStatus := job.Status != last.Status
		if newStatus || !equal(job.Progress, last.Progress) || !equal(job.PageCount, last.PageCount) {
			unknown := newStatus && !job.Documented()
			c.logProgress(ctx, "static export job "+jobID, job.Status, unknown, job.Progress, job.PageCount)
		}
		last = *job
		return observation{job.Status == jobQueued, job.Progress, job.retryAfter}, job.Finished()
	})
}

// WaitForUpdate polls an update until it finishes, successfully or not. It calls onUpdate, which may be nil, each
// time the status changes. It returns the same results as [Client.WaitForStaticExport].
func (c *Client) WaitForUpdate(
	ctx context.Context, statusID string, interval time.Duration, onUpdate func(*UpdateStatus),
) (*UpdateStatus, error) {
	status := ""
	return poll(ctx, c, interval, updateOperation(statusID), func(update *UpdateStatus) (observation, bool) {
		if update.Status != status {
			status = update.Status
			c.logProgress(ctx, "update "+statusID, status, !update.Documented(), nil, nil)
			if onUpdate != nil {
				onUpdate(update)
			}
		}
		return observation{retryAfter: update.retryAfter}, update.Finished()
	})
}

// poll repeats an operation that reads work until the work has finished, and returns what it read last, or nil.
// observe returns what a poll saw of the work, and whether the work has finished.
func poll[T any](
	ctx context.Context, c *Client, every time.Duration, op operation[T], observe func(*T) (observation, bool),
) (last *T, err error) {
	schedule, began, within := schedule{interval: every}, c.config.Clock.Now(), plainLimits
	for {
		value, err := call(ctx, c, op, within)
		if err != nil {
			return last, err
		}
		last = value
		seen, finished := observe(value)
		if finished {
			return last, nil
		}
		within = waitLimits
		pause := schedule.next(c.config.Clock.Now().Sub(began), seen, c.config.Random())
		if err := c.config.Clock.Sleep(ctx, c.beforeDeadline(ctx, pause)); err != nil {
			return last, err
		}
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
