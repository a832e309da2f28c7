package client

import "slices"

// failedStatuses are the statuses of a job or an update that has ended without a result. The contract names the first
// two, and leaves its lists open: a job that somebody cancels, for example, would otherwise seem to run forever.
var failedStatuses = []string{
	"failed", "failure", "error", "cancelled", "canceled", "aborted", "terminated", "expired", "timed_out",
}

// HasFailed reports whether a status of a job or an update means that it has ended without a result.
func HasFailed(status string) bool { return slices.Contains(failedStatuses, status) }
