package client

import (
	"context"
	"time"
)

const (
	// NotFoundLimit is how long a service may return "not found" before the caller believes it. A service can be
	// eventually consistent: a job can be unknown right after its start, its bundle right after its completion, and
	// its archive right after that. Giving up too early would cost an export.
	NotFoundLimit = 30 * time.Second

	// DisturbanceLimit is how long any other failure may last that may pass by itself.
	DisturbanceLimit = 30 * time.Second
	// OutageLimit replaces it during an outage, for a wait that has succeeded before.
	OutageLimit = 5 * time.Minute
)

// limits are how long a streak of failures may last, by their kind, from the end of its first attempt to the sending
// of its last one. The longest limit of the kinds in a streak applies to all of it, but a kind without a limit ends
// it. A [throttled] attempt has no limit: its time does not count.
type limits [kindCount]time.Duration

var (
	// startLimits are for the start of an export, which is sent again only if the service certainly did not act on it.
	startLimits = limits{unconnected: DisturbanceLimit}
	// waitLimits are for a wait after its first success, whose failure may cost an hour of work.
	waitLimits = limits{
		unconnected: OutageLimit, temporary: OutageLimit, notFound: NotFoundLimit, refused: DisturbanceLimit,
	}
	// plainLimits are for everything else, so that a wrong URL fails soon.
	plainLimits = limits{
		unconnected: DisturbanceLimit, temporary: DisturbanceLimit, notFound: NotFoundLimit,
		linkRefused: DisturbanceLimit,
	}
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

// repeat calls try until it succeeds, a streak of failures reaches its limit, or ctx ends. Failures before an attempt
// that makes progress no longer count. The error is an [*Error].
func (c *Client) repeat(ctx context.Context, within limits, try func(attempt) (progress bool, err *Error)) error {
	var failures streak
	clock := c.config.Clock
	for next := (attempt{number: 1}); ; next.number++ {
		sent := clock.Now()
		progress, err := try(next)
		if err == nil {
			return nil
		}
		if progress {
			failures = streak{}
		}
		var pause time.Duration
		end := failures.add(err, within[err.kind], sent, clock.Now())
		if end == nil {
			pause, end = c.pauseAfter(ctx, failures)
		}
		if end == nil {
			_ = clock.Sleep(ctx, pause) // cut short if ctx ends
		}
		if ctx.Err() != nil { // whatever the streak was, this is why the call ends
			end = wrap(context.Cause(ctx), ended)
			if end.Last = failures.last; end.Last != nil {
				end.Reason = end.Last.Reason
			}
		}
		if end != nil {
			end.MayHaveActed = err.MayHaveActed
			if failures.attempts > 1 {
				end.Attempts, end.Elapsed = failures.attempts, clock.Now().Sub(failures.sent)
			}
			return end
		}
		next.fresh = err.kind != throttled
		if err.kind == throttled {
			failures.since = failures.since.Add(clock.Now().Sub(sent))
		}
	}
}

// streak is failed attempts in a row.
type streak struct {
	last     *Error
	attempts int
	sent     time.Time // when the first attempt was sent
	// The limit counts from the first failure that is not a 429. Each 429 after that moves since by its time.
	since time.Time
	limit time.Duration // the longest of the kinds
	kind  kind          // the first one but throttled
	mixed bool          // others followed
}

// add adds a failed attempt, with the limit of its kind. It returns the error of the call if the streak ends.
func (s *streak) add(err *Error, limit time.Duration, sent, now time.Time) *Error {
	if err.kind == ended {
		return err
	}
	if s.attempts++; s.attempts == 1 {
		s.sent = sent
	}
	s.last = err
	kind := err.kind
	switch kind {
	case throttled:
		return nil
	case unconnected: // no connection and a lost one are the same way to fail
		kind = temporary
	}
	if s.kind == none {
		s.since, s.kind = now, kind
	}
	s.limit, s.mixed = max(s.limit, limit), s.mixed || kind != s.kind
	switch {
	case limit == 0:
		return err
	case sent.Sub(s.since) < s.limit:
		return nil
	case s.mixed: // no single failure shows what is wrong
		return &Error{Text: "consecutive requests failed for different reasons", Reason: ReasonOutage, Last: err}
	}
	return err
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
