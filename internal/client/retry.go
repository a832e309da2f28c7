package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Patience selects how long a failing request is retried: see limits.
type Patience int

const (
	// Plain is for a request that can be made again later, and for a wait until its first
	// success, so that a wrong URL fails soon.
	Plain Patience = iota
	// Patient is for a request whose failure would lose an export: those for a job that the
	// caller started, and for its first link. Every wait is patient after its first success.
	Patient
	// starting is for the start of an export. It is sent again only if the service certainly
	// did not act on it.
	starting
)

// kind is what a failure says about another attempt.
type kind int

const (
	permanent   kind = iota // not about a response: another attempt would fail as well
	throttled               // a 429: only the deadline limits the retries
	unconnected             // no connection was made, so nothing was sent
	temporary               // the service or the network may be back soon
	notFound                // the service does not know what the request names
	linkRefused             // the object store refuses the link, or returns no bundle
	refused                 // any other response, and a server or proxy that cannot be used
	kindCount
)

// NotFoundLimit is how long a service may return "not found" before the provider believes it.
// A service can be eventually consistent: a job can be unknown right after its start, its bundle
// right after its completion, and its archive right after that. Giving up too early would cost an
// export, and Terraform would replace what depends on the job.
const NotFoundLimit = 30 * time.Second

const (
	disturbance = 30 * time.Second
	outage      = 5 * time.Minute
)

// limits holds how long a streak of failures may last, from the response to its first failure to
// the sending of its last attempt. The longest limit of the kinds in a streak applies to the
// whole streak, but a kind without a limit ends it. A [throttled] attempt needs no limit: its
// time does not count.
var limits = map[Patience][kindCount]time.Duration{
	starting: {unconnected: disturbance},
	Plain:    {unconnected: disturbance, temporary: disturbance, notFound: NotFoundLimit, linkRefused: disturbance},
	Patient:  {unconnected: outage, temporary: outage, notFound: NotFoundLimit, refused: disturbance},
}

const (
	firstBackoff     = time.Second
	maxBackoff       = 15 * time.Second
	throttledBackoff = 30 * time.Second // the maximum after a 429 without a Retry-After
	// maxRetryAfter caps the Retry-After of every response but a 429: one broken node may
	// request hours.
	maxRetryAfter = time.Minute
	// lastAttempt is how long before the deadline the last attempt is made, if it would
	// otherwise be made later.
	lastAttempt = 5 * time.Second
)

// GaveUpError reports that a call ended after failed attempts. An error of a single attempt that
// was not retried is returned as it is.
type GaveUpError struct {
	// Cause is why the call ended: the error of the last attempt, context.Cause(ctx), or an
	// error that only says that Outage is true or RetryAt is set.
	Cause error
	// Last is the error of the last attempt; never nil.
	Last     error
	Attempts int           // in the streak
	Elapsed  time.Duration // since the first of these attempts was sent
	// RetryAt is set only if the service asked for a wait that ends after the operation's
	// deadline.
	RetryAt time.Time
	// Outage means that the attempts failed in different ways, so no single one shows what is
	// wrong. Losing a connection and not getting one is the same way.
	Outage bool
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

// Unwrap returns Cause only, so [errors.AsType] finds Last only if it is the cause. In an outage,
// no caller can take the last "not found" for the reason.
func (e *GaveUpError) Unwrap() error { return e.Cause }

// failure is what the error of an attempt says about another attempt.
type failure struct {
	kind
	retryAfter time.Duration // that the service requests; zero for none
	// progress means that the attempt did part of the work, so the failures before it no
	// longer count.
	progress bool
}

// classify returns what an error of [Client.send] or [receiver.receive] says.
func classify(err error) failure {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		switch {
		case connection.Untrusted, connection.PlainHTTP, connection.ProxyStatus == http.StatusProxyAuthRequired:
			return failure{kind: refused}
		case connection.Sent:
			return failure{kind: temporary, progress: connection.Progress}
		}
		return failure{kind: unconnected}
	}
	if unexpected, ok := errors.AsType[*UnexpectedResponseError](err); ok {
		if unexpected.NotJSON {
			return failure{kind: temporary}
		}
		return failure{kind: refused} // unusable JSON breaks the contract, and probably will again
	}
	status, retryAfter := statusOf(err)
	_, ofStorage := errors.AsType[*StorageError](err)
	f := failure{kind: refused, retryAfter: retryAfter}
	switch {
	case status == 0:
		f.kind = permanent
	case status == http.StatusTooManyRequests:
		f.kind = throttled
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported:
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status >= 500:
		f.kind = temporary
	case IsNotFound(err):
		f.kind = notFound
	case ofStorage && status/100 != 3: // a store may return 403, or a page, for what it does not have yet
		f.kind = linkRefused
	}
	return f
}

// repeat calls attempt until it succeeds, a streak of failures reaches its limit, or ctx ends. It
// passes the network to use, and the number of the attempt, from 1.
//
// One node of a service can fail while the others work, so a retry opens a connection of its own,
// except after a 429, and closes what is idle, so that later calls may reach another node. A start
// never takes an idle connection: on one that the server has just closed, the failure looks as if
// the server may have received the request.
//
// The error is that of the attempt, or, if it was one of several or ctx ended after it, a
// [*GaveUpError]. If ctx ended during the first attempt, it is context.Cause(ctx).
func (c *Client) repeat(ctx context.Context, patience Patience, attempt func(over *network, number int) error) error {
	var s streak
	over := c.shared
	for number := 1; ; number++ {
		if patience == starting {
			over = c.separate
		}
		sent := c.config.Clock.Now()
		err := attempt(over, number)
		now := c.config.Clock.Now()
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
		s.add(err, sent)
		var pause time.Duration
		if f.kind == throttled {
			over, pause = c.shared, f.retryAfter // an earlier attempt would be refused
			if pause == 0 {
				pause = c.beforeDeadline(ctx, c.backoff(s.attempts, throttledBackoff))
			} else if c.endsWithin(ctx, pause) {
				return s.end(busyError(now.Add(pause)), now)
			}
			s.exclude(now.Sub(sent) + pause)
		} else {
			if cause := s.count(f.kind, limits[patience][f.kind], sent, now); cause != nil {
				return s.end(cause, now)
			}
			over, pause = c.separate, max(c.backoff(s.attempts, min(maxBackoff, s.limit/6)), min(f.retryAfter, maxRetryAfter))
			pause = c.beforeDeadline(ctx, pause)
			c.shared.api.CloseIdleConnections() // those of the object store, too
		}
		if cause := c.config.Clock.Sleep(ctx, pause); cause != nil {
			return s.end(cause, c.config.Clock.Now())
		}
	}
}

// streak describes failed attempts in a row. It has one clock.
type streak struct {
	last     error
	attempts int
	sent     time.Time // the first attempt

	// The rest leaves out throttled attempts, which no limit counts.
	since time.Time     // the first response, moved by the time that does not count
	limit time.Duration // the longest of the kinds
	kind  kind          // of the first one; unconnected counts as temporary, the same outage
	mixed bool          // others followed
}

// add adds a failed attempt that was sent at the given time.
func (s *streak) add(err error, sent time.Time) {
	if s.attempts == 0 {
		s.sent = sent
	}
	s.last = err
	s.attempts++
}

// count counts the failure that was added last, with the limit of its kind, on the clock. It
// returns why the failure ends the streak, or nil.
func (s *streak) count(kind kind, limit time.Duration, sent, now time.Time) error {
	if kind == unconnected {
		kind = temporary
	}
	if s.since.IsZero() {
		s.since, s.kind = now, kind
	}
	s.limit, s.mixed = max(s.limit, limit), s.mixed || kind != s.kind
	switch {
	case limit > 0 && sent.Sub(s.since) < s.limit:
		return nil
	case limit > 0 && s.mixed:
		return errOutage
	}
	return s.last
}

// exclude moves the clock by a time that does not count.
func (s *streak) exclude(d time.Duration) {
	if !s.since.IsZero() {
		s.since = s.since.Add(d)
	}
}

// errOutage ends a streak of failures of several kinds.
var errOutage = errors.New("consecutive requests failed for different reasons")

// busyError is when the service accepts the next attempt.
type busyError time.Time

func (e busyError) Error() string {
	return fmt.Sprintf("the service will not accept another attempt until %s, which is after this operation's timeout", time.Time(e).UTC().Format(time.RFC3339))
}

// end returns the error of a call that ends for a cause.
func (s *streak) end(cause error, now time.Time) error {
	if s.attempts == 0 || s.attempts == 1 && errors.Is(cause, s.last) {
		return cause
	}
	busy, _ := errors.AsType[busyError](cause)
	return &GaveUpError{cause, s.last, s.attempts, now.Sub(s.sent), time.Time(busy), errors.Is(cause, errOutage)}
}

// backoff returns a pause that doubles with each failure. Half of it is random, so that many
// clients do not retry at the same time.
func (c *Client) backoff(failures int, longest time.Duration) time.Duration {
	return time.Duration((1 + c.config.Random()) / 2 * float64(min(longest, firstBackoff<<min(failures-1, 5))))
}

// endsWithin reports whether the operation ends before a pause is over. After an interrupt, that
// is the reason instead.
func (c *Client) endsWithin(ctx context.Context, pause time.Duration) bool {
	deadline, bounded := c.config.Clock.Deadline(ctx)
	return bounded && ctx.Err() == nil && pause >= deadline.Sub(c.config.Clock.Now())
}

// beforeDeadline returns the pause, or a shorter one if the next attempt would miss the
// deadline of ctx or leave it too little time.
func (c *Client) beforeDeadline(ctx context.Context, pause time.Duration) time.Duration {
	if deadline, bounded := c.config.Clock.Deadline(ctx); bounded {
		if left := deadline.Sub(c.config.Clock.Now()); left > lastAttempt {
			return min(pause, left-lastAttempt)
		}
	}
	return pause
}
