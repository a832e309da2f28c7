package client

import (
	"context"
	"log/slog"
	"time"
)

// call repeats an exchange within the limits of its failures, and returns what it read.
func call[T any](ctx context.Context, o *Operation, e endpoint[T]) (value *T, err error) {
	within := &o.within
	if e.once {
		within = &startLimits
	}
	err = o.repeat(ctx, within, func(a attempt) (progress bool, failure *Error) {
		value, failure = exchange(ctx, o, e, a)
		return false, failure
	})
	return value, err
}

// final observes a result, which is finished when it is there.
func final[T any](*T) (observation, bool) { return observation{}, true }

// wait polls work until it has finished, within the limits of failures, and returns what it read last, or nil. observe
// returns what a poll saw of the work, and whether the work has finished.
func wait[T any](
	ctx context.Context, o *Operation, e endpoint[T], every time.Duration, observe func(*T) (observation, bool),
) (last *T, err error) {
	pauses := o.pauses(every)
	err = o.repeat(ctx, &o.within, func(a attempt) (bool, *Error) {
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
	for {
		value, failure = exchange(ctx, o, e, a)
		if failure != nil && failure.kind != unready {
			return nil, progress, failure
		}
		seen, finished := observation{}, false
		if failure != nil {
			seen.retryAfter = failure.retryAfter
		} else if seen, finished = observe(value); finished {
			return value, progress, nil
		}
		if cause := o.config.Clock.Sleep(ctx, o.beforeDeadline(ctx, pauses(seen))); cause != nil {
			interrupt := wrap(cause, ended)
			interrupt.Last = failure // says what was not ready
			return nil, true, interrupt
		}
		a, progress = firstAttempt, true
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
