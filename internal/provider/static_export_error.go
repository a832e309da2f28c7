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

// exportFailure is why an export failed. Only Create and Update turn it into a diagnostic,
// because only they know what the state holds afterwards.
type exportFailure struct {
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

// gone reports whether the service could not find the job or its bundle. There may be no
// failure.
func (f *exportFailure) gone() bool {
	return f != nil && f.request != requestStart && client.IsNotFound(f.cause)
}

const (
	resumeByApply   = "To resume the same job, plan and apply again."
	resumeOrReplace = "To resume the same job, plan and apply again. To start another one instead, change triggers."
	resumeByUntaint = "To resume this job instead of starting another one, run \"terraform untaint\" with the address of this resource, then plan and apply again. That apply is limited by timeouts.update, so increase that if necessary."
	askByApply      = "The next apply asks again before it starts another job."
	fixAndExport    = "Fix the cause, and apply again to start a new export."
	nextApply       = "The next apply tries again."
)

// exportText is the text of a diagnostic about a failed export.
type exportText struct{ summary, what, next string }

func (t exportText) addError(diags *diag.Diagnostics, state string) {
	diags.AddError(t.summary, paragraphs(t.what, state, t.next))
}

// exportTexts holds, by the request that failed, the summary and what is known of the job.
var exportTexts = map[exportRequest]struct{ summary, job string }{
	requestPoll:  {summaryExportFailed, "Job: %s."},
	requestFind:  {summaryJobUnreadable, "Job: %s. No other job was started."},
	requestLink:  {summaryLinkFailed, "Job %s completed, but no link was created."},
	requestRenew: {summaryRenewalFailed, "Job: %s."},
}

// describe describes a failure to export a domain. The field of the timeouts argument limits
// the operation.
func (f *exportFailure) describe(c *client.Client, domain, field string) exportText {
	cause, resume := explain(f.cause, field), f.howToResume(field)
	if f.request == requestStart {
		return describeStart(f.cause, cause, c, domain)
	}
	if _, failed := errors.AsType[*client.JobFailedError](f.cause); failed {
		return exportText{summaryJobFailed, failureOf(c, f.job), fixAndExport}
	}
	text := exportTexts[f.request]
	job, look := fmt.Sprintf(text.job, f.jobID), "look for job "+f.jobID+" in the service's dashboard."
	if f.gone() {
		if f.request == requestPoll {
			text.summary = summaryJobNotFound
		}
		return exportText{text.summary, paragraphs(cause.what, job), sentences("Check base_url and the API key, and", look, resume)}
	}
	if f.request == requestPoll {
		job = progressOf(f.jobID, f.job)
	}
	what := paragraphs(cause.what, job)
	switch {
	case interrupted(f.cause) && f.request != requestRenew:
		return exportText{summaryExportInterrupted, what, resume}
	case timedOut(f.cause) && f.job != nil && !f.job.Documented():
		return exportText{summaryExportTimedOut, what, sentences("To see whether the job has ended,", look, resume)}
	case timedOut(f.cause) && f.request == requestPoll:
		return exportText{summaryExportTimedOut, what, sentences(cause.advice, resume)}
	}
	return exportText{text.summary, what, sentences(cause.advice, resume)}
}

// howToResume says how to resume the job. Terraform taints what a failed create
// leaves, but not what an interrupted one does.
func (f *exportFailure) howToResume(field string) string {
	_, refused := errors.AsType[*client.APIError](f.cause)
	switch {
	case f.request == requestFind || f.request == requestRenew && !f.gone():
		return nextApply
	case interrupted(f.cause):
		return resumeByApply
	case field == "create":
		return resumeByUntaint
	case f.gone():
		return askByApply
	case refused:
		return resumeOrReplace
	}
	return resumeByApply
}

// describeStart describes why no job was started, as far as is known.
func describeStart(err error, cause explanation, c *client.Client, domain string) exportText {
	result, next := "No job was started for %s.", cause.advice
	if client.MayHaveStarted(err) {
		result = "A job may have been started for %s, but its ID was not received."
		next = "Look for a running export in the service's dashboard before you apply again. See \"A job may have been started\" in " + errorsPage + "."
	} else if client.IsNotFound(err) {
		next = fmt.Sprintf("Check that the organization of the API key owns the domain, and that base_url (%s) is the base URL of the API with its version segment.", c.BaseURL())
	}
	return exportText{summaryStartFailed, paragraphs(cause.what, fmt.Sprintf(result, domain)), next}
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
