// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	resumeByApply = "To resume the same job, run \"terraform apply\" again."
	exportNext    = "The next apply exports the site again."
	fixAndExport  = "Fix the cause, and apply again to start a new export."
)

// Create starts one job and writes its ID to the state before it waits, so that the ID
// is not lost if the wait fails.
func (r *staticExportResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeout(ctx, plan.Timeouts, "create", defaultExportTimeout)
	defer cancel()

	run := exportRun{client: c, plan: &plan, notes: &exportNotes{}, diags: &resp.Diagnostics}
	job, startedAt, ok := run.start(ctx)
	if !ok {
		return
	}
	plan.setJob(job)
	plan.clearLink()
	save := func() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
		run.notes.write(ctx, resp.Private, &resp.Diagnostics)
	}
	save()
	last, err := run.waitAndLink(ctx, &plan, job.ID, startedAt)
	save()
	if interrupted(err) {
		// A warning instead of an error: Terraform must not taint the resource.
		resp.Diagnostics.AddWarning(summaryExportInterrupted, paragraphs(progressOf(last)+" The job keeps running.",
			"The state contains the job without a link. "+resumeByApply))
	} else if err != nil {
		run.report(err, last, "The state contains the job as tainted.",
			"To resume this job instead of starting another one, run \"terraform untaint\" with the address of this resource, and apply again. That apply is limited by `timeouts.update`.")
	}
}

// Update does what [nextStep] decides.
func (r *staticExportResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	notes := readNotes(ctx, req.Private, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	// renew, after a timeout, needs a context that has not ended.
	bounded, cancel := withTimeout(ctx, plan.Timeouts, "update", defaultExportTimeout)
	defer cancel()

	step := nextStep(r.data.clock.Now(), &plan, &state, notes)
	plan.copyComputed(&state)
	run := exportRun{client: c, plan: &plan, notes: notes, diags: &resp.Diagnostics}
	switch step {
	case stepNone:
	case stepLink:
		ok = run.linkStateJob(bounded)
	case stepExport:
		if ok = run.exportAgain(bounded); !ok && notes.linkIsDue(r.data.clock.Now(), &plan, &state) && run.renew(ctx, &state) {
			resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
		}
	}
	if !ok {
		// The prior state stays; the notes are saved along with the error.
		notes.write(ctx, resp.Private, &resp.Diagnostics)
		return
	}
	// A pending job for other inputs is not resumed any more.
	notes.Imported, notes.Pending = false, nil
	notes.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
}

// Delete sends no request, because the API cannot delete a job.
func (r *staticExportResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// exportRun is one apply of an export. It turns the plan into the new state.
type exportRun struct {
	client *client.Client
	plan   *staticExportModel
	notes  *exportNotes
	diags  *diag.Diagnostics
}

// start starts a job for the plan. It reports failures.
func (run *exportRun) start(ctx context.Context) (job *client.StaticExportJob, startedAt time.Time, ok bool) {
	// The value is valid: Terraform also validates values that the plan did not know.
	parameters, _ := parseParameters(run.plan.AdditionalParameters.ValueString())
	startedAt = run.client.Now()
	job, err := run.client.StartStaticExport(ctx, run.plan.Domain.ValueString(), parameters)
	if err == nil {
		return job, startedAt, true
	}
	state, next := "No job was started.", ""
	var api *client.APIError
	switch {
	case client.MayHaveStarted(err):
		state = "A job may have been started, but its ID was not received."
		next = "Look for a running export in the service's dashboard before you apply again. See \"A job may have been started\" in the provider's errors guide."
	case errors.As(err, &api) && api.StatusCode == 404:
		next = fmt.Sprintf("Check that the organization of the API key owns the domain, and that base_url (%s) is the address of the API.", run.client.BaseURL())
		if !client.HasVersion(run.client.BaseURL()) {
			next = "Add the version segment, such as /v1, to base_url."
		}
	}
	addError(run.diags, summaryStartFailed, err, fmt.Sprintf("Domain: %s. %s", run.plan.Domain.ValueString(), state), next)
	return nil, startedAt, false
}

// waitAndLink waits for a job, which was just started if startedAt is set, and
// generates a link to its bundle. It updates model, and returns the job as it was last
// read.
func (run *exportRun) waitAndLink(ctx context.Context, model *staticExportModel, jobID string, startedAt time.Time) (*client.StaticExportJob, error) {
	last, err := run.client.WaitForStaticExport(ctx, jobID, client.WaitOptions{Interval: durationOf(run.plan.PollInterval), StartedAt: startedAt})
	if last == nil {
		return &client.StaticExportJob{ID: jobID}, err
	}
	model.setJob(last)
	if err == nil {
		err = run.generateLink(ctx, model)
	}
	return last, err
}

// generateLink generates a link to the bundle of the model's job.
func (run *exportRun) generateLink(ctx context.Context, model *staticExportModel) error {
	bundle, err := run.client.GenerateBundle(ctx, model.JobID.ValueString())
	if err != nil {
		return err
	}
	repeated := model.hasLink() && !bundle.ExpiresAt.IsZero() && expiry(bundle).Equal(model.ExpiresAt)
	model.setBundle(bundle)
	if repeated {
		run.notes.LinkKept = model.ExpiresAt.ValueString()
	} else {
		run.notes.LinkMadeAt, run.notes.LinkKept = run.client.Now(), ""
	}
	run.warnAboutLink(run.notes.linkAge(model))
	return nil
}

// warnAboutLink warns if a link cannot be renewed as configured.
func (run *exportRun) warnAboutLink(age linkAge) {
	if age.ExpiresAt.IsZero() {
		run.diags.AddWarning(summaryUnknownExpiry,
			"Neither the service nor the link specifies when it expires, so expires_at is null and the link is not renewed.\n\nFor a new link, change triggers to export again.")
		return
	}
	if run.plan.LinkRenewal.ValueString() == renewNever {
		return
	}
	now, expiresAt := run.client.Now(), age.ExpiresAt.Format(time.RFC3339)
	switch lead, clamped := clampRenewBefore(age, durationOf(run.plan.RenewBefore)); {
	case age.expiredOnArrival():
		run.diags.AddWarning(summaryExpiredOnArrival,
			fmt.Sprintf("The link expired at %s, but this machine's clock says %s. It is not renewed, because a new link would also be expired.\n\nCheck this machine's clock.", expiresAt, now.UTC().Format(time.RFC3339)))
	case !now.Before(age.ExpiresAt):
		run.diags.AddWarning(summaryExpiredLink,
			fmt.Sprintf("The provider requested a new link, but the service returned the one that expired at %s. The next apply requests a new link again.", expiresAt))
	case clamped:
		run.diags.AddAttributeWarning(path.Root("renew_before"), summaryRenewBeforeTooBig,
			fmt.Sprintf("Links expire after %s, so every new link would be due for renewal at once. The provider uses %s instead.\n\nSet a shorter renew_before.",
				age.ExpiresAt.Sub(age.MadeAt).Round(time.Second), lead.Round(time.Second)))
	}
}

// linkStateJob generates a link for the state's job, after waiting for it if it has not
// completed.
func (run *exportRun) linkStateJob(ctx context.Context) bool {
	jobID := run.plan.JobID.ValueString()
	last := &client.StaticExportJob{ID: jobID, Status: run.plan.Status.ValueString()}
	var err error
	if last.Succeeded() {
		err = run.generateLink(ctx, run.plan)
	} else {
		last, err = run.waitAndLink(ctx, run.plan, jobID, time.Time{})
	}
	if err == nil {
		return true
	}
	run.notes.Lost = run.isLost(err)
	run.report(err, last, "The state is unchanged.", resumeByApply)
	return false
}

// exportAgain exports new content. It resumes the pending job if that has the same
// inputs, and otherwise starts a new one. The plan keeps the old job and its link
// until the new bundle exists.
func (run *exportRun) exportAgain(ctx context.Context) bool {
	var startedAt time.Time
	if !run.notes.resumes(run.plan) {
		job, at, ok := run.start(ctx)
		if !ok {
			return false
		}
		startedAt = at
		run.notes.Pending = &pendingJob{JobID: job.ID, Inputs: run.plan.inputs()}
	}
	next := *run.plan
	next.clearLink()
	last, err := run.waitAndLink(ctx, &next, run.notes.Pending.JobID, startedAt)
	if err == nil {
		run.notes.Lost, run.notes.Unknown = false, false
		*run.plan = next
		return true
	}
	if run.isLost(err) {
		run.notes.Pending = nil
	}
	state := "The state keeps the earlier export and its link."
	if !run.plan.hasLink() {
		state = "The state is unchanged."
	}
	run.report(err, last, state, resumeByApply)
	return false
}

// renew renews the link of the earlier export, which stays in use if the new export
// fails. It does not report a failure, because the next apply tries again.
func (run *exportRun) renew(ctx context.Context, state *staticExportModel) bool {
	ctx, cancel := withTimeout(ctx, state.Timeouts, "read", defaultReadTimeout)
	defer cancel()
	return run.generateLink(ctx, state) == nil
}

// isLost reports whether a job will never have a bundle. A job that the service
// cannot find is lost, unless it could not find the state's job either: then base_url is
// probably wrong.
func (run *exportRun) isLost(err error) bool {
	_, failed := errors.AsType[*client.JobFailedError](err)
	return failed || client.IsGone(err) && !run.notes.Unknown
}

// report reports how an export failed, what is in the state, and how to resume the job
// if that is possible.
func (run *exportRun) report(err error, last *client.StaticExportJob, state, resume string) {
	if run.isLost(err) {
		resume = exportNext
	}
	var failed *client.JobFailedError
	var timeout *timeoutError
	switch {
	case errors.As(err, &failed):
		run.diags.AddError(summaryJobFailed, paragraphs(failureOf(failed.Job)+" "+state, fixAndExport))
	case errors.As(err, &timeout):
		addError(run.diags, summaryExportTimedOut, err, progressOf(last)+" The job keeps running. "+state, resume)
	case interrupted(err):
		run.diags.AddError(summaryExportInterrupted, paragraphs(progressOf(last)+" The job keeps running. "+state, resume))
	case client.IsGone(err):
		if run.notes.Unknown {
			resume = "Check base_url and the API key. If they are right, start a new export: run \"terraform apply -replace\" with the address of this resource."
		}
		addError(run.diags, summaryJobNotFound, err, "Job: "+last.ID+". "+state, resume)
	default:
		addError(run.diags, summaryExportFailed, err, progressOf(last)+" "+state, resume)
	}
}
