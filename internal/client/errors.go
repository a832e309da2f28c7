package client

import (
	"errors"
	"fmt"
	"time"
)

// Error is why a call failed.
type Error struct {
	// Text says what happened: a clause without a period, redacted, that a message can print as it is.
	Text   string
	Reason Reason // if the context of the call ended, that of Last
	// MayHaveActed means that the service may have acted on the last request, which was sent at SentAt.
	MayHaveActed bool
	SentAt       time.Time
	// Attempts is the number of failed attempts, and Elapsed the time since the first of them was sent. They are zero
	// after a single attempt. In a download, progress starts a new count.
	Attempts int
	Elapsed  time.Duration
	// Last is the last failed attempt, if the call ended for another reason than that one: its context ended, or the
	// attempts failed in different ways.
	Last *Error

	cause      error // of the end of a context, or the error of a destination
	kind       kind
	retryAfter time.Duration // how long the service asks to wait; zero if it does not ask
}

func (e *Error) Error() string {
	text := e.Text
	if e.Last != nil {
		text += "; in the last attempt, " + e.Last.Text
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (%d attempts over %s)", e.Attempts, e.Elapsed.Round(time.Second))
	}
	return text
}

// Unwrap returns context.Cause(ctx) if the context of the call ended, and the error of a destination. It does not
// return Last, so no caller takes a response for the reason.
func (e *Error) Unwrap() error { return e.cause }

// newError returns the error of a failure that means something.
func newError(text string, means meaning) *Error {
	return &Error{Text: text, Reason: means.reason, kind: means.kind, MayHaveActed: means.acted}
}

// wrap returns the error of a failure that an error is the cause of: the end of a context, or a destination.
func wrap(cause error, kind kind) *Error {
	return &Error{Text: cause.Error(), kind: kind, cause: cause}
}

// ReasonOf returns why a call failed, for advice.
func ReasonOf(err error) Reason {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure.Reason
	}
	return ReasonNone
}

// IsNotFound reports whether err is a response that says that the job, bundle, or update does not exist, or no longer
// exists. The response must come from the API, so its body must not be a web page.
func IsNotFound(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.Reason == ReasonNotFound && failure.Last == nil
}

// MayHaveStarted reports whether [Operation.StartStaticExport] may have started a job even though it failed with err,
// and when that request was sent.
func MayHaveStarted(err error) (sentAt time.Time, may bool) {
	failure, ok := errors.AsType[*Error](err)
	if !ok || !failure.MayHaveActed {
		return time.Time{}, false
	}
	return failure.SentAt, true
}
