package client

import "fmt"

// Error is why a call failed.
type Error struct{ Reason Reason }

func (e *Error) Error() string { return fmt.Sprint(e.Reason) }
