package client

import (
	"cmp"
	"context"
	"time"
)

const (
	firstBackoff     = time.Second
	maxBackoff       = 15 * time.Second
	throttledBackoff = 30 * time.Second // the maximum after a 429 without a Retry-After
	// maxRetryAfter caps the Retry-After of every response but a 429: one broken node may request hours.
	maxRetryAfter = time.Minute
	// lastAttempt is how long before the deadline the last attempt is made, if it would otherwise be made later.
	lastAttempt = 5 * time.Second
)

// attempt is one of the attempts of a call.
type attempt struct {
	number int // from 1
	// fresh means that it needs a connection of its own. One node of a service can fail while the others work, so this
	// is set after every failure but a 429.
	fresh bool
}

var firstAttempt = attempt{number: 1}

// repeat calls try until it succeeds, a streak of failures reaches its limit, or ctx ends. Failures before an attempt
// that makes progress no longer count. The limits are those after the attempt. The error is an [*Error].
func (c *Client) repeat(
	ctx context.Context, within *limits, try func(attempt) (progress bool, failure *Error),
) error {
	clock, failures := c.config.Clock, streak{}
	for next := firstAttempt; ; next = failures.next() {
		sent := clock.Now()
		progress, failure := try(next)
		if failure == nil {
			return nil
		}
		if failure.kind != throttled { // an idle connection may lead to the node that failed
			apiClient(c.config.RoundTripper).CloseIdleConnections()
		}
		if progress {
			failures = streak{}
		}
		responded, limit := clock.Now(), within[failure.kind]
		failures.add(failure, limit, sent, responded)
		if ctx.Err() != nil {
			return failures.interrupted(context.Cause(ctx), failure, responded)
		}
		if verdict := failures.verdict(limit, sent); verdict != nil {
			return failures.end(verdict, responded)
		}
		pause, tooLong := c.pauseAfter(ctx, failures)
		if tooLong != nil {
			return failures.end(tooLong, responded)
		}
		if cause := clock.Sleep(ctx, pause); cause != nil {
			return failures.interrupted(cause, failure, clock.Now())
		}
		if failure.kind == throttled {
			failures.since = failures.since.Add(clock.Now().Sub(sent))
		}
	}
}

// streak is failed attempts in a row.
type streak struct {
	last     *Error // nil if the context ended in the first attempt
	attempts int
	sent     time.Time // when the first attempt was sent
	// The limit counts from the first failure that is not a 429. Each 429 after that moves since by its time.
	since time.Time
	limit time.Duration // the longest of the kinds
	first kind          // the first one but throttled
	mixed bool          // others followed
}

// next returns the attempt that follows.
func (s *streak) next() attempt { return attempt{s.attempts + 1, s.last.kind != throttled} }

// add adds a failed attempt, with the limit of its kind.
func (s *streak) add(failure *Error, limit time.Duration, sent, responded time.Time) {
	if failure.kind == ended {
		return
	}
	if s.attempts++; s.attempts == 1 {
		s.sent = sent
	}
	s.last = failure
	way := failure.kind
	switch way {
	case throttled:
		return
	case unconnected: // no connection and a lost one are the same way to fail
		way = temporary
	}
	if s.first == none {
		s.since, s.first = responded, way
	}
	s.limit, s.mixed = max(s.limit, limit), s.mixed || way != s.first
}

// verdict returns the error of the call if the last attempt, with the limit of its kind, ends the streak, or nil.
func (s *streak) verdict(limit time.Duration, sent time.Time) *Error {
	switch {
	case s.last.kind == throttled:
		return nil
	case limit == 0:
		return s.last
	case sent.Sub(s.since) < s.limit:
		return nil
	case s.mixed: // no single failure shows what is wrong
		return &Error{Text: "consecutive requests failed for different reasons", Reason: ReasonOutage, Last: s.last}
	}
	return s.last
}

// interrupted returns the error of a call whose context has ended, during or after the attempt with the failure.
func (s *streak) interrupted(cause error, failure *Error, now time.Time) *Error {
	interrupt := wrap(cause, ended)
	if interrupt.Last = cmp.Or(failure.Last, s.last); interrupt.Last != nil {
		interrupt.Reason = interrupt.Last.Reason
	}
	interrupt.MayHaveActed, interrupt.SentAt = failure.MayHaveActed, failure.SentAt
	return s.end(interrupt, now)
}

// end adds what is known of the streak to the error of the call.
func (s *streak) end(failure *Error, now time.Time) *Error {
	if s.attempts > 1 {
		failure.Attempts, failure.Elapsed = s.attempts, now.Sub(s.sent)
	}
	return failure
}

// pauseAfter returns the pause after the last failure of a streak. If the service asks for one that ends after the
// deadline of ctx, it returns the error of the call.
func (c *Client) pauseAfter(ctx context.Context, s streak) (time.Duration, *Error) {
	switch {
	case s.last.kind != throttled:
		backoff := c.backoff(s.attempts, min(maxBackoff, s.limit/6))
		return c.beforeDeadline(ctx, max(backoff, min(s.last.retryAfter, maxRetryAfter))), nil
	case s.last.retryAfter == 0:
		return c.beforeDeadline(ctx, c.backoff(s.attempts, throttledBackoff)), nil
	}
	// An attempt before that time would be refused.
	deadline, bounded := ctx.Deadline()
	if bounded && !c.config.Clock.Now().Add(s.last.retryAfter).Before(deadline) {
		late := *s.last
		late.Text += ", after the timeout of this operation"
		return 0, &late
	}
	return s.last.retryAfter, nil
}

// backoff returns a pause that doubles with each failure. Half of it is random, so that many clients do not retry at
// the same time.
func (c *Client) backoff(failures int, longest time.Duration) time.Duration {
	return time.Duration((1 + c.config.Random()) / 2 * float64(min(longest, firstBackoff<<min(failures-1, 5))))
}

// beforeDeadline returns the pause, or a shorter one if the next attempt would miss the deadline of ctx or leave it
// too little time.
func (c *Client) beforeDeadline(ctx context.Context, pause time.Duration) time.Duration {
	deadline, bounded := ctx.Deadline()
	if remaining := deadline.Sub(c.config.Clock.Now()); bounded && remaining > lastAttempt {
		return min(pause, remaining-lastAttempt)
	}
	return pause
}
