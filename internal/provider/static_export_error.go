// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	resumeByApply   = "To resume the same job, plan and apply again."
	askByApply      = "The next apply asks again, and exports the site only if the service still cannot find it."
	resumeByUntaint = "To resume this job instead of starting another one, run \"terraform untaint\" with the address of this resource, then plan and apply again. That apply is limited by timeouts.update, so increase that if necessary."
	fixAndExport    = "Fix the cause, and apply again to start a new export."
)

// exportError is why an export failed: a diagnostic without what the state holds
// afterwards, which only Create and Update know.
type exportError struct {
	summary, what, next string
	// resumable means that another apply can resume the job or find it.
	resumable bool
	cause     error
}

func (e *exportError) Error() string { return e.what }

func (e *exportError) Unwrap() error { return e.cause }

// addExportError adds the diagnostic of an [*exportError]. state says what the state holds
// now, and resume how to resume the job.
func addExportError(diags *diag.Diagnostics, err error, state, resume string) {
	e, _ := errors.AsType[*exportError](err) // all errors of an exportRun are
	next := e.next
	if e.resumable {
		next = sentences(e.next, resume)
	}
	diags.AddError(e.summary, paragraphs(e.what, state, next))
}

// failedToStart returns why no job was started, as far as is known.
func failedToStart(ctx context.Context, err error, domain, baseURL string) error {
	cause := explain(ctx, err)
	result, next := "No job was started for %s.", cause.advice
	if client.MayHaveStarted(err) {
		result = "A job may have been started for %s, but its ID was not received."
		next = "Look for a running export in the service's dashboard before you apply again. See \"A job may have been started\" in " + errorsPage + "."
	} else if client.IsNotFound(err) {
		next = fmt.Sprintf("Check that the organization of the API key owns the domain, and that base_url (%s) is the address of the API with its version segment.", baseURL)
	}
	// What was not found is not a job, so this does not wrap err.
	return &exportError{summary: summaryStartFailed, what: paragraphs(cause.what, fmt.Sprintf(result, domain)), next: next}
}

// failedToFinish returns why a job has not completed. last is the job as it was last
// read, or nil.
func failedToFinish(ctx context.Context, c *client.Client, err error, jobID string, last *client.StaticExportJob) error {
	if _, failed := errors.AsType[*client.JobFailedError](err); failed {
		return &exportError{summary: summaryJobFailed, what: failureOf(c, last), next: fixAndExport, cause: err}
	}
	cause := explain(ctx, err)
	e := &exportError{summary: summaryExportFailed, what: paragraphs(cause.what, progressOf(jobID, last)), next: cause.advice, resumable: true, cause: err}
	switch {
	case client.IsNotFound(err):
		e.summary, e.what, e.next = summaryJobNotFound, paragraphs(cause.what, "Job: "+jobID+"."), lookFor(jobID)
	case interrupted(err):
		e.summary = summaryExportInterrupted
	case timedOut(err):
		e.summary = summaryExportTimedOut
	}
	return e
}

// failedToFind returns why it is not known whether a job is still missing.
func failedToFind(ctx context.Context, err error, jobID string) error {
	cause := explain(ctx, err)
	return &exportError{summary: summaryJobUnreadable, what: paragraphs(cause.what, "Job: "+jobID+". No other job was started."), next: sentences(cause.advice, "The next apply tries again."), cause: err}
}

// failedToLink returns why a completed job has no link, or no new one.
func failedToLink(ctx context.Context, err error, jobID string, renewal bool) error {
	cause := explain(ctx, err)
	e := &exportError{summary: summaryLinkFailed, what: paragraphs(cause.what, fmt.Sprintf("Job %s completed, but no link was created.", jobID)), next: cause.advice, resumable: true, cause: err}
	if renewal {
		e.summary, e.what = summaryRenewalFailed, paragraphs(cause.what, "Job: "+jobID+".")
	}
	switch {
	case client.IsNotFound(err):
		e.next = lookFor(jobID)
	case renewal:
		e.next, e.resumable = sentences(cause.advice, "The next apply tries again."), false
	case interrupted(err):
		e.summary = summaryExportInterrupted
	}
	return e
}

// lookFor advises what to do if the service cannot find a job or its bundle.
func lookFor(jobID string) string {
	return fmt.Sprintf("Check base_url and the API key, and look for job %s in the service's dashboard.", jobID)
}

// describeLink describes the link in the state after a failure. Whether it works is not
// known.
func describeLink(link exportLink, now time.Time) string {
	expiresAt := link.ExpiresAt.Format(time.RFC3339)
	switch {
	case link.URL == "":
		return "The state has no link yet."
	case link.ExpiresAt.IsZero():
		return "The state keeps the existing link, whose expiry is unknown."
	case now.Before(link.ExpiresAt):
		return "The link in the state expires at " + expiresAt + "."
	}
	return "The link in the state expired at " + expiresAt + "."
}
