// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// exportLife is what Terraform stores about an export: what has the tag "-" in attributes,
// the rest in the private state. Only the methods in this file change it, each for one
// event, and they decide what to do next. It is read and stored as a whole: see
// static_export_store.go.
type exportLife struct {
	JobID string `json:"-"`
	// Status is "" if the service has not returned one.
	Status string `json:"-"`
	// PageCount is nil if the service has not returned it.
	PageCount *int64 `json:"-"`
	// Inputs are those in the state, which the job was started with unless it is Imported.
	Inputs exportInputs `json:"-"`
	// Imported is set from an import to the first update after it, which adopts the
	// configured inputs without a new job.
	Imported bool `json:"imported,omitempty"`
	// Unfinished is set from a create that ended without a link until there is one, or until
	// its job is known to have failed. Terraform taints such a resource, at the latest if it
	// has a provisioner, and replaces it without asking.
	Unfinished bool `json:"unfinished,omitempty"`
	// JobMissing and BundleMissing mean that the service could not find the job or its
	// bundle when it was last asked.
	JobMissing    bool       `json:"job_missing,omitempty"`
	BundleMissing bool       `json:"bundle_missing,omitempty"`
	Link          exportLink `json:"link"`
	// Pending is a job that was started for other inputs, and that has no link yet. It is
	// kept until it has one, fails, or is replaced by a newer job.
	Pending *pendingJob `json:"pending,omitempty"`
}

// exportLink is a presigned link. Its URL is "" if there is none.
type exportLink struct {
	URL string `json:"-"`
	// ExpiresAt is zero if it is not known.
	ExpiresAt time.Time `json:"-"`
	// SizeBytes is nil if the service has not returned it.
	SizeBytes *int64 `json:"-"`
	// ReceivedAt is zero if it is not known.
	ReceivedAt time.Time `json:"received_at,omitzero"`
	// Kept means that the service returned the same link when the provider requested a new
	// one early: it returns a new link only after the old one has expired.
	Kept bool `json:"kept,omitempty"`
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

// linkCreated records a link to the bundle of the job.
func (l *exportLife) linkCreated(bundle *client.Bundle, now time.Time) {
	link := exportLink{URL: bundle.URL, ExpiresAt: bundle.ExpiresAt.Truncate(time.Second), SizeBytes: bundle.SizeBytes, ReceivedAt: now}
	if !link.ExpiresAt.IsZero() && link.ExpiresAt.Equal(l.Link.ExpiresAt) {
		link.Kept = true
	}
	l.Link, l.BundleMissing, l.Unfinished = link, false, false
}

// pendingStarted records a job for the given inputs. The job and its link stay.
func (l *exportLife) pendingStarted(job *client.StaticExportJob, inputs exportInputs) {
	l.Pending = &pendingJob{JobID: job.ID, Inputs: inputs}
}

// pendingFailed forgets the pending job.
func (l *exportLife) pendingFailed() { l.Pending = nil }

// pendingCompleted makes the pending job the job.
func (l *exportLife) pendingCompleted(job *client.StaticExportJob, bundle *client.Bundle, now time.Time) {
	*l = *newLife(job)
	l.linkCreated(bundle, now)
}

// updated records that the plan's inputs are now those of the job.
func (l *exportLife) updated() { l.Imported = false }

// exportStep is what an apply does for an existing export.
type exportStep string

const (
	// stepNone only records changed arguments.
	stepNone exportStep = "none"
	// stepLink creates a link, after waiting for the job if it still runs.
	stepLink exportStep = "link"
	// stepLookFor looks for a missing job or bundle, and exports the site if it is gone.
	stepLookFor exportStep = "look for"
	// stepExport resumes the pending job if it has the plan's inputs, and otherwise exports
	// the site.
	stepExport exportStep = "export"
)

// nextStep decides what an apply does at the time now. ModifyPlan and Update both call it.
func (l *exportLife) nextStep(now time.Time, goal exportGoal) exportStep {
	return l.step(goal, l.needsLink(now, goal))
}

// nextStepLater is nextStep for an apply at any later time, by which the link may have
// expired.
func (l *exportLife) nextStepLater(goal exportGoal) exportStep {
	return l.step(goal, l.Link.URL == "" || !goal.never && !l.Link.ExpiresAt.IsZero())
}

func (l *exportLife) step(goal exportGoal, needsLink bool) exportStep {
	if l.differs(goal) {
		return stepExport
	}
	return l.upkeep(needsLink)
}

// upkeep decides what the job needs, regardless of the inputs that the plan asks for.
func (l *exportLife) upkeep(needsLink bool) exportStep {
	switch {
	case l.JobMissing:
		return stepLookFor
	case !needsLink:
		return stepNone
	case l.Status == client.JobFailed:
		return stepExport
	case l.BundleMissing:
		return stepLookFor
	}
	return stepLink
}

// differs reports whether the plan asks for other content than the job has. Inputs that
// are not known yet differ. An imported job has what the plan asks for.
func (l *exportLife) differs(goal exportGoal) bool {
	return !l.Imported && !goal.is(l.Inputs)
}

// adopts reports whether an update of an imported job records inputs that the state does
// not have.
func (l *exportLife) adopts(goal exportGoal) bool {
	recorded := l.Inputs
	recorded.Domain = goal.inputs.Domain // which the import may have left out
	return l.Imported && !goal.is(recorded)
}

// resumes reports whether an export resumes the pending job.
func (l *exportLife) resumes(goal exportGoal) bool {
	return l.Pending != nil && goal.is(l.Pending.Inputs)
}

// completed reports whether the job is known to have completed. One that has had a link
// has, whatever its status is now.
func (l *exportLife) completed() bool {
	return l.Status == client.JobCompleted || l.Link.URL != ""
}

// forgets returns the IDs of the unfinished jobs that a step gives up, unless the inputs are
// not known yet and turn out to be those of a job.
func (l *exportLife) forgets(step exportStep, goal exportGoal) []string {
	var jobs []string
	if step == stepExport && l.Link.URL == "" && l.Status != client.JobFailed && !l.Imported {
		jobs = append(jobs, l.JobID)
	}
	if (step == stepExport || step == stepLookFor) && l.Pending != nil && !l.resumes(goal) {
		jobs = append(jobs, l.Pending.JobID)
	}
	return jobs
}

// needsLink reports whether the job has no link or one that is due for renewal.
func (l *exportLife) needsLink(now time.Time, goal exportGoal) bool {
	return l.Link.URL == "" || !goal.never && l.Link.due(now, goal.renewBefore)
}

// due reports whether the link must be renewed at the time now: renewBefore ahead of its
// expiry. A link without a known expiry is never due.
func (l exportLink) due(now time.Time, renewBefore time.Duration) bool {
	lead, _ := l.lead(renewBefore)
	return !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt.Add(-lead))
}

// lead returns how long before its expiry the link is renewed. It is zero if the service
// keeps the link, because an earlier request returns the same link. If renewBefore is not
// shorter than the link's lifetime, every new link would be due at once, so the lead is
// clamped to half the lifetime.
func (l exportLink) lead(renewBefore time.Duration) (lead time.Duration, clamped bool) {
	lifetime := l.ExpiresAt.Sub(l.ReceivedAt)
	switch {
	case l.Kept:
		return 0, false
	case !l.ReceivedAt.IsZero() && renewBefore >= lifetime:
		return max(0, lifetime/2), true
	}
	return renewBefore, false
}
