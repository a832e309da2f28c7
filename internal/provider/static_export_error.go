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

// exportFailure is why an export failed. Only Create and Update turn it into a diagnostic,
// because only they know what the state holds afterwards.
type exportFailure struct {
	request exportRequest
	jobID   string                  // "" for a start
	job     *client.StaticExportJob // as a wait last read it, or nil
	cause   error                   // nil if the job failed
}

// exportRequest is the request that failed.
type exportRequest string

const (
	requestStart   exportRequest = "start"   // of a job
	requestPoll    exportRequest = "poll"    // of a running job
	requestLink    exportRequest = "link"    // to a bundle, the first one
	requestRenewal exportRequest = "renewal" // of a link
)

// exportOutcome is how a request ended.
type exportOutcome string

const (
	outcomeFailed      exportOutcome = "failed"      // the job itself
	outcomeInDoubt     exportOutcome = "in doubt"    // the service may have started a job
	outcomeGone        exportOutcome = "gone"        // the service could not find the job or its bundle
	outcomeInterrupted exportOutcome = "interrupted" // by the user
	outcomeTimedOut    exportOutcome = "timed out"   // the operation
	outcomeUnknown     exportOutcome = "unknown"     // timed out, and the last status is undocumented
	outcomeOther       exportOutcome = "other"
)

// outcome returns how the request ended.
func (f *exportFailure) outcome() exportOutcome {
	switch {
	case f.cause == nil:
		return outcomeFailed
	case f.request == requestStart && client.MayHaveStarted(f.cause):
		return outcomeInDoubt
	case client.IsNotFound(f.cause):
		return outcomeGone
	case interrupted(f.cause):
		return outcomeInterrupted
	case timedOut(f.cause) && f.job != nil && !f.job.Documented():
		return outcomeUnknown
	case timedOut(f.cause):
		return outcomeTimedOut
	}
	return outcomeOther
}

// exportText is the text of a diagnostic about a failed export: the summary, what is known
// of the job, and the next step. The diagnostic also says why the request failed, and what
// the state holds.
type exportText struct{ summary, known, next string }

const (
	isJob    = "Job: {job}."
	noJob    = "No job was started for {domain}."
	noLink   = "Job {job} completed, but no link was received."
	lookUp   = "Check base_url and the API key, and look for job {job} in the service's dashboard."
	nextTry  = "The next apply tries again."
	nextPlan = "The next plan shows a new export."
)

// exportTexts has the text for each request and outcome. An outcome without a row is told as
// outcomeOther. exportRun.describe fills in what is in braces.
var exportTexts = map[exportRequest]map[exportOutcome]exportText{
	requestStart: {
		outcomeInDoubt: {
			summaryStartFailed, "A job may have been started for {domain}, but its ID was not received.",
			"{advice} Look for a running export in the service's dashboard before you run terraform apply again. See \"A job may have been started\" in " + errorsPage + ".",
		},
		outcomeGone: {
			summaryStartFailed, noJob,
			"Check that the organization of the API key owns the domain, and that base_url ({base_url}) is the base URL of the API with its version segment.",
		},
		outcomeOther: {summaryStartFailed, noJob, "{advice}"},
	},
	requestPoll: {
		outcomeFailed:      {summaryJobFailed, "{reason}", "Fix the site, and run terraform apply again to start a new export."},
		outcomeGone:        {summaryJobNotFound, isJob, lookUp + " {resume}"},
		outcomeInterrupted: {summaryExportInterrupted, "{progress}", "{resume}"},
		outcomeTimedOut:    {summaryExportTimedOut, "{progress}", "{advice} {resume}"},
		outcomeUnknown:     {summaryExportTimedOut, "{progress}", "To see whether the job has ended, look for job {job} in the service's dashboard. {resume}"},
		outcomeOther:       {summaryExportFailed, "{progress}", "{advice} {resume}"},
	},
	requestLink: {
		outcomeGone:        {summaryLinkFailed, noLink, lookUp + " {resume}"},
		outcomeInterrupted: {summaryExportInterrupted, noLink, "{resume}"},
		outcomeOther:       {summaryLinkFailed, noLink, "{advice} {resume}"},
	},
	requestRenewal: {
		outcomeGone:  {summaryRenewalFailed, isJob, lookUp + " " + nextPlan},
		outcomeOther: {summaryRenewalFailed, isJob, "{advice} " + nextTry},
	},
}

const (
	resumeByApply   = "To resume the same job, run terraform apply again."
	resumeByUntaint = "To resume this job instead of starting another one, run \"terraform untaint\" with the address of this resource, then run terraform apply again. timeouts.update limits the resumed export: increase it if necessary."
)

// howToResume returns the text for {resume}.
func (run *exportRun) howToResume(f *exportFailure) string {
	outcome := f.outcome()
	_, refused := errors.AsType[*client.APIError](f.cause)
	switch {
	case run.taints && outcome != outcomeInterrupted:
		return resumeByUntaint
	case outcome == outcomeGone && f.jobID == run.life.JobID:
		return nextPlan
	case outcome == outcomeGone:
		return "The next apply looks for the job again before it starts another one."
	case refused:
		return resumeByApply + " To start another one instead, change triggers."
	}
	return resumeByApply
}

// describe returns the text of a failure.
func (run *exportRun) describe(f *exportFailure) exportText {
	texts := exportTexts[f.request]
	text, found := texts[f.outcome()]
	if !found {
		text = texts[outcomeOther]
	}
	var cause explanation
	var reason string
	if f.cause == nil {
		reason = failureOf(run.client, f.job)
	} else {
		cause = explain(f.cause)
	}
	if run.taints && f.request != requestStart && timedOut(f.cause) || f.outcome() == outcomeInDoubt && cause.advice != wrongBaseURL {
		cause.advice = "" // timeouts.create does not limit the resumed export, and no start is repeated without a look
	}
	fill := strings.NewReplacer(
		"{domain}", run.goal.inputs.Domain, "{base_url}", run.client.BaseURL(), "{job}", f.jobID, "{progress}", progressOf(f.jobID, f.job),
		"{reason}", reason, "{advice}", cause.advice, "{resume}", run.howToResume(f),
	)
	return exportText{text.summary, paragraphs(cause.what, fill.Replace(text.known)), strings.TrimSpace(fill.Replace(text.next))}
}

// addError adds the text as an error. state says what the state holds.
func (t exportText) addError(diags *diag.Diagnostics, state string) {
	diags.AddError(t.summary, paragraphs(t.known, state, t.next))
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

// progressOf describes a job that has not finished as it was last read; last is nil if it
// was not.
func progressOf(jobID string, last *client.StaticExportJob) string {
	if last == nil {
		return fmt.Sprintf("Job %s may still be running. Its status has not been read.", jobID)
	}
	var numbers []string
	if last.Progress != nil {
		numbers = append(numbers, fmt.Sprintf("progress %.4g", *last.Progress))
	}
	if last.PageCount != nil {
		numbers = append(numbers, fmt.Sprintf("page count %d", *last.PageCount))
	}
	text := fmt.Sprintf("Job %s had the status %q when it was last checked", jobID, last.Status)
	if len(numbers) > 0 {
		text += " (" + strings.Join(numbers, ", ") + ")"
	}
	if !last.Documented() {
		return text + ". The status is undocumented, so the provider treats the job as running."
	}
	return text + ". It may still be running."
}

// failureOf describes why a job failed.
func failureOf(c *client.Client, job *client.StaticExportJob) string {
	message := c.Redact(job.Error)
	if message == "" {
		return fmt.Sprintf("Job %s ended with status %q. The service gave no reason.", job.ID, job.Status)
	}
	return fmt.Sprintf("Job %s ended with status %q. The service's message: %s.", job.ID, job.Status, strings.TrimSuffix(message, "."))
}
