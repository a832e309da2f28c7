// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Create starts one job. Terraform stores nothing before Create returns, so the state is
// set once, at the end. It holds the ID of the job even if the wait fails.
func (r *staticExportResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, "create", defaultExportTimeout)
	defer cancel()

	run := exportRun{client: c, clock: r.data.clock, goal: plan.goal(), pollInterval: durationOf(plan.PollInterval), taints: true, diags: &resp.Diagnostics}
	job, failure := run.start(ctx)
	if failure != nil {
		run.describe(failure).addError(&resp.Diagnostics, "")
		return
	}
	run.life = newLife(job, run.goal.inputs)
	if failure := run.finish(ctx); failure != nil {
		run.life.createEnded()
		text := run.describe(failure)
		if failure.outcome() == outcomeInterrupted {
			// A warning instead of an error, because Terraform would taint the resource.
			resp.Diagnostics.AddWarning(aboutJob(text.summary, job.ID), paragraphs(text.known, "The state contains the job without a link.", text.next))
		} else {
			text.addError(&resp.Diagnostics, "The state contains the job, and the resource is tainted.")
		}
	}
	run.life.store(ctx, plan, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Update does the next step. If it fails, the arguments in the state stay as they are.
func (r *staticExportResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	life := readLife(ctx, &state, req.Private, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	// keepLink, after a timeout, needs a context that has not ended.
	bounded, cancel := r.data.withTimeout(ctx, plan.Timeouts, "update", defaultExportTimeout)
	defer cancel()

	run := exportRun{client: c, clock: r.data.clock, goal: plan.goal(), pollInterval: durationOf(plan.PollInterval), life: life, diags: &resp.Diagnostics}
	arguments := plan
	if failure := run.update(bounded); failure == nil {
		life.updated(run.goal.inputs)
	} else {
		arguments = state
		run.keepLink(ctx)
		run.describe(failure).addError(&resp.Diagnostics, describeLink(life.Link, run.clock.Now()))
	}
	life.store(ctx, arguments, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Delete sends no request, because the API cannot delete a job.
func (r *staticExportResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// exportRun is one apply of an export.
type exportRun struct {
	client       *client.Client
	clock        clock.Clock
	goal         exportGoal
	pollInterval time.Duration
	taints       bool // Terraform taints the resource after an error
	life         *exportLife
	diags        *diag.Diagnostics // for warnings
}

// update does what the plan and the state require.
func (run *exportRun) update(ctx context.Context) *exportFailure {
	switch run.life.nextStep(run.clock.Now(), run.goal) {
	case stepExport:
		return run.export(ctx)
	case stepLink:
		return run.finish(ctx)
	}
	return nil
}

// export resumes the pending job if it has the plan's inputs. If there is none, or the
// service cannot find it, export starts a job. The state's job and its link stay until there
// is a new link.
func (run *exportRun) export(ctx context.Context) *exportFailure {
	life, missing := run.life, ""
	if life.resumes(run.goal) {
		failure := run.finishPending(ctx)
		if failure == nil || failure.outcome() != outcomeGone {
			return failure
		}
		missing = life.Pending.JobID
	}
	job, failure := run.start(ctx)
	if failure != nil {
		return failure
	}
	if missing != "" {
		run.diags.AddWarning(aboutJob(summaryReplaced, missing),
			fmt.Sprintf("The service could not find job %s or its bundle for 30 seconds, so the apply started job %s.", missing, job.ID))
	}
	life.pendingStarted(job, run.goal.inputs)
	return run.finishPending(ctx)
}

// start starts a job for the plan.
func (run *exportRun) start(ctx context.Context) (*client.StaticExportJob, *exportFailure) {
	job, err := run.client.StartStaticExport(ctx, run.goal.inputs.Domain, run.goal.parameters)
	if err != nil {
		return nil, &exportFailure{request: requestStart, cause: err}
	}
	return job, nil
}

// finish waits for the state's job unless it has completed, and creates a link.
func (run *exportRun) finish(ctx context.Context) *exportFailure {
	life := run.life
	if !life.completed() {
		job, failure := run.wait(ctx, life.JobID)
		life.jobRead(job)
		if failure != nil {
			if failure.outcome() == outcomeGone {
				life.jobNotFound()
			}
			return failure
		}
	}
	request := requestRenewal
	if life.Link.URL == "" {
		request = requestLink
	}
	bundle, failure := run.createLink(ctx, request, life.JobID)
	if failure != nil {
		if failure.outcome() == outcomeGone && !run.taints { // no refresh asks for a bundle, so the apply after an untaint does
			life.bundleNotFound()
		}
		return failure
	}
	life.linkCreated(bundle, run.goal, run.clock.Now())
	run.warnAboutLink()
	return nil
}

// finishPending waits for the pending job, and creates a link to its bundle.
func (run *exportRun) finishPending(ctx context.Context) *exportFailure {
	life := run.life
	job, failure := run.wait(ctx, life.Pending.JobID)
	if failure != nil {
		if failure.outcome() == outcomeFailed {
			life.pendingFailed()
		}
		return failure
	}
	bundle, failure := run.createLink(ctx, requestLink, job.ID)
	if failure != nil {
		return failure
	}
	life.pendingCompleted(job, bundle, run.goal, run.clock.Now())
	run.warnAboutLink()
	return nil
}

// wait waits for a job to complete. It returns the job as it was last read, even with a
// failure, or nil if it was not read.
func (run *exportRun) wait(ctx context.Context, jobID string) (*client.StaticExportJob, *exportFailure) {
	job, err := run.client.WaitForStaticExport(ctx, jobID, client.WaitOptions{Interval: run.pollInterval, Started: true})
	if err != nil || !job.Succeeded() {
		return job, &exportFailure{request: requestPoll, jobID: jobID, job: job, cause: err}
	}
	return job, nil
}

// createLink creates a link to the bundle of a job.
func (run *exportRun) createLink(ctx context.Context, request exportRequest, jobID string) (*client.Bundle, *exportFailure) {
	bundle, err := run.client.GenerateBundle(ctx, jobID, client.BundleOptions{First: request == requestLink})
	if err != nil {
		return nil, &exportFailure{request: request, jobID: jobID, cause: err}
	}
	return bundle, nil
}

// keepLink renews the link of the earlier export if it is due, because it stays in use if
// a new export fails. It takes half a minute at most, and does not report a failure: the
// next apply tries again.
func (run *exportRun) keepLink(ctx context.Context) {
	if !run.life.renewsForOldInputs(run.clock.Now(), run.goal) {
		return
	}
	ctx, cancel := run.clock.WithTimeout(ctx, 30*time.Second, context.DeadlineExceeded)
	defer cancel()
	if bundle, err := run.client.GenerateBundle(ctx, run.life.JobID, client.BundleOptions{}); err == nil {
		run.life.linkCreated(bundle, run.goal, run.clock.Now())
	}
}

// warnAboutLink warns if the new link cannot be renewed as configured.
func (run *exportRun) warnAboutLink() {
	link, job, now := run.life.Link, run.life.JobID, run.clock.Now()
	if link.ExpiresAt.IsZero() {
		run.diags.AddWarning(aboutJob(summaryUnknownExpiry, job),
			"Neither the service nor the link specifies when it expires, so expires_at is null and the link is not renewed.\n\n"+
				"For a new link in each run, use the ephemeral resource docs_static_export_bundle.")
		return
	}
	if run.goal.never {
		return
	}
	lead, clamped := run.life.lead(run.goal.renewBefore)
	if !now.Before(link.ExpiresAt) {
		run.diags.AddWarning(aboutJob(summaryExpiredLink, job),
			fmt.Sprintf("The link expired at %s, and this machine's clock says %s. The next apply requests a new link.\n\nIf the clock is wrong, correct it.",
				link.ExpiresAt.Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
	} else if clamped {
		lifetime := link.ExpiresAt.Sub(link.ReceivedAt).Round(time.Second)
		run.diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summaryLongRenewBefore, job),
			fmt.Sprintf("Links expire after %s, so every new link would be due for renewal at once. The provider uses %s instead.\n\n"+
				"Set a shorter renew_before. If Terraform runs less often than every %s, no renew_before can keep a link from expiring.", lifetime, lead.Round(time.Second), lifetime))
	}
}
