package client

import (
	"context"
	"log/slog"
	"time"
)

// WaitForStaticExport polls a job until it finishes, successfully or not. An interval of zero adapts to the elapsed
// time and the progress.
//
// It returns the job as it was last read, even with an error, or nil if it was never read. A failed job is not an
// error.
func (o *Operation) WaitForStaticExport(
	ctx context.Context, jobID string, interval time.Duration,
) (*StaticExportJob, error) {
	var last StaticExportJob
	return wait(ctx, o, jobEndpoint(jobID), interval, func(job *StaticExportJob) (observation, bool) {
		if job.PageCount == nil {
			job.PageCount = last.PageCount // the contract promises it only while the job runs
		}
		newStatus := job.Status != last.Status
		if newStatus || !equal(job.Progress, last.Progress) || !equal(job.PageCount, last.PageCount) {
			unknown := newStatus && !job.Documented()
			o.logProgress(ctx, "static export job "+jobID, job.Status, unknown, job.Progress, job.PageCount)
		}
		last = *job
		return observation{job.Status == jobQueued, job.Progress, job.retryAfter}, job.Finished()
	})
}

// WaitForUpdate polls an update until it finishes, successfully or not. It calls onUpdate, which may be nil, each
// time the status changes. It returns the same results as [Operation.WaitForStaticExport].
func (o *Operation) WaitForUpdate(
	ctx context.Context, statusID string, interval time.Duration, onUpdate func(*UpdateStatus),
) (*UpdateStatus, error) {
	status := ""
	return wait(ctx, o, updateEndpoint(statusID), interval, func(update *UpdateStatus) (observation, bool) {
		if update.Status != status {
			status = update.Status
			o.logProgress(ctx, "update "+statusID, status, !update.Documented(), nil, nil)
			if onUpdate != nil {
				onUpdate(update)
			}
		}
		return observation{retryAfter: update.retryAfter}, update.Finished()
	})
}

// call repeats a request within its limits, and returns what it read.
func call[T any](ctx context.Context, o *Operation, e endpoint[T]) (*T, error) {
	return wait(ctx, o, e, 0, final)
}

// final observes work that is finished whatever a poll sees.
func final[T any](*T) (observation, bool) { return observation{}, true }

// wait polls work until it has finished, within the limits of failures, and returns what it read last, or nil. observe
// returns what a poll saw of the work, and whether the work has finished.
func wait[T any](
	ctx context.Context, o *Operation, e endpoint[T], every time.Duration, observe func(*T) (observation, bool),
) (last *T, err error) {
	pauses, within := o.pauses(every), &o.within
	if e.once {
		within = &startLimits
	}
	err = o.repeat(ctx, within, func(a attempt) (bool, *Error) {
		_, progress, failure := poll(ctx, o, a, e, pauses, func(value *T) (observation, bool) {
			last = value
			return observe(value)
		})
		return progress, failure
	})
	return last, err
}

// poll repeats an exchange until the work has finished, or until the first failure. It makes progress if there is a
// response before that.
func poll[T any](
	ctx context.Context, o *Operation, a attempt, e endpoint[T],
	pauses func(observation) time.Duration, observe func(*T) (observation, bool),
) (value *T, progress bool, failure *Error) {
	for ; ; a, progress = firstAttempt, true {
		value, failure = exchange(ctx, o, e, a)
		var seen observation
		switch finished := false; {
		case failure == nil:
			if seen, finished = observe(value); finished {
				return value, progress, nil
			}
		case failure.kind == unready:
			seen.retryAfter = failure.retryAfter
		default:
			return nil, progress, failure
		}
		if cause := o.config.Clock.Sleep(ctx, o.beforeDeadline(ctx, pauses(seen))); cause != nil {
			interrupt := wrap(cause, ended)
			interrupt.Last = failure // says what was not ready
			return nil, true, interrupt
		}
	}
}

// pauses returns how long to wait after each poll of work that is polled from now on.
func (c *Client) pauses(every time.Duration) func(observation) time.Duration {
	schedule, began := schedule{interval: every}, c.config.Clock.Now()
	return func(seen observation) time.Duration {
		return schedule.next(c.config.Clock.Now().Sub(began), seen, c.config.Random())
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
