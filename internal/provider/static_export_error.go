// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// exportError is why an export failed. Only Create and Update turn it into a diagnostic,
// because only they know what the state holds afterwards.
type exportError struct {
	request exportRequest
	jobID   string                  // "" for a start
	job     *client.StaticExportJob // as a wait last read it, or nil
	cause   error
}

// exportRequest is the request that failed.
type exportRequest string

const (
	requestStart exportRequest = "start"   // of a job
	requestPoll  exportRequest = "poll"    // of a running job
	requestFind  exportRequest = "find"    // of a missing job
	requestLink  exportRequest = "link"    // the first one to a bundle
	requestRenew exportRequest = "renewal" // of a link
)

func (e *exportError) Error() string { return string(e.request) + ": " + e.cause.Error() }

func (e *exportError) Unwrap() error { return e.cause }

// isGone reports whether an export failed because the service could not find its job or
// its bundle.
func isGone(err error) bool {
	e, ok := errors.AsType[*exportError](err)
	return ok && e.request != requestStart && client.IsNotFound(e.cause)
}

const (
	resumeByApply   = "To resume the same job, plan and apply again."
	askByApply      = "The next apply asks again before it starts another job."
	resumeByUntaint = "To resume this job instead of starting another one, run \"terraform untaint\" with the address of this resource, then plan and apply again. That apply is limited by timeouts.update, so increase that if necessary."
	fixAndExport    = "Fix the cause, and apply again to start a new export."
	nextApply       = "The next apply tries again."
)

// exportFailure is the diagnostic of an export that failed.
type exportFailure struct{ summary, what, next string }

func (f exportFailure) add(diags *diag.Diagnostics, state string) {
	diags.AddError(f.summary, paragraphs(f.what, state, f.next))
}

// describe describes why an export failed in an operation that the field of the timeouts
// argument limits. resume says how to resume the job.
func (run *exportRun) describe(err error, field, resume string) exportFailure {
	e, ok := errors.AsType[*exportError](err)
	if !ok {
		e = &exportError{request: requestPoll, cause: err}
	}
	cause := explain(e.cause, field)
	f := exportFailure{"", paragraphs(cause.what, "Job: "+e.jobID+"."), sentences(cause.advice, resume)}
	switch e.request {
	case requestStart:
		return run.describeStart(e.cause, cause)
	case requestPoll:
		f.summary, f.what = summaryExportFailed, paragraphs(cause.what, progressOf(e.jobID, e.job))
	case requestFind:
		f.summary, f.what, f.next = summaryJobUnreadable, paragraphs(cause.what, "Job: "+e.jobID+". No other job was started."), sentences(cause.advice, nextApply)
	case requestLink:
		f.summary, f.what = summaryLinkFailed, paragraphs(cause.what, "Job "+e.jobID+" completed, but no link was created.")
	case requestRenew:
		f.summary, f.next = summaryRenewalFailed, sentences(cause.advice, nextApply)
	}
	_, failed := errors.AsType[*client.JobFailedError](e.cause)
	switch {
	case failed:
		f = exportFailure{summaryJobFailed, failureOf(run.client, e.job), fixAndExport}
	case isGone(e):
		f.next = sentences("Check base_url and the API key, and look for job "+e.jobID+" in the service's dashboard.", resume)
		if e.request == requestPoll {
			f.summary, f.what = summaryJobNotFound, paragraphs(cause.what, "Job: "+e.jobID+".")
		}
	case interrupted(e.cause) && e.request != requestRenew:
		f.summary = summaryExportInterrupted
	case timedOut(e.cause) && e.request == requestPoll:
		f.summary = summaryExportTimedOut
	}
	return f
}

// describeStart describes why no job was started, as far as is known.
func (run *exportRun) describeStart(err error, cause explanation) exportFailure {
	result, next := "No job was started for %s.", cause.advice
	if client.MayHaveStarted(err) {
		result = "A job may have been started for %s, but its ID was not received."
		next = "Look for a running export in the service's dashboard before you apply again. See \"A job may have been started\" in " + errorsPage + "."
	} else if client.IsNotFound(err) {
		next = fmt.Sprintf("Check that the organization of the API key owns the domain, and that base_url (%s) is the base URL of the API with its version segment.", run.client.BaseURL())
	}
	return exportFailure{summaryStartFailed, paragraphs(cause.what, fmt.Sprintf(result, run.goal.inputs.Domain)), next}
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
