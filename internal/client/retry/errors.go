package retry

import (
	"errors"
	"fmt"
	"time"
)

// ErrMixed ends a streak of failures of several kinds, none of which lasted long enough to show
// what is wrong.
var ErrMixed = errors.New("consecutive requests failed for different reasons")

// BusyError reports that the service asked for a wait that ends after the operation's
// timeout.
type BusyError struct {
	// RetryAt is when the service accepts the next attempt.
	RetryAt time.Time
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the service will not accept another attempt until %s, which is after this operation's timeout", e.RetryAt.UTC().Format(time.RFC3339))
}

// EndedError reports the end of a loop after failed attempts in a row. It unwraps to Cause
// only, so [errors.Is] and [errors.AsType] find Last only if it is the cause.
type EndedError struct {
	// Cause is why the loop ended: the error of the last attempt, [ErrMixed],
	// context.Cause(ctx), or a [*BusyError].
	Cause error
	// Last is the error of the last attempt; never nil.
	Last     error
	Attempts int           // in the streak
	Elapsed  time.Duration // since the first of these attempts was sent
}

func (e *EndedError) Error() string {
	text := e.Cause.Error()
	if !errors.Is(e.Cause, e.Last) {
		text += "; the last attempt: " + e.Last.Error()
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (%d attempts in %s)", e.Attempts, e.Elapsed.Round(time.Second))
	}
	return text
}

func (e *EndedError) Unwrap() error { return e.Cause }
