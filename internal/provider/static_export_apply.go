// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// Create starts one job. Nothing leaves the process before Create returns, so the state
// is set once, at the end. It holds the ID of the job even if the wait fails.
func (r *staticExportResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if _, ok := r.data.ready(&resp.Diagnostics); !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, "create", defaultExportTimeout)
	defer cancel()

	run := exportRun{providerData: r.data, plan: &plan, notes: &exportNotes{}, diags: &resp.Diagnostics}
	job, ok := run.start(ctx)
	if !ok {
		return
	}
	plan.setJob(job)
	plan.clearLink()
	last, err := run.waitAndLink(ctx, &plan, job.ID, run.clock.Now())
	if interrupted(err) {
		// A warning instead of an error: Terraform must not taint the resource.
		resp.Diagnostics.AddWarning(summaryExportInterrupted, paragraphs(standing(last),
			"The state contains the job without a link. "+resumeByApply))
	} else if err != nil {
		run.kept = "The state contains the job as tainted."
		run.report(err, last,
			"To resume this job instead of starting another one, run \"terraform untaint\" with the address of this resource, and apply again. That apply is limited by `timeouts.update`.")
	}
	run.notes.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
}

// Update does what [nextStep] decides. If it fails, the prior state stays, and the notes
// are saved along with the error.
func (r *staticExportResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	notes := readNotes(ctx, req.Private, &resp.Diagnostics)
	if _, ok := r.data.ready(&resp.Diagnostics); !ok || resp.Diagnostics.HasError() {
		return
	}
	// renewOldLink, after a timeout, needs a context that has not ended.
	bounded, cancel := r.data.withTimeout(ctx, plan.Timeouts, "update", defaultExportTimeout)
	defer cancel()

	step := nextStep(r.data.clock.Now(), &plan, &state, notes)
	plan.copyComputed(&state)
	run := exportRun{providerData: r.data, plan: &plan, notes: notes, diags: &resp.Diagnostics, kept: stateUnchanged}
	result, ok := &plan, true
	switch step {
	case stepNone:
	case stepLink:
		ok = run.linkStateJob(bounded)
	case stepExport:
		if state.hasLink() {
			run.kept = "The state keeps the earlier export and its link."
		}
		if ok = run.exportAgain(bounded); !ok {
			run.renewOldLink(ctx, &state)
		}
	}
	if ok {
		notes.Imported = false
	} else {
		result = &state
	}
	notes.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, result)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, result.identity())...)
}

// Delete sends no request, because the API cannot delete a job.
func (r *staticExportResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// exportRun is one apply of an export. It turns the plan into the new state.
type exportRun struct {
	*providerData
	plan  *staticExportModel
	notes *exportNotes
	diags *diag.Diagnostics
	// kept says what the state holds if the apply fails.
	kept string
}

// linkStateJob creates a link for the state's job, after waiting for it if it has not
// completed.
func (run *exportRun) linkStateJob(ctx context.Context) bool {
	jobID := run.plan.JobID.ValueString()
	last := &client.StaticExportJob{ID: jobID, Status: run.plan.Status.ValueString()}
	var err error
	if last.Succeeded() {
		err = run.createLink(ctx, run.plan)
	} else {
		last, err = run.waitAndLink(ctx, run.plan, jobID, time.Time{})
	}
	if err != nil {
		run.notes.Lost = run.isLost(err)
		run.report(err, last, resumeByApply)
	}
	return err == nil
}

// exportAgain exports new content. It resumes the pending job if that has the same
// inputs, and otherwise starts a new one. The plan keeps the old job and its link
// until the new bundle exists.
func (run *exportRun) exportAgain(ctx context.Context) bool {
	var startedAt time.Time
	if !run.notes.resumes(run.plan) {
		job, ok := run.start(ctx)
		if !ok {
			return false
		}
		startedAt = run.clock.Now()
		run.notes.Pending = &pendingJob{JobID: job.ID, Inputs: run.plan.inputs()}
	}
	next := *run.plan
	next.clearLink()
	last, err := run.waitAndLink(ctx, &next, run.notes.Pending.JobID, startedAt)
	if err != nil {
		if run.isLost(err) {
			run.notes.Pending = nil
		}
		run.report(err, last, resumeByApply)
		return false
	}
	run.notes.Lost, run.notes.NotFound, run.notes.Pending = false, false, nil
	*run.plan = next
	return true
}

// renewOldLink renews the link of the earlier export if it is due, because it stays in
// use if the new export fails. It does not report a failure: the next apply tries again.
func (run *exportRun) renewOldLink(ctx context.Context, state *staticExportModel) {
	if run.notes.Lost || run.notes.NotFound || !run.notes.linkIsDue(run.clock.Now(), run.plan, state) {
		return
	}
	ctx, cancel := run.withTimeout(ctx, state.Timeouts, "read", defaultReadTimeout)
	defer cancel()
	_ = run.createLink(ctx, state)
}

// start starts a job for the plan. It reports failures.
func (run *exportRun) start(ctx context.Context) (job *client.StaticExportJob, ok bool) {
	// The value is valid: Terraform also validates values that the plan did not know.
	parameters, _ := parseParameters(run.plan.AdditionalParameters.ValueString())
	job, err := run.client.StartStaticExport(ctx, run.plan.Domain.ValueString(), parameters)
	if err == nil {
		return job, true
	}
	state, next := "No job was started.", adviseVersion(run.client, err)
	var api *client.APIError
	switch {
	case client.MayHaveStarted(err):
		state = "A job may have been started, but its ID was not received."
		next = "Look for a running export in the service's dashboard before you apply again. See \"A job may have been started\" in " + errorsPage + "."
	case next == "" && errors.As(err, &api) && api.StatusCode == 404:
		next = fmt.Sprintf("Check that the organization of the API key owns the domain, and that base_url (%s) is the address of the API.", run.client.BaseURL())
	}
	addError(run.diags, summaryStartFailed, err, strings.TrimSpace(fmt.Sprintf("Domain: %s. %s %s", run.plan.Domain.ValueString(), state, run.kept)), next)
	return nil, false
}

// waitAndLink waits for a job, which was just started if startedAt is set, and creates a
// link to its bundle. It updates model, and returns the job as it was last read.
func (run *exportRun) waitAndLink(ctx context.Context, model *staticExportModel, jobID string, startedAt time.Time) (*client.StaticExportJob, error) {
	last, err := run.client.WaitForStaticExport(ctx, jobID, client.WaitOptions{Interval: durationOf(run.plan.PollInterval), StartedAt: startedAt})
	if last == nil {
		return &client.StaticExportJob{ID: jobID}, err
	}
	model.setJob(last)
	if err == nil {
		err = run.createLink(ctx, model)
	}
	return last, err
}

// createLink creates a link to the bundle of the model's job.
func (run *exportRun) createLink(ctx context.Context, model *staticExportModel) error {
	bundle, err := run.client.GenerateBundle(ctx, model.JobID.ValueString())
	if err != nil {
		return err
	}
	now, expiresAt := run.clock.Now(), expiry(bundle)
	run.notes.LinkKept = !expiresAt.IsNull() && expiresAt.Equal(model.ExpiresAt)
	if !run.notes.LinkKept {
		run.notes.LinkCreatedAt = now
	}
	model.setBundle(bundle)
	run.warnAboutLink(now, exportLink{CreatedAt: run.notes.LinkCreatedAt, ExpiresAt: bundle.ExpiresAt})
	return nil
}

// warnAboutLink warns if a link cannot be renewed as configured.
func (run *exportRun) warnAboutLink(now time.Time, link exportLink) {
	if link.ExpiresAt.IsZero() {
		run.diags.AddWarning(summaryUnknownExpiry,
			"Neither the service nor the link specifies when it expires, so expires_at is null and the link is not renewed.\n\nFor a new link, change triggers to export again.")
		return
	}
	if run.plan.LinkRenewal.ValueString() == renewNever {
		return
	}
	expiresAt := link.ExpiresAt.Format(time.RFC3339)
	switch lead, clamped := link.lead(durationOf(run.plan.RenewBefore)); {
	case link.expiredOnArrival():
		run.diags.AddWarning(summaryExpiredOnArrival,
			fmt.Sprintf("The link expired at %s, but this machine's clock says %s. It is not renewed, because a new link would also be expired.\n\nCheck this machine's clock.", expiresAt, now.UTC().Format(time.RFC3339)))
	case !now.Before(link.ExpiresAt):
		run.diags.AddWarning(summaryExpiredLink,
			fmt.Sprintf("The provider requested a new link, but the service returned the one that expired at %s. The next apply requests a new link again.", expiresAt))
	case clamped:
		lifetime := link.ExpiresAt.Sub(link.CreatedAt).Round(time.Second)
		run.diags.AddAttributeWarning(path.Root("renew_before"), summaryLongRenewBefore,
			fmt.Sprintf("Links expire after %s, so every new link would be due for renewal at once. The provider uses %s instead.\n\n"+
				"Set a shorter renew_before. If Terraform runs less often than every %s, no renew_before can keep such a link alive.", lifetime, lead.Round(time.Second), lifetime))
	}
}

// isLost reports whether a job will never have a bundle. A job that the service
// cannot find is lost, unless it could not find the state's job either: then base_url is
// probably wrong.
func (run *exportRun) isLost(err error) bool {
	_, failed := errors.AsType[*client.JobFailedError](err)
	return failed || client.IsNotFound(err) && !run.notes.NotFound
}

// report reports how an export failed, what is in the state, and what to do. resume says
// how to resume the job, which was last seen as last.
func (run *exportRun) report(err error, last *client.StaticExportJob, resume string) {
	_, advice := explain(err)
	summary, state, next := summaryExportFailed, standing(last), strings.TrimSpace(advice+" "+resume)
	var failed *client.JobFailedError
	var timeout *timeoutError
	switch {
	case errors.As(err, &failed):
		run.diags.AddError(summaryJobFailed, paragraphs(failureOf(run.client, failed.Job)+" "+run.kept, fixAndExport))
		return
	case client.IsNotFound(err):
		summary, state, next = summaryJobNotFound, "Job: "+last.ID+".", exportNext
		if run.notes.NotFound {
			next = "Check base_url and the API key. If they are right, start a new export: run \"terraform apply -replace\" with the address of this resource."
		}
	case last.Succeeded() && run.plan.hasLink() && run.plan.JobID.ValueString() == last.ID:
		summary, state, next = summaryRenewalFailed, "Job: "+last.ID+".", strings.TrimSpace(advice+" The next apply tries again.")
	case last.Succeeded():
		summary = summaryLinkFailed
	case errors.As(err, &timeout):
		summary = summaryExportTimedOut
	case interrupted(err):
		summary = summaryExportInterrupted
	}
	addError(run.diags, summary, err, state+" "+run.kept, next)
}
