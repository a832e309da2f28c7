package provider

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// This file holds what diagnostics say about an export. A refresh says what it saw, and a failure what happened, what
// the state holds, what to do, and what the next apply does. What the attributes and the plan show, no message says.
//
// Terraform prints the warnings of a refresh and a plan again at the end of the apply. It prints those of a plan also
// if -replace makes it a replacement.

// describe returns the diagnostic of a failure. tainted means that Terraform replaces what the failure leaves.
func describe(f *export.Failure, run *export.Run, tainted bool) (summary, detail string) {
	if f.Stage == export.Starting {
		return summaryStartFailed, describeStart(f, run, tainted)
	}
	now, next := sentences(replaced(run), reached(f), holds(run)), nextApply(run, tainted)
	if f.Cause == nil {
		return summaryJobFailed, paragraphs(failureOf(f.Last), now, next)
	}
	cause := explain(f.Cause)
	switch {
	case interrupted(f.Cause):
		cause.advice = "" // nextApply says it
	case client.ReasonOf(f.Cause) == client.ReasonNotFound && f.Stage == export.Waiting:
		cause.advice = checkMissingJob
	case client.ReasonOf(f.Cause) == client.ReasonNotFound: // the bundle of a job that exists
		cause.advice = ""
	case f.Stage == export.Renewing && f.Job.Failed():
		cause.advice = fmt.Sprintf("The job has the status %q. To export the site again, change triggers.",
			f.Job.Status)
	}
	return summaryOf(f), paragraphs(cause.what, now, sentences(cause.advice, next))
}

// summaryOf returns the first line about a failure of a job or its link.
func summaryOf(f *export.Failure) string {
	switch {
	case f.Stage == export.Renewing:
		return summaryRenewalFailed
	case interrupted(f.Cause):
		return summaryExportInterrupted
	case f.Stage == export.Linking:
		return summaryLinkFailed
	case f.Missing():
		return summaryJobNotFound
	case timedOut(f.Cause):
		return summaryExportTimedOut
	}
	return summaryExportFailed
}

// reached describes how far an export came.
func reached(f *export.Failure) string {
	switch {
	case f.Stage == export.Linking:
		return "Job " + f.Job.ID + " completed, but no link was received."
	case f.Stage == export.Waiting && f.Cause != nil && !f.Missing():
		return progressOf(f.Job.ID, f.Last)
	}
	return ""
}

// describeStart returns the detail of a start that failed.
func describeStart(f *export.Failure, run *export.Run, tainted bool) string {
	domain, cause := run.Wanted.Inputs.Domain, explain(f.Cause)
	if !interrupted(f.Cause) {
		cause.advice = cmp.Or(adviceOnStart[client.ReasonOf(f.Cause)], cause.advice)
	}
	if sentAt, may := client.MayHaveStarted(f.Cause); may { // to look for the job comes before any other advice
		return paragraphs(cause.what,
			sentences(notFound(run), fmt.Sprintf("A job may have been started for %s at %s UTC, but its ID was not "+
				"received.", domain, sentAt.UTC().Format(time.TimeOnly)), holds(run)),
			"Before you apply again, look in the service's dashboard for a job of that time. If it is there, "+
				"import it ("+errorsPage+"#a-job-may-have-been-started).",
			"If there is none: "+cause.advice)
	}
	next := ""
	if run.Unfinished() != nil {
		next = nextApply(run, tainted)
	}
	return paragraphs(cause.what, sentences(notFound(run), "No job was started for "+domain+".", holds(run)),
		sentences(cause.advice, next))
}

// adviceOnStart replaces advice. After a conflict or no response, it is for the case that no job was started.
var adviceOnStart = map[client.Reason]string{
	client.ReasonNotFound: "Check that the organization of the API key owns the domain, " + // there is no ID to check
		"and that base_url is the base URL of the API with its version segment, such as /v1.",
	client.ReasonForbidden: "Check that the key is an admin API key of the organization that owns the site. " +
		"Static exports require an Enterprise subscription.",
	client.ReasonConflict: "Another export is probably running. Wait until it has finished, and apply again.",
	client.ReasonTooSlow:  "Set request_timeout to more than the service needs for its response, and apply again.",
}

// holds describes what the state holds after a failure. The provider does not know whether a link works.
func holds(run *export.Run) string {
	job := ""
	if unfinished := run.Unfinished(); unfinished != nil {
		job = "The state keeps job " + unfinished.ID + " as latest_job_id."
	}
	if run.Current == nil {
		return job
	}
	at := run.Link.ExpiresAt
	switch {
	case at.IsZero():
		return sentences(job, "The state keeps the existing link, whose expiry is unknown.")
	case run.Clock.Now().Before(at):
		return sentences(job, "The link in the state expires at "+at.Format(time.RFC3339)+".")
	}
	return sentences(job, "The link in the state expired at "+at.Format(time.RFC3339)+".")
}

// nextApply says what the next apply does after a failure, unless something changes before. If the resource is tainted,
// it resumes the job only if it deletes before it creates, as the next plan shows.
func nextApply(run *export.Run, tainted bool) string {
	next, step := "If nothing else changes, the next apply ", run.NextStep(run.Wanted, run.Clock.Now())
	switch {
	case tainted && step.Action == export.Start:
		next = "If the next plan replaces the resource, its apply "
	case tainted:
		next = "If the next plan shows -/+, its apply "
	}
	switch {
	case step.AsksAgain:
		return next + asksAgain(step, run.State) + "."
	case step.Action == export.Renew:
		return next + "tries to renew the link again."
	case step.Action == export.Resume:
		return next + "resumes job " + run.Next.ID + "."
	}
	return next + "starts another job."
}

// asksAgain says what an apply does if something was missing. It reads a job without a link until that has completed.
func asksAgain(step export.Step, s *export.State) string {
	what := "the bundle of job " + askedFor(step, s).ID
	if step.Action == export.Resume && !s.Next.Completed() {
		what = "job " + s.Next.ID
	}
	return "asks for " + what + " once more, and exports the site again if it is still missing"
}

// askedFor returns the job that a renewal or a resumption asks for.
func askedFor(step export.Step, s *export.State) *export.Job {
	if step.Action == export.Resume {
		return s.Next
	}
	return s.Current
}

// notFound names what a run did not find before it started, or tried to start, another job.
func notFound(run *export.Run) string {
	switch lost := run.Replaced; {
	case lost == nil:
		return ""
	case lost.Missing:
		return "The service did not find job " + lost.ID + "."
	default:
		return "The service did not find the bundle of job " + lost.ID + "."
	}
}

// replaced says that a run has started a job because another one was missing.
func replaced(run *export.Run) string {
	if run.Replaced == nil {
		return ""
	}
	return notFound(run) + " This apply started job " + run.Latest().ID + " instead."
}

func warnAboutJob(diags *diag.Diagnostics, summary, jobID, detail string) {
	diags.AddWarning(aboutJob(summary, jobID), detail)
}

const checkMissingJob = "If the job should still exist, check base_url and the API key."

func warnAboutMissingJob(jobID string, err error, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryJobNotFound, jobID, paragraphs(explain(err).what, checkMissingJob))
}

func warnAboutFailedJob(jobID string, job *client.StaticExportJob, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryJobFailed, jobID, failureOf(job))
}

// warnAboutStep gives the reason for a step if neither an attribute nor the refresh does.
func warnAboutStep(step export.Step, s *export.State, wanted export.Wanted, diags *diag.Diagnostics) {
	next := s.Unfinished()
	switch {
	case step.AsksAgain && !askedFor(step, s).Missing: // its bundle is
		warnAboutJob(diags, summaryBundleMissing, askedFor(step, s).ID, "The service did not find the bundle of the "+
			"job before this plan. Unless the resource is replaced, the apply "+asksAgain(step, s)+".")
	case step.Action == export.Start && next != nil && next.Imported && wanted.Known:
		warnAboutJob(diags, summaryOtherDomain, next.ID, fmt.Sprintf("The job was imported for %s, and domain is %s. "+
			"The apply starts another job.\n\nTo keep the imported job, run \"terraform state rm ADDRESS\" "+
			"for this resource, and import the job for %[2]s.", next.Inputs.Domain, wanted.Inputs.Domain))
	}
}

// warnAboutLink warns if a new link cannot be renewed as configured.
func warnAboutLink(run *export.Run, diags *diag.Diagnostics) {
	jobID, link, now := run.Current.ID, run.Link, run.Clock.Now()
	expiresAt := link.ExpiresAt.Format(time.RFC3339)
	var summary, detail string
	switch {
	case run.Wanted.NeverRenew:
		return
	case link.ExpiresAt.IsZero():
		warnAboutJob(diags, summaryUnknownExpiry, jobID, "Neither the service nor the link itself specifies when the "+
			"link expires in a form that the provider reads, so expires_at is null and the provider does not renew "+
			"the link.\n\nFor a new link in each run, use the ephemeral resource docs_static_export_bundle.")
		return
	case link.Kept:
		summary, detail = summaryKeepsLinks, "The link still expires at "+expiresAt+
			". The provider renews it again only after that.\n\n"+
			"To shorten the time without a working link, set renew_before to 0s and run \"terraform apply\" more often."
	case run.Due(now, run.Wanted):
		summary, detail = summaryLinkDueAtOnce, fmt.Sprintf("The new link expires at %s, and this machine's clock "+
			"reads %s. With renew_before = %q, the next apply renews it.\n\n"+
			"Set renew_before to less than the link lifetime. If it is already 0s, check this machine's clock.",
			expiresAt, now.UTC().Format(time.RFC3339), shortDuration(run.Wanted.RenewBefore))
	default:
		return
	}
	diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summary, jobID), detail)
}

// addUnreadablePrivateState reports a private state that cannot be decoded.
func addUnreadablePrivateState(diags *diag.Diagnostics, jobID string) {
	diags.AddError(aboutJob(summaryPrivateUnreadable, jobID),
		"The private state of this resource is damaged or was written by another version of the provider.\n\n"+
			"If another version wrote it, use that version. Otherwise, run \"terraform state rm ADDRESS\" for this "+
			"resource, and import the job. To destroy the resource, use -refresh=false.")
}

// addRefreshFailure reports a refresh that could not read the job.
func addRefreshFailure(err error, diags *diag.Diagnostics) {
	addError(diags, summaryJobUnreadable, err, "The state is unchanged.",
		"To plan or destroy without this request, use -refresh=false.")
}

// addImportFailure reports a job that could not be read, or that has failed.
func addImportFailure(job *client.StaticExportJob, err error, diags *diag.Diagnostics) {
	if err != nil {
		addError(diags, summaryImportFailed, err, "", "")
		return
	}
	diags.AddError(summaryImportFailed, paragraphs(failureOf(job),
		"A failed job has no bundle. Import a job that has not failed, or apply without an import to export the site."))
}
