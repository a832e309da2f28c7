package provider

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// This file holds what diagnostics say about an export. A refresh says what it saw, a plan what it does, and a failure
// what happened and what the state holds. Only a failure speaks of the next apply.
//
// Terraform prints the warnings of a refresh and a plan again at the end of the apply. It prints those of a plan also
// if -replace makes it a replacement, so they speak of the update in place.

// reportFailedCreate reports why a create failed. Terraform taints a resource after an error, and replaces it next.
func reportFailedCreate(f *export.Failure, run *export.Run, diags *diag.Diagnostics) {
	summary, detail := describe(f, run)
	starting := f.Stage == export.Starting
	switch {
	case run.Next == nil:
	case starting && interrupted(f.Cause) && !client.MayHaveStarted(f.Cause):
		diags.AddWarning(summary+" for "+run.Wanted.Inputs.Domain, detail)
		return
	case !starting && interrupted(f.Cause):
		diags.AddWarning(aboutJob(summary, run.Next.ID), detail)
		return
	default:
		detail = paragraphs(detail, "With prevent_destroy, or with create_before_destroy here or in a resource that "+
			"depends on this one, run \"terraform untaint ADDRESS\" before the next apply.")
	}
	diags.AddError(summary, detail)
}

// describe returns the diagnostic of a failure: what happened, what the state holds now, and what to do.
func describe(f *export.Failure, run *export.Run) (summary, detail string) {
	switch {
	case f.Cause == nil:
		return summaryJobFailed, paragraphs(failureOf(f.Last), holds(run), sentences("Fix the site.", nextApply(run)))
	case f.Stage == export.Starting:
		return summaryStartFailed, describeStart(f, run)
	}
	cause := explain(f.Cause)
	switch {
	case f.Missing():
		cause.advice = "Check base_url and the API key."
	case interrupted(f.Cause):
		cause.advice = "" // nextApply says it
	}
	return summaryOf(f), paragraphs(cause.what,
		sentences(reached(f), holds(run)), sentences(cause.advice, nextApply(run)))
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
	case f.Stage == export.Waiting && !f.Missing():
		return progressOf(f.Job.ID, f.Last)
	}
	return ""
}

// describeStart returns the detail of a start that failed.
func describeStart(f *export.Failure, run *export.Run) string {
	domain, cause := run.Wanted.Inputs.Domain, explain(f.Cause)
	if client.MayHaveStarted(f.Cause) {
		if interrupted(f.Cause) {
			cause.advice = ""
		}
		return paragraphs(sentences(cause.what, cause.advice),
			sentences("A job may have been started for "+domain+", but its ID was not received.", holds(run)),
			"Before you apply again, look for that job in the service's dashboard. If it is there, "+
				importIt(domain, "JOB_ID", run.Shown() != nil))
	}
	switch client.ReasonOf(f.Cause) {
	case client.ReasonNotFound: // there is no ID to check
		cause.advice = "Check that the organization of the API key owns the domain, " +
			"and that base_url is the base URL of the API with its version segment, such as /v1."
	case client.ReasonForbidden:
		cause.advice = "Static exports require an Enterprise subscription. " + cause.advice
	}
	next := ""
	if run.Unfinished() != nil {
		next = nextApply(run)
	}
	return paragraphs(cause.what, sentences("No job was started for "+domain+".", holds(run)),
		sentences(cause.advice, next))
}

// holds describes what the state holds after a failure. The provider does not know whether a link works.
func holds(run *export.Run) string {
	job := ""
	if unfinished := run.Unfinished(); unfinished != nil {
		job = "The state keeps job " + unfinished.ID + "."
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

// nextApply says what the next apply does after a failure of a job or its link, unless something changes before.
func nextApply(run *export.Run) string {
	const next = "If nothing else changes, the next apply "
	step := run.NextStep(run.Wanted, run.Clock.Now())
	switch {
	case step.Action == export.Start:
		return next + "starts another job."
	case step.Action == export.Resume && run.Next.Gone():
		return next + asksAgain(run.Next) + "."
	case step.Action == export.Resume:
		return next + "resumes job " + run.Next.ID + "."
	case run.Current.Gone():
		return next + asksAgain(run.Current) + "."
	}
	return next + "tries again."
}

// asksAgain says what an apply does with a job that is missing, or whose bundle is.
func asksAgain(job *export.Job) string {
	return "asks for " + whatIsGone(job) + " once more, and exports the site again if it is still missing"
}

// whatIsGone names what is missing of a job.
func whatIsGone(job *export.Job) string {
	if job.Missing {
		return "job " + job.ID
	}
	return "the bundle of job " + job.ID
}

// importIt says how to import a job, perhaps in place of what the state has. Terraform does not wrap commands that are
// indented.
func importIt(domain, jobID string, inPlace bool) string {
	text := "import it as described in " + errorsPage + "#a-job-may-have-been-started\n\n"
	if inPlace {
		text += "    terraform state rm ADDRESS\n"
	}
	return text + "    terraform import ADDRESS " + domain + "," + jobID
}

// warnAboutJob adds a warning about a job.
func warnAboutJob(diags *diag.Diagnostics, summary, jobID, format string, args ...any) {
	diags.AddWarning(aboutJob(summary, jobID), fmt.Sprintf(format, args...))
}

// warnAboutRefresh says what a refresh saw: that the shown job was not found or has failed since, and the job without a
// link. shown is that job as it was before.
func warnAboutRefresh(
	shown export.Job, s *export.State, job *client.StaticExportJob, err error, diags *diag.Diagnostics,
) {
	switch {
	case err != nil:
		warnAboutJob(diags, summaryJobNotFound, shown.ID, "%s\n\nThe refresh left the job in the state. "+
			"If it should still exist, check base_url and the API key.", explain(err).what)
	case s.Shown().Failed() && !shown.Failed():
		warnAboutJob(diags, summaryJobFailed, shown.ID,
			"%s\n\nFix the site before you export it again.", failureOf(job))
	}
	warnAboutUnfinished(s, diags)
}

// warnAboutUnfinished names the job without a link, because a destroy or a replacement may remove it from the state.
// Refreshes and plans of a destroy call it: Terraform drops the warnings of the refresh before a destroy, and plans a
// tainted resource without its state.
func warnAboutUnfinished(s *export.State, diags *diag.Diagnostics) {
	if next := s.Unfinished(); next != nil && !next.Imported && !next.Missing {
		warnAboutJob(diags, summaryUnfinished, next.ID, "Job %s for %s had no link when Terraform planned.\n\n"+
			"If the job is not in the state after this run, and you want to keep it, %s",
			next.ID, next.Inputs.Domain, importIt(next.Inputs.Domain, next.ID, false))
	}
}

// warnAboutStep says what the update of a plan does with jobs, where the plan cannot show it.
func warnAboutStep(step export.Step, s *export.State, wanted export.Wanted, diags *diag.Diagnostics) {
	next := s.Unfinished()
	switch step.Action {
	case export.None:
	case export.Renew:
		if s.Current.Gone() {
			warnAboutJob(diags, summaryAsksAgain, s.Current.ID, "The update in place %s.", asksAgain(s.Current))
		}
	case export.Resume:
		warnAboutResumption(next, wanted, diags)
	case export.Start:
		if next != nil && wanted.Known { // unknown inputs may be those of the job
			warnAboutOtherContent(next, wanted, diags)
		}
	}
}

// warnAboutResumption says that an update resumes a job, or what else it does with it.
func warnAboutResumption(next *export.Job, wanted export.Wanted, diags *diag.Diagnostics) {
	switch {
	case next.Gone():
		warnAboutJob(diags, summaryAsksAgain, next.ID, "The update in place %s.", asksAgain(next))
	case !next.Imported:
		warnAboutJob(diags, summaryResumes, next.ID,
			"The update in place waits for job %s and creates its link.", next.ID)
	case !wanted.Known || !wanted.Inputs.OnlyDomain():
		warnAboutJob(diags, summaryAdopts, next.ID, "The update in place records the configured triggers and "+
			"additional_parameters for the imported job %s, and starts no export.\n\n"+
			"To export with these inputs, run \"terraform apply -replace=ADDRESS\" for this resource.", next.ID)
	}
}

// warnAboutOtherContent says that an update starts a job although another one is unfinished.
func warnAboutOtherContent(next *export.Job, wanted export.Wanted, diags *diag.Diagnostics) {
	if next.Imported {
		warnAboutJob(diags, summaryAbandons, next.ID, "Job %[1]s was imported as a job for %[2]s. "+
			"The update in place starts another job, for %[3]s.\n\n"+
			"To keep job %[1]s instead, run \"terraform state rm ADDRESS\" for this resource, and import %[3]s,%[1]s.",
			next.ID, next.Inputs.Domain, wanted.Inputs.Domain)
		return
	}
	warnAboutJob(diags, summaryAbandons, next.ID, "The update in place starts another job. "+
		"It does not resume job %s, which was started for other content.\n\n"+
		"To resume that job instead, restore the domain, triggers, and additional_parameters "+
		"that it was started with before you apply.", next.ID)
}

// warnAboutResult warns if a run has started a job because another one was missing, or if a new link cannot be renewed
// as configured.
func warnAboutResult(run *export.Run, diags *diag.Diagnostics) {
	if lost := run.Replaced; lost != nil {
		warnAboutJob(diags, summaryReplaced, lost.ID, "The service did not find %s, so this apply started job %s.",
			whatIsGone(lost), run.Current.ID)
	}
	warnAboutLink(run, diags)
}

// warnAboutLink warns if a new link cannot be renewed as configured.
func warnAboutLink(run *export.Run, diags *diag.Diagnostics) {
	jobID, link, now := run.Current.ID, run.Link, run.Clock.Now()
	expiresAt := link.ExpiresAt.Format(time.RFC3339)
	switch {
	case link.ExpiresAt.IsZero():
		warnAboutJob(diags, summaryUnknownExpiry, jobID, "Neither the service nor the link itself specifies when the "+
			"link expires in a form that the provider reads, so expires_at is null and the provider does not renew "+
			"the link.\n\nFor a new link in each run, use the ephemeral resource docs_static_export_bundle.")
	case link.Kept:
		diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summaryKeepsLinks, jobID),
			"The link still expires at "+expiresAt+
				". The provider renews it again only after that.\n\n"+
				"To shorten the time without a working link, set renew_before to 0s "+
				"and run \"terraform apply\" more often.")
	case run.Due(now, run.Wanted):
		diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summaryLinkDueAtOnce, jobID),
			fmt.Sprintf("The new link expires at %s, and this machine's clock reads %s. "+
				"With renew_before = %q, every apply renews it.\n\n"+
				"Set renew_before to less than the link lifetime. If it is already 0s, check this machine's clock.",
				expiresAt, now.UTC().Format(time.RFC3339), shortDuration(run.Wanted.RenewBefore)))
	}
}

// addUnreadablePrivateState reports a private state that cannot be decoded.
func addUnreadablePrivateState(diags *diag.Diagnostics, jobID string) {
	diags.AddError(aboutJob(summaryPrivateUnreadable, jobID),
		"The private state of this resource is damaged or was written by another version of the provider. "+
			"It may name a job that is not in the state.\n\n"+
			"If another version wrote it, use that version. "+
			"Otherwise, run \"terraform state rm ADDRESS\" for this resource, and import the job.")
}

// addRefreshFailure reports a refresh that could not read the job.
func addRefreshFailure(err error, diags *diag.Diagnostics) {
	addError(diags, summaryJobUnreadable, err, "The state is unchanged.",
		"To plan or destroy without this request, use -refresh=false.")
}

const importForm = "Import DOMAIN,JOB_ID."

// addImportFailure reports a job that could not be read, or that has failed.
func addImportFailure(job *client.StaticExportJob, err error, diags *diag.Diagnostics) {
	if err != nil {
		addError(diags, summaryImportFailed, err, "", importForm)
		return
	}
	diags.AddError(summaryImportFailed, paragraphs(failureOf(job),
		"A failed job has no bundle. Import a job that has not failed, or apply without an import to export the site."))
}
