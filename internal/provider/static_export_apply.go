// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Create starts one job. Terraform stores nothing before Create returns, so the state is
// set once, at the end. It holds the ID of the job even if the wait fails.
func (r *staticExportResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if _, ok := r.data.ready(&resp.Diagnostics); !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, "create", defaultExportTimeout)
	defer cancel()

	run := exportRun{providerData: r.data, goal: plan.goal(), pollInterval: durationOf(plan.PollInterval), diags: &resp.Diagnostics}
	job, err := run.start(ctx)
	if err != nil {
		run.describe(err, "create", "").add(&resp.Diagnostics, "")
		return
	}
	run.life = newLife(job)
	switch err := run.link(ctx); {
	case err == nil:
	case interrupted(err):
		// A warning instead of an error, because Terraform would taint the resource.
		run.life.createEnded()
		failure := run.describe(err, "create", resumeByApply)
		resp.Diagnostics.AddWarning(failure.summary, paragraphs(failure.what, "The state contains the job without a link.", failure.next))
	default:
		run.life.createEnded()
		run.describe(err, "create", resumeByUntaint).add(&resp.Diagnostics, "The state contains the job, and the resource is tainted.")
	}
	run.life.store(ctx, plan, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Update does the next step. If it fails, the arguments in the state stay as they are.
func (r *staticExportResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	life := readLife(ctx, &state, req.Private, &resp.Diagnostics)
	if _, ok := r.data.ready(&resp.Diagnostics); !ok || resp.Diagnostics.HasError() {
		return
	}
	// keepLink, after a timeout, needs a context that has not ended.
	bounded, cancel := r.data.withTimeout(ctx, plan.Timeouts, "update", defaultExportTimeout)
	defer cancel()

	run := exportRun{providerData: r.data, goal: plan.goal(), pollInterval: durationOf(plan.PollInterval), life: life, diags: &resp.Diagnostics}
	arguments := plan
	if err := run.update(bounded); err == nil {
		life.updated()
	} else {
		arguments = state
		run.keepLink(ctx)
		resume := resumeByApply
		if isGone(err) {
			resume = askByApply
		}
		run.describe(err, "update", resume).add(&resp.Diagnostics, describeLink(life.Link, run.clock.Now()))
	}
	life.store(ctx, arguments, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Delete sends no request, because the API cannot delete a job.
func (r *staticExportResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// exportRun is one apply of an export. The errors of its methods are [*exportError].
type exportRun struct {
	*providerData
	goal         exportGoal
	pollInterval time.Duration
	life         *exportLife
	diags        *diag.Diagnostics // for warnings
}

// update does what the plan and the state require.
func (run *exportRun) update(ctx context.Context) error {
	switch run.life.nextStep(run.clock.Now(), run.goal) {
	case stepLookFor:
		return run.lookFor(ctx)
	case stepExport:
		return run.export(ctx)
	case stepLink:
		return run.link(ctx)
	}
	return nil
}

// lookFor looks for the missing job or bundle for half a minute, and exports the site only
// if it is gone.
func (run *exportRun) lookFor(ctx context.Context) error {
	life := run.life
	if life.JobMissing {
		job, err := run.client.FindStaticExportJob(ctx, life.JobID)
		if client.IsNotFound(err) {
			return run.replace(ctx)
		}
		if err != nil {
			return &exportError{request: requestFind, jobID: life.JobID, cause: err}
		}
		life.jobRead(job)
		return run.update(ctx) // which no longer looks for the job
	}
	err := run.link(ctx)
	if isGone(err) {
		return run.replace(ctx)
	}
	return err
}

// replace exports the site again, because its job or bundle is gone.
func (run *exportRun) replace(ctx context.Context) error {
	run.diags.AddWarning(summaryReplaced, fmt.Sprintf("The service could not find job %s or its bundle for 30 seconds, so the apply exports the site again.", run.life.JobID))
	return run.export(ctx)
}

// export resumes the pending job if it has the plan's inputs. If there is none, or it is
// gone, export starts a job. The state's job and its link stay until there is a new link.
func (run *exportRun) export(ctx context.Context) error {
	if run.life.resumes(run.goal) {
		if err := run.finish(ctx); !isGone(err) {
			return err
		}
	}
	job, err := run.start(ctx)
	if err != nil {
		return err
	}
	run.life.pendingStarted(job, run.goal.inputs)
	return run.finish(ctx)
}

// start starts a job for the plan.
func (run *exportRun) start(ctx context.Context) (*client.StaticExportJob, error) {
	inputs := run.goal.inputs
	job, err := run.client.StartStaticExport(ctx, inputs.Domain, json.RawMessage(inputs.Parameters))
	if err != nil {
		return nil, &exportError{request: requestStart, cause: err}
	}
	return job, nil
}

// link creates a link to the bundle of the state's job, after waiting for a job that has
// not completed. Only a renewal takes the service's first answer.
func (run *exportRun) link(ctx context.Context) error {
	life := run.life
	if !life.completed() {
		job, err := run.wait(ctx, life.JobID)
		life.jobRead(job)
		if isGone(err) {
			life.jobNotFound()
		}
		if err != nil {
			return err
		}
	}
	request, create := requestRenew, run.client.GenerateBundle
	switch {
	case life.Link.URL == "":
		request, create = requestLink, run.client.WaitForBundle
	case life.BundleMissing:
		create = run.client.WaitForBundle
	}
	bundle, err := create(ctx, life.JobID)
	if client.IsNotFound(err) {
		life.bundleNotFound()
	}
	if err != nil {
		return &exportError{request: request, jobID: life.JobID, cause: err}
	}
	life.linkCreated(bundle, run.clock.Now())
	run.warnAboutLink()
	return nil
}

// finish waits for the pending job, and creates a link to its bundle.
func (run *exportRun) finish(ctx context.Context) error {
	life := run.life
	job, err := run.wait(ctx, life.Pending.JobID)
	if job != nil && job.Status == client.JobFailed {
		life.pendingFailed()
	}
	if err != nil {
		return err
	}
	bundle, err := run.client.WaitForBundle(ctx, job.ID)
	if err != nil {
		return &exportError{request: requestLink, jobID: job.ID, cause: err}
	}
	life.pendingCompleted(job, bundle, run.clock.Now())
	run.warnAboutLink()
	return nil
}

// wait waits for a job to complete. It returns the job as it was last read, even with an
// error, or nil if it was not read.
func (run *exportRun) wait(ctx context.Context, jobID string) (*client.StaticExportJob, error) {
	job, err := run.client.WaitForStaticExport(ctx, jobID, client.WaitOptions{Interval: run.pollInterval, Patient: true})
	if err != nil {
		err = &exportError{request: requestPoll, jobID: jobID, job: job, cause: err}
	}
	return job, err
}

// keepLink renews the link of the earlier export if it is due, because it stays in use if
// a new export fails. It takes half a minute at most, and does not report a failure: the
// next apply tries again.
func (run *exportRun) keepLink(ctx context.Context) {
	life := run.life
	kept := run.goal
	kept.inputs, kept.known = life.Inputs, true
	if life.Link.URL == "" || !life.differs(run.goal) || life.nextStep(run.clock.Now(), kept) != stepLink {
		return
	}
	ctx, cancel := run.withTimeout(ctx, types.Object{}, noTimeoutField, "30s")
	defer cancel()
	if bundle, err := run.client.GenerateBundle(ctx, life.JobID); err == nil {
		life.linkCreated(bundle, run.clock.Now())
	}
}

// warnAboutLink warns if the new link cannot be renewed as configured.
func (run *exportRun) warnAboutLink() {
	link, now := run.life.Link, run.clock.Now()
	if link.ExpiresAt.IsZero() {
		run.diags.AddWarning(summaryUnknownExpiry,
			"Neither the service nor the link specifies when it expires, so expires_at is null and the link is not renewed.\n\nFor a new link, change triggers to export again.")
		return
	}
	if run.goal.never {
		return
	}
	lead, clamped := link.lead(run.goal.renewBefore)
	if !now.Before(link.ExpiresAt) {
		run.diags.AddWarning(summaryExpiredLink,
			fmt.Sprintf("The link expired at %s, and this machine's clock says %s. The next apply requests a new link.\n\nIf the clock is wrong, correct it.",
				link.ExpiresAt.Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
	} else if clamped {
		lifetime := link.ExpiresAt.Sub(link.ReceivedAt).Round(time.Second)
		run.diags.AddAttributeWarning(path.Root("renew_before"), summaryLongRenewBefore,
			fmt.Sprintf("Links expire after %s, so every new link would be due for renewal at once. The provider uses %s instead.\n\n"+
				"Set a shorter renew_before. If Terraform runs less often than every %s, no renew_before can keep a link from expiring.", lifetime, lead.Round(time.Second), lifetime))
	}
}
