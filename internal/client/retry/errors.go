// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package retry

import (
	"fmt"
	"time"
)

// BusyError reports that the service asked for a wait that ends after the operation's
// timeout.
type BusyError struct {
	// RetryAt is when the service accepts the next attempt.
	RetryAt time.Time
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the service will not accept another attempt until %s, which is after this operation's timeout", e.RetryAt.UTC().Format(time.RFC3339))
}

// EndedError reports a loop that was ended after an attempt had failed. It is an error like
// its Cause alone: [errors.Is] and [errors.AsType] do not look at Last.
type EndedError struct {
	// Cause is why it ended: context.Cause(ctx) or a [*BusyError].
	Cause error
	// Last is the error of the last attempt; never nil.
	Last error
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("%v; the last attempt: %v", e.Cause, e.Last)
}

func (e *EndedError) Unwrap() error { return e.Cause }

// ended returns the error of a loop that was ended; last is nil after a success.
func ended(cause, last error) error {
	if last == nil {
		return cause
	}
	return &EndedError{Cause: cause, Last: last}
}
