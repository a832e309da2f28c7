package client

import (
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
)

// NotFoundLimit is how long a service may return "not found" before the provider believes it.
// A service can be eventually consistent: a job can be unknown right after its start, its bundle
// right after its completion, and its archive right after that. Giving up too early would cost an
// export, and Terraform would replace what depends on the job.
const NotFoundLimit = 30 * time.Second

// The limits of the rules.
const (
	retries   = retry.Counted // MaxRetries
	tolerance = retry.Limit(NotFoundLimit)
	outage    = retry.Limit(5 * time.Minute)
)

// The rules for failed requests. A failure of a kind that a rule does not name ends the call.
var (
	// plainRule is for a request that can be made again later, and for a wait until its first
	// success, so that a wrong URL fails soon.
	plainRule = retry.Rule{retry.Unconnected: retries, retry.Temporary: retries, retry.NotFound: tolerance}
	// startRule is for the start of an export, which must not be sent again if the service may
	// have received it.
	startRule = retry.Rule{retry.Unconnected: retries}
	// patientRule is for requests whose failure loses an export: those for a job that the
	// caller started, and for its first link. It also applies to any wait after its first success.
	patientRule = retry.Rule{retry.Unconnected: outage, retry.Temporary: outage, retry.NotFound: tolerance, retry.Other: tolerance}
)

// Patience says which failures a call repeats, and for how long.
type Patience int

const (
	// Plain is for a request that can be made again later.
	Plain Patience = iota
	// Patient is for a request whose failure loses an export.
	Patient
)

func (p Patience) rule() retry.Rule {
	if p == Patient {
		return patientRule
	}
	return plainRule
}
