// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	resumeByApply   = "To resume the same job, run \"terraform apply\" again."
	askByApply      = "The next apply asks again, and exports the site only if the service still cannot find it."
	resumeByUntaint = "To resume this job instead of starting another one, run \"terraform untaint\" with the address of this resource, and apply again. That apply is limited by `timeouts.update`, so increase that if necessary."
	fixAndExport    = "Fix the cause, and apply again to start a new export."
)

// exportFailure is why an export failed: a diagnostic without what the state holds
// afterwards, which only Create and Update know.
type exportFailure struct {
	summary, what, next string
	// err is what failed.
	err error
	// resumable means that another apply can resume the job.
	resumable bool
	// notFound is what the service could not find.
	notFound missing
}

// add adds the diagnostic. state says what the state holds now, and resume how to resume
// the job.
func (f *exportFailure) add(diags *diag.Diagnostics, state, resume string) {
	next := f.next
	switch {
	case f.notFound != missing{}: // look for it before anything else
		next += " " + resume
	case f.resumable:
		next = strings.TrimSpace(resume + " " + next)
	}
	diags.AddError(f.summary, paragraphs(f.what, state, next))
}

// failedToStart returns why no job was started, as far as is known.
func failedToStart(err error, domain, baseURL string) *exportFailure {
	cause := explain(err)
	result, next := "No job was started for %s.", cause.advice
	if client.MayHaveStarted(err) {
		result = "A job may have been started for %s, but its ID was not received."
		next = "Look for a running export in the service's dashboard before you apply again. See \"A job may have been started\" in " + errorsPage + "."
	} else if client.IsNotFound(err) {
		next = fmt.Sprintf("Check that the organization of the API key owns the domain, and that base_url (%s) is the address of the API with its version segment.", baseURL)
	}
	return &exportFailure{summary: summaryStartFailed, what: paragraphs(cause.what, fmt.Sprintf(result, domain)), next: next, err: err}
}

// failedToFinish returns why a job has not completed. last is the job as it was last
// read, or nil.
func failedToFinish(c *client.Client, err error, jobID string, last *client.StaticExportJob) *exportFailure {
	cause := explain(err)
	f := &exportFailure{summary: summaryExportFailed, what: paragraphs(cause.what, progressOf(jobID, last)), next: cause.advice, err: err, resumable: true}
	_, failed := errors.AsType[*client.JobFailedError](err)
	switch {
	case failed:
		f.summary, f.what, f.next, f.resumable = summaryJobFailed, failureOf(c, last), fixAndExport, false
	case client.IsNotFound(err):
		f.summary, f.what, f.next = summaryJobNotFound, paragraphs(cause.what, "Job: "+jobID+"."), lookFor(jobID)
		f.notFound.Job = true
	case interrupted(err):
		f.summary = summaryExportInterrupted
	case timedOut(err):
		f.summary = summaryExportTimedOut
	}
	return f
}

// failedToRead returns why it is not known whether a job is still missing.
func failedToRead(err error, jobID string) *exportFailure {
	cause := explain(err)
	return &exportFailure{summary: summaryJobUnreadable, what: paragraphs(cause.what, "Job: "+jobID+"."), next: strings.TrimSpace(cause.advice + " The next apply tries again."), err: err}
}

// failedToLink returns why a completed job has no link, or no new one.
func failedToLink(err error, jobID string, renewal bool) *exportFailure {
	cause := explain(err)
	f := &exportFailure{summary: summaryLinkFailed, what: paragraphs(cause.what, fmt.Sprintf("Job %s completed, but no link was created.", jobID)), next: cause.advice, err: err, resumable: true}
	if renewal {
		f.summary, f.what = summaryRenewalFailed, paragraphs(cause.what, "Job: "+jobID+".")
	}
	switch {
	case client.IsNotFound(err):
		f.next, f.notFound.Bundle = lookFor(jobID), true
	case renewal:
		f.next, f.resumable = strings.TrimSpace(f.next+" The next apply tries again."), false
	case interrupted(err):
		f.summary = summaryExportInterrupted
	}
	return f
}

// lookFor advises what to do if the service cannot find a job or its bundle.
func lookFor(jobID string) string {
	return fmt.Sprintf("Check base_url and the API key, and look for job %s in the service's dashboard.", jobID)
}

// describeLink describes the link in the state after a failure.
func describeLink(link exportLink, now time.Time) string {
	expiresAt := link.ExpiresAt.Format(time.RFC3339)
	switch {
	case link.URL == "":
		return "The state has no link yet."
	case link.ExpiresAt.IsZero():
		return "The state keeps the existing link, whose expiry is unknown."
	case now.Before(link.ExpiresAt):
		return "The link in the state works until " + expiresAt + "."
	}
	return "The link in the state expired at " + expiresAt + "."
}
