package provider

import (
	"slices"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// exportLife is what Terraform stores about an export. After it was read, only the methods in this file change it,
// each for one event, and they decide what to do next. It is read and stored as a whole: see
// static_export_store.go.
type exportLife struct {
	// Attributes in the state:
	JobID     string
	Status    string // "" if the service has not returned one
	PageCount *int64 // nil if the service has not returned it
	Link      exportLink
	// Inputs are the arguments that the job was started with, or that an import assumed.
	Inputs exportInputs

	exportNotes
}

// exportLink is a presigned link. Its URL is "" if there is none.
type exportLink struct {
	URL       string
	ExpiresAt time.Time // zero if it is not known
	SizeBytes *int64    // nil if the service has not returned it
}

// exportNotes is the private state of an export.
type exportNotes struct {
	// Imported is set from an import to the first update after it. Until then, only the domain
	// of the job may be known, and the update adopts the other inputs without a new job.
	Imported bool `json:"imported,omitempty"`
	// Unfinished is set from a create that ended without a link until there is one, or until
	// its job is known to have failed. Terraform taints the resource after an error, and also
	// after an interruption if it has a provisioner, and replaces it without asking.
	Unfinished bool `json:"unfinished,omitempty"`
	// JobMissing and BundleMissing mean that the service could not find the job or its bundle
	// for [client.NotFoundLimit].
	JobMissing    bool `json:"job_missing,omitempty"`
	BundleMissing bool `json:"bundle_missing,omitempty"`
	// LinkReceivedAt is zero if it is not known.
	LinkReceivedAt time.Time `json:"link_received_at,omitzero"`
	// KeptWith is the renew_before at which a renewal last returned the earlier expiry: the service
	// creates a new link only after the earlier one has expired. Zero if none did.
	KeptWith time.Duration `json:"kept_with,omitempty"`
	// Pending is a job that was started for other inputs, and that has no link yet. It is
	// kept until it has a link, fails, or is replaced by a newer job.
	Pending *pendingJob `json:"pending,omitempty"`
	// Lost is set, until the next job starts, if the private state is missing or cannot be decoded.
	// Every apply stores one, but Terraform drops it if the provider is killed during an update.
	// Imported and Pending may have been in it.
	Lost bool `json:"lost,omitempty"`
}

// pendingJob is a job that an apply with the same inputs resumes.
type pendingJob struct {
	JobID  string       `json:"job_id"`
	Inputs exportInputs `json:"inputs"`
}

// newLife returns the life of a job that was just started.
func newLife(job *client.StaticExportJob) *exportLife {
	life := &exportLife{JobID: job.ID}
	life.jobRead(job)
	return life
}

// importedLife returns the life of a job that was just imported.
func importedLife(job *client.StaticExportJob) *exportLife {
	life := newLife(job)
	life.Imported = true
	return life
}

// jobRead records what the service returned about the job; nil if the job was not read. It
// keeps what the service omits. The bundle of a job that was read may still be missing.
func (l *exportLife) jobRead(job *client.StaticExportJob) {
	if job == nil {
		return
	}
	l.JobMissing = false
	if job.Status != "" {
		l.Status = job.Status
	}
	if job.PageCount != nil {
		l.PageCount = job.PageCount
	}
	if l.Status == client.JobFailed {
		l.Unfinished = false
	}
}

// jobNotFound records that the service could not find the job.
func (l *exportLife) jobNotFound() { l.JobMissing = true }

// bundleNotFound records that the service could not find the bundle of the job.
func (l *exportLife) bundleNotFound() { l.BundleMissing = true }

// createEnded records a create that ended without a link.
func (l *exportLife) createEnded() { l.Unfinished = l.Status != client.JobFailed }

// linkCreated records a link to the bundle of the job, requested for a goal. kept reports whether it
// shows for the first time that an early renewal does not extend the expiry.
func (l *exportLife) linkCreated(bundle *client.Bundle, goal exportGoal, now time.Time) (kept bool) {
	link := exportLink{URL: bundle.URL, ExpiresAt: bundle.ExpiresAt.Truncate(time.Second), SizeBytes: bundle.SizeBytes}
	early := now.Before(l.Link.ExpiresAt) && !now.Before(l.Link.ExpiresAt.Add(-goal.renewBefore)) // as renew_before asks
	kept = early && link.ExpiresAt.Equal(l.Link.ExpiresAt) && l.KeptWith != goal.renewBefore
	if kept {
		l.KeptWith = goal.renewBefore
	}
	if !link.ExpiresAt.Equal(l.Link.ExpiresAt) {
		l.LinkReceivedAt = now // not if the service returned the earlier link, which is older
	}
	l.Link, l.BundleMissing, l.Unfinished = link, false, false
	return kept
}

// pendingStarted records a job for the given inputs. The job and its link stay.
func (l *exportLife) pendingStarted(job *client.StaticExportJob, inputs exportInputs) {
	l.Pending, l.Lost = &pendingJob{JobID: job.ID, Inputs: inputs}, false
}

// pendingEnded forgets the pending job, which failed, or is gone and no longer needed.
func (l *exportLife) pendingEnded() { l.Pending = nil }

// pendingCompleted makes the pending job, as it was last read, the job. What is known about
// the service's links stays.
func (l *exportLife) pendingCompleted(job *client.StaticExportJob, bundle *client.Bundle, goal exportGoal, now time.Time) {
	next := newLife(job)
	next.Inputs, next.KeptWith = l.Pending.Inputs, l.KeptWith
	next.linkCreated(bundle, goal, now)
	*l = *next
}

// updated records that the inputs of the plan are now those of the job.
func (l *exportLife) updated() { l.Imported = false }

// exportStep is a step of an apply of an existing export.
type exportStep string

const (
	// stepResume waits for the pending job and makes it the job.
	stepResume exportStep = "resume"
	// stepLink creates a link for the job, after waiting for it if it still runs.
	stepLink exportStep = "link"
	// stepStart starts another job, waits for it, and makes it the job.
	stepStart exportStep = "start"
)

// exportSteps are a step of an apply and its fallbacks. An apply takes a fallback only if the service
// could not find the job or the bundle of the step before it. Without steps, it only records changed
// arguments.
type exportSteps []exportStep

// mayChangeJob reports whether the steps may replace the job: by another one or the pending one.
func (s exportSteps) mayChangeJob() bool {
	return slices.ContainsFunc(s, func(step exportStep) bool { return step != stepLink })
}

// nextSteps decides what an apply does. due reports whether the link is due then. ModifyPlan and
// Update both call it.
func (l *exportLife) nextSteps(goal exportGoal, due bool) (steps exportSteps) {
	differs, failed, needsLink := l.differs(goal), l.Status == client.JobFailed, due || l.Link.URL == ""
	if differs || l.JobMissing || l.BundleMissing || needsLink && failed {
		if l.resumes(goal) {
			steps = append(steps, stepResume)
		}
		if !differs && !l.JobMissing && !failed {
			steps = append(steps, stepLink) // no refresh has asked for the bundle since it was missing
		}
		return append(steps, stepStart)
	}
	if needsLink {
		steps = exportSteps{stepLink}
	}
	return steps
}

// differs reports whether the plan requires other content than the job has. Inputs that are
// not known yet differ. An imported job differs only if its domain is known.
func (l *exportLife) differs(goal exportGoal) bool {
	if l.Imported {
		return l.Inputs.Domain != "" && l.Inputs.Domain != goal.inputs.Domain
	}
	return !goal.wants(l.Inputs)
}

// adopts reports whether an update of an imported job records inputs that the state does
// not have.
func (l *exportLife) adopts(goal exportGoal) bool {
	return l.Imported && !goal.wants(exportInputs{Domain: goal.inputs.Domain, Triggers: "{}", Parameters: "{}"})
}

// resumes reports whether an export resumes the pending job.
func (l *exportLife) resumes(goal exportGoal) bool {
	return l.Pending != nil && goal.wants(l.Pending.Inputs)
}

// completed reports whether the job is known to have completed. A job that has had a link
// has completed, regardless of its present status.
func (l *exportLife) completed() bool {
	return l.Status == client.JobCompleted || l.Link.URL != ""
}

// abandoned returns the IDs of the unfinished jobs that a new export does not resume. If the
// inputs are not known yet, they may turn out to be those of such a job.
func (l *exportLife) abandoned(goal exportGoal) []string {
	var jobs []string
	imported := l.Imported || l.Lost // or it may have been
	if l.differs(goal) && l.Link.URL == "" && l.Status != client.JobFailed && !imported {
		jobs = append(jobs, l.JobID)
	}
	if l.Pending != nil && !l.resumes(goal) {
		jobs = append(jobs, l.Pending.JobID)
	}
	return jobs
}

// linkDue reports whether the link must be renewed at the time now: renewBefore ahead of its
// expiry.
func (l *exportLife) linkDue(now time.Time, goal exportGoal) bool {
	lead, _ := l.lead(goal.renewBefore)
	return l.linkWillBeDue(goal) && !now.Before(l.Link.ExpiresAt.Add(-lead))
}

// linkWillBeDue reports whether the link must be renewed at some time. One without a known expiry
// never is.
func (l *exportLife) linkWillBeDue(goal exportGoal) bool {
	return !goal.neverRenew && !l.Link.ExpiresAt.IsZero()
}

// lead returns how long before its expiry the link is renewed. It is zero if the service
// keeps its links, because an earlier request returns the same link. If renewBefore is not
// shorter than the link's lifetime, every new link would be due at once, so the lead is
// clamped to half the lifetime.
func (l *exportLife) lead(renewBefore time.Duration) (lead time.Duration, clamped bool) {
	lifetime := l.Link.ExpiresAt.Sub(l.LinkReceivedAt)
	switch {
	case l.KeptWith > 0 && l.KeptWith == renewBefore:
		return 0, false
	case !l.LinkReceivedAt.IsZero() && renewBefore >= lifetime:
		return max(0, lifetime/2), true
	}
	return renewBefore, false
}
