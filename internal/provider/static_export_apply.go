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
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Create starts one job, writes its id to the state and goes on with it from
// there, so that whatever happens next the id is not lost.
func (r *staticExportResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, defaultExportTimeout)
	resp.Diagnostics.Append(diags...)
	c, ok := r.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, timeout)
	defer cancel()

	notes := &exportNotes{}
	run := exportRun{client: c, plan: &plan, notes: notes, diags: &resp.Diagnostics}
	job, startedAt, ok := run.start(ctx)
	if !ok {
		return
	}
	plan.setJob(job)
	plan.forgetLink()
	save := func() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
		notes.write(ctx, resp.Private, &resp.Diagnostics)
	}
	save()

	last, err := run.wait(ctx, job.ID, startedAt)
	if last != nil {
		plan.setJob(last)
	}
	if err == nil {
		err = run.link(ctx, &plan)
	}
	save()
	switch {
	case err == nil:
	case interrupted(err):
		resp.Diagnostics.AddWarning("Static export interrupted",
			fmt.Sprintf("%s It is not affected by the interrupt.\n\nThe state holds the job and no link yet. %s", progressOf(seen(job.ID, last)), resumeByApply))
	default:
		run.report(err, seen(job.ID, last), "The state holds the job, marked as tainted.",
			"Another apply would start a new job. To go on with this one instead, run \"terraform untaint\" with the address of this resource, and apply again.")
	}
}

// Update makes what the plan's difference asks for: see [nextStep].
func (r *staticExportResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := plan.Timeouts.Update(ctx, defaultExportTimeout)
	resp.Diagnostics.Append(diags...)
	notes := readNotes(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	step := nextStep(r.service.now(notes.Skew), &plan, &state, notes)
	plan.copyComputed(&state)
	if step != stepNothing {
		c, ok := r.service.ready(&resp.Diagnostics)
		if !ok {
			return
		}
		bounded, cancel := c.WithTimeout(ctx, timeout)
		defer cancel()
		run := exportRun{client: c, plan: &plan, notes: notes, diags: &resp.Diagnostics}
		if step == stepExport {
			ok = run.exportAnew(bounded)
		} else {
			ok = run.finish(bounded)
		}
		if !ok {
			// The prior state stays, with a link that works, and with the error the notes are saved.
			if step == stepExport && notes.linkIsDue(r.service.now(notes.Skew), run.plan, &state) && run.renewEarlier(ctx, &state) {
				resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
			}
			notes.write(ctx, resp.Private, &resp.Diagnostics)
			return
		}
	}
	// A job that is pending for other inputs is given up: its content ages.
	notes.Imported, notes.Pending = false, nil
	notes.write(ctx, resp.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, plan.identity())...)
}

// Delete calls nothing: the API has no way to delete a job.
func (r *staticExportResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// exportRun is one apply of an export. It changes plan into what the state will
// hold.
type exportRun struct {
	client *client.Client
	plan   *staticExportModel
	notes  *exportNotes
	diags  *diag.Diagnostics
}

// start starts a job. It reports failures itself.
func (run *exportRun) start(ctx context.Context) (job *client.StaticExportJob, startedAt time.Time, ok bool) {
	parameters, err := parseParameters(run.plan.AdditionalParameters.ValueString())
	if err != nil {
		run.diags.AddAttributeError(path.Root("additional_parameters"), "Invalid additional parameters",
			"The value must be one JSON object, as jsonencode({ ... }) writes it: "+err.Error()+".")
		return nil, startedAt, false
	}
	startedAt = run.client.Now()
	job, err = run.client.StartStaticExport(ctx, run.plan.Domain.ValueString(), parameters)
	if err == nil {
		return job, startedAt, true
	}
	consequence := "No job was started."
	if client.MayHaveStarted(err) {
		consequence = "The service may have started a job all the same, whose id did not arrive here. The request was not repeated, so that nothing is exported twice. " +
			"Look for a running export in the service's dashboard: if there is one, wait for it and import it by its id (after \"terraform state rm\", where the resource is in the state already); if not, apply again."
	}
	addError(run.diags, "Could not start the static export of "+run.plan.Domain.ValueString(), err, consequence)
	return nil, startedAt, false
}

// wait waits for a job, one that was just started if startedAt is set.
func (run *exportRun) wait(ctx context.Context, jobID string, startedAt time.Time) (*client.StaticExportJob, error) {
	interval := durationOf(run.plan.PollInterval)
	return run.client.WaitForStaticExport(ctx, jobID, client.WaitOptions{
		Poll:      client.PollOptions{Interval: interval},
		StartedAt: startedAt,
	}, nil)
}

// link makes a link to the bundle of the model's job.
func (run *exportRun) link(ctx context.Context, model *staticExportModel) error {
	bundle, err := run.client.GenerateBundle(ctx, model.JobID.ValueString())
	if err != nil {
		return err
	}
	previous := *model
	model.BundleURL = types.StringValue(bundle.URL)
	model.ExpiresAt = types.StringNull()
	model.BundleSizeBytes = types.Int64PointerValue(bundle.SizeBytes)
	ahead, _ := run.client.Skew()
	now := run.client.Now().Add(ahead)
	if bundle.ExpiresAt.IsZero() {
		run.notes.LinkMadeAt, run.notes.LinkKept = now, ""
		run.diags.AddWarning("Expiry of the bundle link is not known",
			"Neither the service's answer nor the link says in a readable form when the link expires. expires_at is null, and the link will not be renewed by itself. "+
				"To make a new one, export again by changing triggers.")
		return nil
	}
	model.ExpiresAt = types.StringValue(bundle.ExpiresAt.Format(time.RFC3339))
	run.notes.Skew = ahead
	if previous.JobID.Equal(model.JobID) && previous.ExpiresAt.Equal(model.ExpiresAt) {
		run.notes.LinkKept = model.ExpiresAt.ValueString()
		if !now.Before(bundle.ExpiresAt) {
			run.diags.AddWarning("The service keeps an expired link",
				fmt.Sprintf("Asked for another link, the service handed out the one that expired at %s again. The next apply asks once more.", model.ExpiresAt.ValueString()))
		}
	} else {
		run.notes.LinkMadeAt, run.notes.LinkKept = now, ""
	}
	run.checkLifetime(bundle.ExpiresAt)
	return nil
}

// checkLifetime warns where a link cannot be renewed as it was asked for.
func (run *exportRun) checkLifetime(expiresAt time.Time) {
	age := linkAge{MadeAt: run.notes.LinkMadeAt, ExpiresAt: expiresAt}
	if run.plan.LinkRenewal.ValueString() == renewNever {
		return
	}
	if !age.ExpiresAt.After(age.MadeAt) {
		run.diags.AddWarning("The bundle link has expired already",
			fmt.Sprintf("The service handed out a link that expired at %s, but it is %s now. The link will not be renewed by itself, because the next one would be the same. Check this machine's clock.",
				age.ExpiresAt.Format(time.RFC3339), age.MadeAt.UTC().Format(time.RFC3339)))
		return
	}
	renewBefore := durationOf(run.plan.RenewBefore)
	if lead, clamped := clampRenewBefore(age, renewBefore); clamped {
		run.diags.AddAttributeWarning(path.Root("renew_before"), "renew_before is longer than the link lives",
			fmt.Sprintf("The service's link lives for %s, so renewing it %s before its expiry would never end. It is renewed %s before instead.",
				age.ExpiresAt.Sub(age.MadeAt).Round(time.Second), renewBefore, lead.Round(time.Second)))
	}
}

// finish waits for the state's job, if it has not completed, and makes a link.
func (run *exportRun) finish(ctx context.Context) bool {
	jobID := run.plan.JobID.ValueString()
	last := &client.StaticExportJob{ID: jobID, Status: run.plan.Status.ValueString()}
	var err error
	if !last.Succeeded() {
		var job *client.StaticExportJob
		if job, err = run.wait(ctx, jobID, time.Time{}); job != nil {
			last = job
		}
	}
	if err == nil {
		run.plan.setJob(last)
		err = run.link(ctx, run.plan)
	}
	if err == nil {
		return true
	}
	run.notes.Lost = exportLost(err)
	run.report(err, last, "The state is unchanged.", resumeByApply)
	return false
}

// exportAnew exports new content: with the job that an earlier apply started
// for the same inputs but did not see the end of, else with a new one. Until its
// bundle is there, the model keeps the old job and link.
func (run *exportRun) exportAnew(ctx context.Context) bool {
	inputs := inputsOf(run.plan).fingerprint()
	var startedAt time.Time
	if run.notes.Pending == nil || run.notes.Pending.Inputs != inputs {
		job, at, ok := run.start(ctx)
		if !ok {
			return false
		}
		startedAt = at
		run.notes.Pending = &pendingJob{JobID: job.ID, Inputs: inputs}
	}
	jobID := run.notes.Pending.JobID
	next := *run.plan
	last, err := run.wait(ctx, jobID, startedAt)
	if err == nil {
		next.setJob(last)
		next.forgetLink()
		err = run.link(ctx, &next)
	}
	if err == nil {
		run.notes.Lost = false
		*run.plan = next
		return true
	}
	if exportLost(err) {
		run.notes.Pending = nil
	}
	kept := "The state keeps the earlier export and its link."
	if !run.plan.hasLink() {
		kept = "The state is unchanged."
	}
	run.report(err, seen(jobID, last), kept,
		resumeByApply+" No other job is started as long as triggers and additional_parameters stay as they are.")
	return false
}

const resumeByApply = "To go on with the same job, run \"terraform apply\" again."

// exportLost reports whether a job will never give a bundle.
func exportLost(err error) bool {
	var failed *client.JobFailedError
	return errors.As(err, &failed) || client.IsGone(err)
}

// renewEarlier makes a new link of the earlier export, which stays in use while
// there is no other. The error that is told is the other's: a failure of this
// comes up again with the next apply.
func (run *exportRun) renewEarlier(ctx context.Context, state *staticExportModel) bool {
	ctx, cancel := run.client.WithTimeout(ctx, defaultReadTimeout)
	defer cancel()
	return run.link(ctx, state) == nil
}

// seen is the last that is known of a job.
func seen(jobID string, last *client.StaticExportJob) *client.StaticExportJob {
	if last != nil {
		return last
	}
	return &client.StaticExportJob{ID: jobID}
}

// report says how an export ended that did not end well: what the state holds
// now, and how to go on with the job where there is a point in it.
func (run *exportRun) report(err error, last *client.StaticExportJob, state, resume string) {
	next := state + " " + resume
	if exportLost(err) {
		next = state + " The next apply exports anew."
	}
	var failed *client.JobFailedError
	switch {
	case errors.As(err, &failed):
		run.diags.AddError("Static export job failed", failureOf(failed.Job)+"\n\n"+next)
	case errors.Is(err, client.ErrTimeout):
		addError(run.diags, "Static export not finished in time", err, progressOf(last), next)
	case interrupted(err):
		run.diags.AddError("Static export interrupted", progressOf(last)+"\n\n"+next)
	case client.IsGone(err):
		addError(run.diags, "Static export job not known to the service", err, fmt.Sprintf("The job is %s.", last.ID), next)
	default:
		addError(run.diags, "Could not finish the static export", err, progressOf(last), next)
	}
}

// interrupted reports whether Terraform was asked to stop.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled)
}

// progressOf says how far a job had got when it was last seen.
func progressOf(last *client.StaticExportJob) string {
	if last.Status == "" {
		return fmt.Sprintf("Job %s was started; the service has not told its status yet.", last.ID)
	}
	text := fmt.Sprintf("Job %s was last seen with status %q", last.ID, last.Status)
	if last.Progress != nil {
		text += fmt.Sprintf(", progress %g", *last.Progress)
	}
	if last.PageCount != nil {
		text += fmt.Sprintf(", %d pages", *last.PageCount)
	}
	return text + "."
}

func failureOf(job *client.StaticExportJob) string {
	if job.Error == "" {
		return fmt.Sprintf("Job %s ended with status %q. The service gave no reason; look for it in the service's dashboard.", job.ID, job.Status)
	}
	return fmt.Sprintf("Job %s ended with status %q. The service said: %s", job.ID, job.Status, job.Error)
}

// setJob takes over what the service said of a job. What it does not say stays.
func (m *staticExportModel) setJob(job *client.StaticExportJob) {
	m.JobID = types.StringValue(job.ID)
	if job.Status != "" || m.Status.IsUnknown() {
		m.Status = nullIfEmpty(job.Status)
	}
	if job.PageCount != nil || m.PageCount.IsUnknown() {
		m.PageCount = types.Int64PointerValue(job.PageCount)
	}
}

func nullIfEmpty(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}
