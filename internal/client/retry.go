package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Patience selects how long a failing request is retried: see limits.
type Patience int

const (
	// Plain is for a request that can be made again later, and for a wait until its first success, so that a wrong
	// URL fails soon.
	Plain Patience = iota
	// Patient is for a request whose failure would lose an export: those for a job that the caller started, and for
	// its first link. Every wait is patient after its first success.
	Patient
	// starting is for the start of an export. It is sent again only if the service certainly did not act on it.
	starting
)

const (
	// NotFoundLimit is how long a service may return "not found" before the provider believes it. A service can be
	// eventually consistent: a job can be unknown right after its start, its bundle right after its completion, and
	// its archive right after that. Giving up too early would cost an export, and Terraform would replace what
	// depends on the job.
	NotFoundLimit = 30 * time.Second

	// DisturbanceLimit is how long any other failure may last that may pass by itself.
	DisturbanceLimit = 30 * time.Second
	// OutageLimit replaces it during an outage, for an export that the caller has started.
	OutageLimit = 5 * time.Minute
)

// limits holds how long a streak of failures may last, from the end of its first attempt to the sending of its last
// one. The longest limit of the kinds in a streak applies to all of it, but a kind without a limit ends it.
// A [throttled] attempt has no limit: its time does not count.
var limits = map[Patience][kindCount]time.Duration{
	starting: {unconnected: DisturbanceLimit},
	Plain: {
		unconnected: DisturbanceLimit, temporary: DisturbanceLimit, notFound: NotFoundLimit,
		linkRefused: DisturbanceLimit,
	},
	Patient: {
		unconnected: OutageLimit, temporary: OutageLimit, notFound: NotFoundLimit,
		refused: DisturbanceLimit,
	},
}

const (
	firstBackoff     = time.Second
	maxBackoff       = 15 * time.Second
	throttledBackoff = 30 * time.Second // the maximum after a 429 without a Retry-After
	// maxRetryAfter caps the Retry-After of every response but a 429: one broken node may request hours.
	maxRetryAfter = time.Minute
	// lastAttempt is how long before the deadline the last attempt is made, if it would otherwise be made later.
	lastAttempt = 5 * time.Second
)

// GaveUpError reports that a call ended after failed attempts. The error of a single attempt that may not be retried
// is returned as it is.
type GaveUpError struct {
	// Cause is why the call ended: the error of the last attempt, context.Cause(ctx), [ErrOutage], or a [*BusyError].
	// Only Cause is unwrapped, so in an outage, no caller takes the last "not found" for the reason.
	Cause    error
	Last     error         // of the last attempt; never nil
	Attempts int           // in the streak
	Elapsed  time.Duration // since the first of these attempts was sent
}

func (e *GaveUpError) Error() string {
	text := e.Cause.Error()
	if !errors.Is(e.Cause, e.Last) {
		text += "; the last attempt: " + e.Last.Error()
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (%d attempts in %s)", e.Attempts, e.Elapsed.Round(time.Second))
	}
	return text
}

func (e *GaveUpError) Unwrap() error { return e.Cause }

// ErrOutage means that attempts failed in different ways, so no single one shows what is wrong. No connection and a
// lost one are the same way.
var ErrOutage = errors.New("consecutive requests failed for different reasons")

// BusyError reports that the service asked for a wait that ends after the operation's deadline.
type BusyError struct{ RetryAt time.Time }

func (e *BusyError) Error() string {
	at := e.RetryAt.UTC().Format(time.RFC3339)
	return "the service accepts no request before " + at + ", after this operation's timeout"
}

// attempt is one of the attempts of a call.
type attempt struct {
	number int  // from 1
	alone  bool // it opens a connection of its own
}

// repeat calls try until it succeeds, a streak of failures reaches its limit, or ctx ends.
//
// One node of a service can fail while the others work, so a retry opens a connection of its own, except after a 429.
// After a failure of the node itself, repeat also closes what is idle, so that later calls may reach another node. A
// start never takes an idle connection: on one that the server has just closed, the failure looks as if the server
// may have received the request.
//
// The error is that of a single attempt, a [*GaveUpError], or, if ctx ended during the first attempt,
// context.Cause(ctx).
func (c *Client) repeat(ctx context.Context, patience Patience, try func(attempt) error) error {
	var s streak
	clock := c.config.Clock
	next := attempt{alone: patience == starting}
	for {
		next.number++
		sent := clock.Now()
		err := try(next)
		now := clock.Now()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, context.Cause(ctx)):
			return s.end(err, now)
		}
		f := classify(err)
		if f.progress {
			s = streak{}
		}
		if cause := s.add(err, f.kind, limits[patience][f.kind], sent, now); cause != nil {
			return s.end(cause, now)
		}
		pause, cause := c.pauseAfter(ctx, f, s)
		if cause != nil {
			return s.end(cause, now)
		}
		next.alone = patience == starting || f.kind != throttled
		switch f.kind {
		case throttled:
			s.postpone(now.Sub(sent) + pause)
		case temporary:
			c.shared.api.CloseIdleConnections() // those of the object store, too
		}
		if cause := clock.Sleep(ctx, pause); cause != nil {
			return s.end(cause, clock.Now())
		}
	}
}

// pauseAfter returns the pause after a failure, the last one of a streak. If the service asks for one that ends after
// the deadline of ctx, the error is a [*BusyError].
func (c *Client) pauseAfter(ctx context.Context, f failure, s streak) (time.Duration, error) {
	switch {
	case f.kind != throttled:
		backoff := c.backoff(s.attempts, min(maxBackoff, s.limit/6))
		return c.beforeDeadline(ctx, max(backoff, min(f.retryAfter, maxRetryAfter))), nil
	case f.retryAfter == 0:
		return c.beforeDeadline(ctx, c.backoff(s.attempts, throttledBackoff)), nil
	}
	retryAt := c.config.Clock.Now().Add(f.retryAfter) // an attempt before that time would be refused
	if deadline, bounded := c.config.Clock.Deadline(ctx); bounded && ctx.Err() == nil && !retryAt.Before(deadline) {
		return 0, &BusyError{retryAt}
	}
	return f.retryAfter, nil
}

// streak is failed attempts in a row. It has one clock, which a throttled attempt moves.
type streak struct {
	last     error
	attempts int
	sent     time.Time     // when the first attempt was sent
	since    time.Time     // when its clock began: at the first response but a 429
	limit    time.Duration // the longest of its kinds
	kind     kind          // the first one
	mixed    bool          // others followed
}

// add adds a failed attempt, with the limit of its kind. It returns why the streak ends, or nil.
func (s *streak) add(err error, kind kind, limit time.Duration, sent, now time.Time) (cause error) {
	if s.attempts++; s.attempts == 1 {
		s.sent = sent
	}
	s.last = err
	switch kind {
	case throttled:
		return nil
	case unconnected:
		kind = temporary
	}
	if s.since.IsZero() {
		s.since, s.kind = now, kind
	}
	s.limit, s.mixed = max(s.limit, limit), s.mixed || kind != s.kind
	switch {
	case limit == 0:
		return err
	case sent.Sub(s.since) < s.limit:
		return nil
	case s.mixed:
		return ErrOutage
	}
	return err
}

// postpone moves the clock by the time that a throttled attempt and the pause after it take.
func (s *streak) postpone(by time.Duration) {
	if !s.since.IsZero() {
		s.since = s.since.Add(by)
	}
}

// end returns the error of a call that ends for a cause.
func (s *streak) end(cause error, now time.Time) error {
	if s.attempts == 0 || s.attempts == 1 && errors.Is(cause, s.last) {
		return cause
	}
	return &GaveUpError{Cause: cause, Last: s.last, Attempts: s.attempts, Elapsed: now.Sub(s.sent)}
}

// backoff returns a pause that doubles with each failure. Half of it is random, so that many clients do not retry at
// the same time.
func (c *Client) backoff(failures int, longest time.Duration) time.Duration {
	return time.Duration((1 + c.config.Random()) / 2 * float64(min(longest, firstBackoff<<min(failures-1, 5))))
}

// beforeDeadline returns the pause, or a shorter one if the next attempt would miss the deadline of ctx or leave it
// too little time.
func (c *Client) beforeDeadline(ctx context.Context, pause time.Duration) time.Duration {
	deadline, bounded := c.config.Clock.Deadline(ctx)
	if left := deadline.Sub(c.config.Clock.Now()); bounded && left > lastAttempt {
		return min(pause, left-lastAttempt)
	}
	return pause
}
