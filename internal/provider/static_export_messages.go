package provider

import (
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// This file holds what diagnostics say about an export. Each sentence that says what holds, what was done, or what an
// apply will do has a row in internal/walk/claims_test.go, where the random walk checks it.
//
// Terraform repeats the warnings of a plan at the end of its apply, and shows those of an update also for a
// replacement with -replace. So they say what the plan does, and which symbol of the plan (~, -/+, +/-) they mean.

// describe returns the diagnostic of a failure: what happened, what the state holds now, and what to do.
func describe(f *export.Failure, run *export.Run) (summary, detail string) {
	switch {
	case f.Cause == nil:
		return summaryJobFailed, paragraphs(sentences(failureOf(f.Last), holds(f, run)),
			sentences("Fix the site.", whatNext(run)))
	case f.Stage == export.Starting:
		return summaryStartFailed, describeStart(f, run)
	}
	cause := explain(f.Cause)
	if interrupted(f.Cause) || f.Missing() {
		cause.advice = "" // whatNext says it
	}
	return summaryOf(f), paragraphs(cause.what,
		sentences(reached(f), holds(f, run)), sentences(cause.advice, whatNext(run)))
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

// whatNext says what the next apply does after a failure of a job or its link.
func whatNext(run *export.Run) string {
	next := "The next apply"
	if run.Current.Has(run.Wanted) && run.Current.Missing { // a refresh may find it
		next = "Unless the service finds job " + run.Current.ID + " again, the next apply"
	}
	step, job := run.NextStep(run.Wanted, true), run.Current
	if step == export.Resume {
		job = run.Next
	}
	switch {
	case step == export.Start:
		return next + " starts another job."
	case job.Gone():
		return "Check base_url and the API key, and look in the service's dashboard. " +
			next + " asks for " + whatIsGone(job) + " once more, and exports the site again if it is still missing."
	case step == export.Renew:
		return next + " tries again."
	}
	next += " resumes job " + job.ID
	if run.Current == nil { // Terraform may have tainted the resource
		next += ", even if the plan shows a replacement (-/+, but not +/-)"
	}
	return next + ". To start another one instead, change triggers."
}

// whatIsGone names what was missing of a job.
func whatIsGone(job *export.Job) string {
	if job.Missing {
		return "job " + job.ID
	}
	return "the bundle of job " + job.ID
}

// describeStart returns the detail of a start that failed.
func describeStart(f *export.Failure, run *export.Run) string {
	domain, cause := run.Wanted.Inputs.Domain, explain(f.Cause)
	if client.MayHaveStarted(f.Cause) {
		return paragraphs(cause.what,
			sentences("A job may have been started for "+domain+", but its ID was not received.", holds(f, run)),
			"Before you run \"terraform apply\" again, look in the service's dashboard for a job that this run "+
				"may have started. If there is one, import it as described in "+
				errorsPage+"#a-job-may-have-been-started\n\n"+importCommand(domain, "JOB_ID"),
			"If there is no such job: "+cause.advice)
	}
	return paragraphs(cause.what, sentences("No job was started for "+domain+".", holds(f, run)), adviseStart(f))
}

// adviseStart says what to do about a start that the service certainly did not act on.
func adviseStart(f *export.Failure) string {
	switch client.ReasonOf(f.Cause) {
	case client.ReasonNotFound: // there is no ID to check
		return "Check that the organization of the API key owns the domain, " +
			"and that base_url is the base URL of the API with its version segment, such as /v1."
	case client.ReasonForbidden:
		return "Static exports require an Enterprise subscription. " + explain(f.Cause).advice
	}
	return explain(f.Cause).advice
}

// holds describes what the state holds after a failure. The provider does not know whether a link works.
func holds(f *export.Failure, run *export.Run) string {
	job := ""
	switch {
	case run.Next == nil || run.Next.Failed():
	case f.Stage == export.Waiting, f.Stage == export.Linking:
		job = "Terraform has recorded job " + run.Next.ID + "."
	case run.Current == nil:
		job = "Job " + run.Next.ID + " stays in the state."
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

// reportFailedCreate reports why a create failed, and which jobs that were handed over nobody has taken.
func reportFailedCreate(f *export.Failure, run *export.Run, left []export.Job, diags *diag.Diagnostics) {
	summary, detail := describe(f, run)
	if run.Next != nil && interrupted(f.Cause) { // Terraform would taint the resource after an error
		diags.AddWarning(aboutJob(summary, run.Next.ID), detail)
	} else {
		diags.AddError(summary, detail)
	}
	for _, job := range left {
		warnAboutJob(diags, summaryNotResumed, job.ID,
			"This apply has removed job %[1]s, which was started for %[2]s, from the state, "+
				"and has not resumed it yet. The address above may be that of another resource.\n\n"+
				"If the state does not have job %[1]s after this apply, and you want to keep it, import it:\n\n%[3]s",
			job.ID, job.Inputs.Domain, importCommand(job.Inputs.Domain, job.ID))
	}
}

// importCommand returns a command on a line that Terraform does not wrap, because it is indented.
func importCommand(domain, jobID string) string {
	return "    terraform import ADDRESS " + domain + "," + jobID
}

// warnAboutJob adds a warning about a job.
func warnAboutJob(diags *diag.Diagnostics, summary, jobID, format string, args ...any) {
	diags.AddWarning(aboutJob(summary, jobID), fmt.Sprintf(format, args...))
}

// warnAboutLink warns if a new link cannot be renewed as configured.
func warnAboutLink(run *export.Run, diags *diag.Diagnostics) {
	jobID, link, now := run.Current.ID, run.Link, run.Clock.Now()
	expiresAt := link.ExpiresAt.Format(time.RFC3339)
	switch {
	case link.ExpiresAt.IsZero():
		what := "Neither the service nor the link itself specifies when the link expires " +
			"in a form that the provider reads"
		warnAboutJob(diags, summaryUnknownExpiry, jobID, "%s, so expires_at is null "+
			"and the provider does not renew the link.\n\n"+
			"For a new link in each run, use the ephemeral resource docs_static_export_bundle.", what)
	case link.Kept:
		diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summaryKeepsLinks, jobID),
			"The renewal did not extend the link: it still expires at "+expiresAt+
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

// warnAboutStep tells an approver what a plan of an existing export cannot show: which jobs it resumes, drops, or
// misses.
func warnAboutStep(step export.Step, s *export.State, wanted export.Wanted, diags *diag.Diagnostics) {
	const askAgain = " An update (~) asks for it once more, and exports the site again if it is still missing."
	switch step {
	case export.None:
		return
	case export.Renew:
		if s.Current.BundleMissing {
			warnAboutGoneJob(s.Current, askAgain, diags)
			warnAboutOtherContent(s.Next, wanted, diags)
		}
	case export.Resume:
		switch {
		case s.Current != nil:
			if s.Current.Gone() {
				warnAboutGoneJob(s.Current, "", diags)
			}
			warnAboutJob(diags, summaryCanResume, s.Next.ID, "Job %[1]s was started for this content "+
				"and has no link yet. If the plan shows ~ or -/+ for this resource, the apply resumes the job, "+
				"and starts another one only if the service does not find job %[1]s or its bundle for %[2]s.",
				s.Next.ID, notFoundLimit)
		case s.Next.Gone():
			warnAboutGoneJob(s.Next, askAgain, diags)
		}
		if s.Next.Imported && !s.Next.Gone() && (!wanted.Known || !wanted.Inputs.OnlyDomain()) {
			warnAboutJob(diags, summaryImportAdopts, s.Next.ID, "The service does not return the inputs "+
				"of the imported job %[1]s. "+
				"An update (~) records the configured triggers and additional_parameters for it "+
				"and does not start an export.\n\n"+
				"To export with these inputs, run \"terraform apply -replace=ADDRESS\" for this resource.", s.Next.ID)
		}
	case export.Start:
		then := ""
		if wanted.Known { // otherwise, the apply may find other inputs, and take another step
			then = " This plan exports the site again."
		}
		if s.Current != nil && s.Current.Gone() {
			warnAboutGoneJob(s.Current, then, diags)
		}
		warnAboutOtherContent(s.Next, wanted, diags)
	}
}

// warnAboutGoneJob warns about a job in the state that was missing, or whose bundle was.
func warnAboutGoneJob(job *export.Job, then string, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryMissing, job.ID,
		"The service did not find %s for %s.%s", whatIsGone(job), notFoundLimit, then)
}

// warnAboutOtherContent warns that a plan drops a job without a link; nil for none. If not all inputs are known yet,
// they may turn out to be those of the job.
func warnAboutOtherContent(next *export.Job, wanted export.Wanted, diags *diag.Diagnostics) {
	switch {
	case next == nil || next.Failed():
	case next.Imported && wanted.Inputs.Domain != "":
		warnAboutJob(diags, summaryImportDiffers, next.ID, "Job %[1]s was imported as a job for %[2]s. "+
			"This plan starts another job, for %[3]s.\n\n"+
			"To keep job %[1]s instead, run \"terraform state rm ADDRESS\" for this resource, and import %[3]s,%[1]s.",
			next.ID, next.Inputs.Domain, wanted.Inputs.Domain)
	case next.Imported:
	case wanted.Known:
		warnAboutJob(diags, summaryAbandons, next.ID, "Job %[1]s, which has no link yet, "+
			"was started for other content, so this plan does not resume it.\n\n"+
			"To resume job %[1]s instead, do not apply this plan. "+
			"Restore the domain, triggers, and additional_parameters that it was started with, "+
			"and plan again.", next.ID)
	default:
		warnAboutJob(diags, summaryMayResume, next.ID, "Some inputs are not known yet. "+
			"If they are those that job %[1]s was started with, an update (~) resumes it. "+
			"Otherwise, the apply may start another job.", next.ID)
	}
}

// warnAboutUnfinishedJob tells an approver what an apply does with a job that has no link. It speaks for the refresh,
// because Terraform does not show the plan of a tainted resource which job it has. The refresh sees deposed objects
// too, which are only destroyed.
func warnAboutUnfinishedJob(jobID string, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryUnfinished, jobID, "Job %[1]s has no link yet. "+
		"If the plan shows ~ or -/+ for the object with this job, "+
		"and its domain, triggers, and additional_parameters are unchanged, the apply resumes the job, "+
		"and starts another one only if the service does not find job %[1]s or its bundle for %[3]s. "+
		"If the plan shows only +/- or a destroy (-) for it, the apply does not resume the job: "+
		"see %[2]s#exports-that-did-not-finish", jobID, exportPage, notFoundLimit)
}

// addUnreadablePrivateState reports a private state that cannot be decoded.
func addUnreadablePrivateState(diags *diag.Diagnostics, jobID string) {
	diags.AddError(aboutJob(summaryPrivateUnreadable, jobID),
		"The private state of this resource is damaged or was written by another version of the provider. "+
			"It may name a job that is not in the state.\n\n"+
			"If another version wrote it, use that version. "+
			"Otherwise, run \"terraform state rm ADDRESS\" for this resource, and import the job.")
}

// warnAboutFailedJob warns about a job that has failed since the state was last refreshed.
func warnAboutFailedJob(job *client.StaticExportJob, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryJobFailed, job.ID,
		"%s\n\nIf this plan exports the site again, fix the site before you apply the plan.", failureOf(job))
}

// warnAboutMissingJob warns about a job that a refresh did not find.
func warnAboutMissingJob(jobID string, err error, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryJobNotFound, jobID, "%s\n\nThe refresh kept the job in the state. "+
		"The next apply exports the site again if the job is still missing. "+
		"If the job should still exist, check base_url, which ends with a version segment such as /v1, "+
		"and the API key before you apply a plan.", explain(err).what)
}

// addRefreshFailure reports a refresh that could not read the job.
func addRefreshFailure(err error, diags *diag.Diagnostics) {
	addError(diags, summaryJobUnreadable, err, "The state is unchanged.",
		"To plan or destroy without this request, use -refresh=false.")
}

const importForm = "Import DOMAIN,JOB_ID, such as docs.example.com,se_3f9a2c1b8e7d4a06."

// addImportFailure reports a job that could not be read, or that has failed.
func addImportFailure(job *client.StaticExportJob, err error, diags *diag.Diagnostics) {
	if err != nil {
		addError(diags, summaryImportFailed, err, "", "")
		return
	}
	diags.AddError(summaryImportFailed, paragraphs(failureOf(job),
		"A failed job has no bundle. Import a job that has not failed, or apply without an import to export the site."))
}
