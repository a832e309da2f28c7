package provider

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// This file holds what diagnostics say about an export. Terraform repeats the warnings of a plan at the end of its
// apply, so they say what the plan does, not what an apply would do.

// exportFailure is why an export failed.
type exportFailure struct {
	stage exportStage
	about string                  // the ID of the job, or for stageStart the domain
	job   *client.StaticExportJob // as a wait last read it, or nil
	cause error                   // nil if the job itself failed
}

// exportStage is what an export was doing when it failed.
type exportStage int

const (
	stageStart   exportStage = iota // starting the job
	stageJob                        // waiting for the job
	stageLink                       // creating the first link to the bundle
	stageRenewal                    // renewing the link
)

// missing reports whether the service does not find the job or its bundle.
func (f *exportFailure) missing() bool { return f.stage != stageStart && client.IsNotFound(f.cause) }

// describe returns the diagnostic of a failure: what happened, what is known of the job, what the state holds
// afterwards, and what to do. export is nil if the state stays empty.
func (f *exportFailure) describe(c *client.Client, export *storedExport, now time.Time) (summary, detail string) {
	state := describeLink(export, now)
	if f.cause == nil {
		return summaryJobFailed, paragraphs(sentences(failureOf(f.job), state), "Fix the site, then run \"terraform apply\" again, which starts another job.")
	}
	cause := explain(f.cause)
	if interrupted(f.cause) && f.stage != stageStart {
		cause.advice = "" // the last sentence says it
	}
	resume := "To resume this job, run \"terraform apply\" again"
	if export != nil && f.about == export.JobID.ValueString() {
		resume += ", even if the plan shows a replacement (-/+, but not +/-)"
	}
	resume += ". To start another one instead, change triggers."
	lookUp := "Check base_url and the API key, and look for job " + f.about + " and its bundle in the service's dashboard. " +
		"If the service still does not find it, the next apply exports the site again."
	noLink := "Job " + f.about + " completed, but no link was received."
	switch {
	case f.stage == stageStart:
		return summaryStartFailed, f.describeStart(c, cause, state)
	case f.stage == stageRenewal && f.missing():
		return summaryRenewalFailed, paragraphs(cause.what, state, lookUp)
	case f.stage == stageRenewal:
		return summaryRenewalFailed, paragraphs(cause.what, state, sentences(cause.advice, "The next apply tries again."))
	case f.stage == stageLink && f.missing():
		return summaryLinkFailed, paragraphs(cause.what, sentences(noLink, state), lookUp)
	case f.missing():
		return summaryJobNotFound, paragraphs(cause.what, state, lookUp)
	}
	summary, known := summaryExportFailed, progressOf(f.about, f.job)
	if f.stage == stageLink {
		summary, known = summaryLinkFailed, noLink
	}
	switch {
	case interrupted(f.cause):
		summary = summaryExportInterrupted
	case timedOut(f.cause) && f.stage == stageJob:
		summary = summaryExportTimedOut
	}
	return summary, paragraphs(cause.what, sentences(known, state), sentences(cause.advice, resume))
}

// describeStart returns the detail of a start that failed.
func (f *exportFailure) describeStart(c *client.Client, cause explanation, state string) string {
	noJob := sentences("No job was started for "+f.about+".", state)
	switch {
	case client.MayHaveStarted(f.cause):
		return paragraphs(cause.what, sentences("A job may have been started for "+f.about+", but its ID was not received.", state),
			"Before you run \"terraform apply\" again, look in the service's dashboard for a job that this run may have started. "+
				"See "+errorsPage+"#a-job-may-have-been-started", "If there is no such job: "+cause.advice)
	case client.IsNotFound(f.cause):
		return paragraphs(cause.what, noJob, "Check that the organization of the API key owns the domain, and that base_url ("+c.BaseURL()+") "+
			"is the base URL of the API with its version segment.")
	case client.ReasonOf(f.cause) == client.ReasonForbidden:
		return paragraphs(cause.what, noJob, sentences("Static exports require an Enterprise subscription.", cause.advice))
	}
	return paragraphs(cause.what, noJob, cause.advice)
}

// describeLink describes what the state holds after a failure. The provider does not know whether the link works.
func describeLink(export *storedExport, now time.Time) string {
	switch {
	case export == nil:
		return ""
	case !export.linked():
		return "Terraform has recorded the job's ID."
	case export.ExpiresAt.IsNull():
		return "The state keeps the existing link, whose expiry is unknown."
	case now.Before(export.expiresAt()):
		return "The link in the state expires at " + export.ExpiresAt.ValueString() + "."
	}
	return "The link in the state expired at " + export.ExpiresAt.ValueString() + "."
}

// warnAboutJob adds a warning about a job, whose ID is the first operand of the format.
func warnAboutJob(diags *diag.Diagnostics, summary, jobID, format string, args ...any) {
	diags.AddWarning(aboutJob(summary, jobID), fmt.Sprintf(format, slices.Insert(args, 0, any(jobID))...))
}

// warnAboutLink warns if a new link cannot be renewed as configured.
func warnAboutLink(export *storedExport, unreadableExpiry string, wanted wantedExport, now time.Time, diags *diag.Diagnostics) {
	jobID, expiresAt := export.JobID.ValueString(), export.ExpiresAt.ValueString()
	switch {
	case expiresAt == "":
		what := "Neither the service nor the link itself specifies when the link expires"
		if unreadableExpiry != "" {
			what = fmt.Sprintf("The service specifies when the link expires as %q, which the provider cannot read", unreadableExpiry)
		}
		warnAboutJob(diags, summaryUnknownExpiry, jobID, "%[2]s, so expires_at is null and the provider does not renew the link.\n\n"+
			"For a new link in each run, use the ephemeral resource docs_static_export_bundle.", what)
	case export.LinkKept:
		diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summaryKeepsLinks, jobID), "The renewal did not extend the link: "+
			"it still expires at "+expiresAt+". The provider renews it again only after that.\n\n"+
			"To shorten the time without a working link, set renew_before to 0s and run \"terraform apply\" more often.")
	case export.linkDue(now, wanted):
		diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summaryLinkDueAtOnce, jobID),
			fmt.Sprintf("The new link expires at %s, and this machine's clock reads %s. With renew_before = %q, every apply renews it.\n\n"+
				"Set renew_before to less than the link lifetime. If it is already 0s, check this machine's clock.",
				expiresAt, now.UTC().Format(time.RFC3339), shortDuration(wanted.renewBefore)))
	}
}

// warnAboutUpdate tells an approver what a plan of an existing export cannot show.
func warnAboutUpdate(step exportStep, export *storedExport, wanted wantedExport, diags *diag.Diagnostics) {
	jobID, resumes := export.JobID.ValueString(), step == stepExport && export.resumes(wanted)
	adopted := wanted.inputs
	adopted.Triggers, adopted.Parameters = "{}", "{}" // as after an import
	switch {
	case resumes:
		warnAboutJob(diags, summaryCanResume, export.Pending.JobID, "Job %[1]s was started for this content and has no link yet. "+
			"This plan resumes it, and starts another job only if the service does not find job %[1]s for %[2]s. "+
			"If job %[1]s has failed, the apply reports why, and the next apply starts another job.", notFoundLimit)
	case export.Imported && step != stepExport && !wanted.equals(adopted):
		warnAboutJob(diags, summaryImportAdopts, jobID, "The service does not return the inputs of the imported job %[1]s. "+
			"This plan records the configured triggers and additional_parameters and does not start an export.\n\n"+
			"To export with these inputs, run \"terraform apply -replace=ADDRESS\" for this resource.")
	case export.Imported && step == stepExport && wanted.inputs.Domain != "" && export.differs(wanted):
		warnAboutJob(diags, summaryImportDiffers, jobID, "Job %[1]s was imported as a job for %[2]s. This plan starts another job, for %[3]s.\n\n"+
			"To keep job %[1]s instead, run \"terraform state rm ADDRESS\" for this resource, and import %[3]s,%[1]s.",
			export.Domain.ValueString(), wanted.inputs.Domain)
	}
	if step != stepExport {
		return
	}
	if export.differs(wanted) {
		warnAboutOtherContent(export.unfinished(), wanted, diags)
	}
	what, next := "job "+jobID, "This plan exports the site again."
	if !export.JobMissing {
		what, next = "the bundle of "+what, "The apply asks for it once more, and exports the site again if it is still missing."
	}
	if resumes {
		next = "This plan uses job " + export.Pending.JobID + " instead."
	} else {
		warnAboutOtherContent(export.Pending, wanted, diags)
	}
	if (export.JobMissing || export.BundleMissing) && (!wanted.known || !export.differs(wanted)) {
		warnAboutJob(diags, summaryMissing, jobID, "The service did not find %[2]s for %[3]s. %[4]s", what, notFoundLimit, next)
	}
}

// warnAboutUnfinishedJob tells an approver that an apply resumes the job of an export. It speaks for the refresh,
// because Terraform does not show the plan of a tainted resource which job it has.
func warnAboutUnfinishedJob(jobID string, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryUnfinished, jobID, "When it was last read, this resource had no link to the bundle of job %[1]s. "+
		"If the plan shows ~ or -/+ for this resource, the apply resumes the job. It starts another one if the domain, triggers, "+
		"or additional_parameters changed, if the job failed, or if it or its bundle is missing.\n\nIf the plan shows +/-, the apply starts another job: do not apply it. "+
		"Run \"terraform untaint ADDRESS\" for this resource, and plan again.")
}

// warnAboutOtherContent warns that a plan does not resume a job; nil for none. If not all inputs are known yet, they
// may turn out to be those of the job.
func warnAboutOtherContent(job *unfinishedJob, wanted wantedExport, diags *diag.Diagnostics) {
	switch {
	case job == nil:
	case wanted.known:
		warnAboutJob(diags, summaryAbandons, job.JobID, "Job %[1]s, which has no link yet, was started for other content, so this plan does not resume it.\n\n"+
			"To resume job %[1]s instead, do not apply this plan. "+
			"Restore the domain, triggers, and additional_parameters that it was started with, and plan again.")
	default:
		warnAboutJob(diags, summaryMayResume, job.JobID, "Some inputs are not known yet. If they are those that job %[1]s was started with, this plan resumes it. "+
			"Otherwise, it may start another job.")
	}
}

// addUnreadablePrivateState reports a private state that cannot be decoded.
func addUnreadablePrivateState(diags *diag.Diagnostics, jobID string) {
	diags.AddError(aboutJob(summaryPrivateUnreadable, jobID), "The private state of this resource is damaged or was written by another version of the provider. "+
		"It may name a job that is not in the state.\n\n"+
		"If another version wrote it, use that version. Otherwise, run \"terraform state rm ADDRESS\" for this resource, and import the job.")
}

// warnAboutFailedJob warns about a job that has failed since the state was last refreshed.
func warnAboutFailedJob(job *client.StaticExportJob, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryJobFailed, job.ID, "%[2]s\n\nIf this plan exports the site again, fix the site before you apply the plan.", failureOf(job))
}

// warnAboutMissingJob warns about a job that a refresh did not find.
func warnAboutMissingJob(jobID string, err error, diags *diag.Diagnostics) {
	warnAboutJob(diags, summaryJobNotFound, jobID, "%[2]s\n\nThe refresh kept the job in the state. "+
		"If the job should still exist, check base_url and the API key before you apply a plan.", explain(err).what)
}

// addRefreshFailure reports a refresh that could not read the job.
func addRefreshFailure(err error, diags *diag.Diagnostics) {
	addError(diags, summaryJobUnreadable, err, "The state is unchanged.", "To plan or destroy without this request, use -refresh=false.")
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
