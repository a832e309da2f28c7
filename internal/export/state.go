// Package export is the life of one static export in plain values: what is known of its jobs, which step an apply
// takes, and how each event changes what is known. It does not depend on Terraform.
package export

import (
	"cmp"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// State is what is stored of an export: a job with a link, a job without one, or both.
type State struct {
	// Current is the job whose link is in use; nil before the first link.
	Current *Job
	Link    Link // of Current
	// Next is a job without a link; nil if there is none. It takes the place of Current when it has a link. It stays
	// while the content of Current is wanted again, and a newer job replaces it.
	Next *Job
}

// Job is what is known of a job of the service.
type Job struct {
	ID        string
	Inputs    Inputs
	Status    string // "" if it was never read
	PageCount *int64
	Marks
}

// Marks are what is known of a job that the service does not return with it.
type Marks struct {
	// Imported is set from an import to the first link. Until then, only the domain is known of the inputs.
	Imported bool
	// Missing and BundleMissing mean that the service returned nothing but 404 or 410 for the job, or for its bundle,
	// for [client.NotFoundLimit]. Missing ends when the job is read, and both end with a link.
	Missing, BundleMissing bool
}

// Link is a link to a bundle.
type Link struct {
	URL       string
	ExpiresAt time.Time // in whole seconds; zero if it is not known
	Size      *int64    // of the bundle, in bytes
	// Kept means that the link was due before its expiry, and that its renewal did not change the expiry.
	Kept bool
}

// Wanted is what a plan wants of an export.
type Wanted struct {
	Inputs Inputs
	Known  bool // whether all inputs are known
	// RenewBefore is how long before its expiry a link is renewed, unless it is never renewed.
	RenewBefore time.Duration
	NeverRenew  bool
}

// Step is what an apply does. A plan promises what its step keeps: if the service does not find it, the apply fails.
type Step struct {
	Action Action
	// AsksAgain means that something of the job was missing. The step asks for it once more, and continues as Start if
	// it still is.
	AsksAgain bool
	// LinkStays means that the link is not renewed at any time, because a plan may be applied much later.
	LinkStays bool
}

// Action is what a step does.
type Action int

// The actions.
const (
	None   Action = iota // records changed arguments
	Renew                // renews the link of Current
	Resume               // waits for Next and creates its link
	Start                // starts a job, which becomes Next, and continues as Resume
)

// KeepsCurrent reports whether Current stays.
func (s Step) KeepsCurrent() bool { return s.Action == None || s.Action == Renew && !s.AsksAgain }

// MayStart reports whether a job may be started. If not, the latest job stays.
func (s Step) MayStart() bool { return s.Action == Start || s.AsksAgain }

// NextStep decides what an apply at the time now does. The plan, the apply, and the messages go by its result.
func (s *State) NextStep(wanted Wanted, now time.Time) Step {
	current, next := s.Current.has(wanted), s.Next.has(wanted) && !s.Next.Failed()
	switch {
	case current && (wanted.NeverRenew || !s.Current.gone() && !s.Due(now, wanted)):
		return Step{Action: None, LinkStays: !s.willBeDue(wanted)}
	case current && !s.Current.gone():
		return Step{Action: Renew}
	case next:
		return Step{Action: Resume, AsksAgain: s.Next.gone()}
	case current:
		return Step{Action: Renew, AsksAgain: true}
	}
	return Step{Action: Start}
}

// Due reports whether the link is due for renewal at the time now. A link that the service has kept is due only when
// it has expired.
func (s *State) Due(now time.Time, wanted Wanted) bool {
	lead := wanted.RenewBefore
	if s.Link.Kept {
		lead = 0
	}
	return s.willBeDue(wanted) && !now.Before(s.Link.ExpiresAt.Add(-lead))
}

// willBeDue reports whether the link will be due at some time. One without a known expiry never is.
func (s *State) willBeDue(wanted Wanted) bool {
	return s.Current != nil && !wanted.NeverRenew && !s.Link.ExpiresAt.IsZero()
}

// Refreshes returns the job that a refresh reads, or nil if its answer could change nothing that an apply does: a job
// without a link that has failed is replaced, and one whose link is never renewed stays.
func (s *State) Refreshes(neverRenew bool) *Job {
	if s.Current == nil && s.Next.Failed() || s.Current != nil && neverRenew {
		return nil
	}
	return s.Shown()
}

// Refresh records what the service returned about the shown job, or that it did not find the job. Any other error
// changes nothing.
func (s *State) Refresh(job *client.StaticExportJob, err error) {
	if err == nil {
		s.Shown().record(job)
	} else if client.IsNotFound(err) {
		s.Shown().Missing = true
	}
}

// Shown returns the job that users see: Current, or Next before the first link. It is nil if there is neither.
func (s *State) Shown() *Job { return cmp.Or(s.Current, s.Next) }

// Latest returns the job that was started or imported last: Next, or Current if there is none. It is nil if there is
// neither.
func (s *State) Latest() *Job { return cmp.Or(s.Next, s.Current) }

// Unfinished returns the job without a link that an apply may still resume, or nil.
func (s *State) Unfinished() *Job {
	if s.Next == nil || s.Next.Failed() {
		return nil
	}
	return s.Next
}

// has reports whether the job has the wanted inputs. Inputs that are not known yet differ from all. An imported job
// has whatever is wanted for its domain. j may be nil.
func (j *Job) has(wanted Wanted) bool {
	switch {
	case j == nil:
		return false
	case j.Imported:
		return j.Inputs.Domain == wanted.Inputs.Domain
	}
	return wanted.Known && j.Inputs == wanted.Inputs
}

// record records what the service returned about the job. It keeps what the service omits. The bundle of a job that was
// read may still be missing.
func (j *Job) record(job *client.StaticExportJob) {
	j.Missing = false
	j.Status = cmp.Or(job.Status, j.Status)
	j.PageCount = cmp.Or(job.PageCount, j.PageCount)
}

// Failed reports whether the job is known to have ended without a bundle.
func (j *Job) Failed() bool { return client.HasFailed(j.Status) }

// Completed reports whether the job is known to have completed, which is final.
func (j *Job) Completed() bool { return j.Status == client.JobCompleted }

// gone reports whether the job or its bundle was missing when it was last asked for.
func (j *Job) gone() bool { return j.Missing || j.BundleMissing }
