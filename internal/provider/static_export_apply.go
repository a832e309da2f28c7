// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
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

	run := exportRun{r.data, &plan, plan.goal(), &exportLife{}, &resp.Diagnostics}
	if failed := run.start(ctx); failed != nil {
		failed.add(&resp.Diagnostics, "", "")
		return
	}
	switch failed := run.link(ctx, run.clock.Now()); {
	case failed == nil:
	case interrupted(failed.err):
		// A warning instead of an error: Terraform must not taint the resource.
		resp.Diagnostics.AddWarning(failed.summary, paragraphs(failed.what, "The state contains the job without a link.", resumeByApply))
	default:
		failed.add(&resp.Diagnostics, "The state contains the job, and the resource is tainted.", resumeByUntaint)
	}
	run.life.write(ctx, plan, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
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

	run := exportRun{r.data, &plan, plan.goal(), life, &resp.Diagnostics}
	arguments := plan
	if failed := run.update(bounded); failed == nil {
		life.updated()
	} else {
		arguments = state
		run.keepLink(ctx, state)
		resume := resumeByApply
		if failed.notFound != (missing{}) {
			resume = askByApply
		}
		failed.add(&resp.Diagnostics, describeLink(life.Link, run.clock.Now()), resume)
	}
	life.write(ctx, arguments, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Delete sends no request, because the API cannot delete a job.
func (r *staticExportResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// exportRun is one apply of an export.
type exportRun struct {
	*providerData
	plan  *staticExportModel
	goal  exportGoal // of the plan
	life  *exportLife
	diags *diag.Diagnostics // for warnings
}

// update does what the plan and the state require. It starts nothing in place of what is
// missing before it has asked for that again.
func (run *exportRun) update(ctx context.Context) *exportFailure {
	exports := run.life.nextStep(run.clock.Now(), run.goal) == stepExport
	if exports && run.life.isMissing() && !run.life.differs(run.goal) {
		if failed := run.askAgain(ctx); failed != nil {
			return failed
		}
	}
	switch run.life.nextStep(run.clock.Now(), run.goal) {
	case stepLink:
		return run.link(ctx, time.Time{})
	case stepExport:
		return run.export(ctx)
	}
	return nil
}

// askAgain asks for what is missing of the state's job. It is no failure if that is still
// missing.
func (run *exportRun) askAgain(ctx context.Context) *exportFailure {
	life := run.life
	if life.Missing.Job {
		job, err := run.client.GetStaticExportJob(ctx, life.JobID)
		if client.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return failedToRead(err, life.JobID)
		}
		life.jobRead(job)
	}
	if life.Missing.Bundle && life.Status != client.JobFailed {
		if failed := run.link(ctx, time.Time{}); failed != nil && !failed.notFound.Bundle {
			return failed
		}
	}
	return nil
}

// export resumes the pending job if it has the plan's inputs, and otherwise, or if the
// pending job is gone, starts a job. The state's job and its link stay until there is a
// new link.
func (run *exportRun) export(ctx context.Context) *exportFailure {
	if run.life.resumes(run.goal) {
		if failed, gone := run.finish(ctx, time.Time{}); !gone {
			return failed
		}
	}
	if failed := run.start(ctx); failed != nil {
		return failed
	}
	failed, _ := run.finish(ctx, run.clock.Now())
	return failed
}

// start starts a job for the plan.
func (run *exportRun) start(ctx context.Context) *exportFailure {
	domain := run.plan.Domain.ValueString()
	job, err := run.client.StartStaticExport(ctx, domain, json.RawMessage(run.plan.AdditionalParameters.ValueString()))
	if err != nil {
		return failedToStart(err, domain, run.client.BaseURL())
	}
	run.life.started(job, run.goal.inputs)
	return nil
}

// link creates a link for the state's job, after waiting for the job if it has not
// completed. startedAt is zero unless the job was just started.
func (run *exportRun) link(ctx context.Context, startedAt time.Time) *exportFailure {
	life := run.life
	job, bundle, failed := run.waitAndLink(ctx, life.JobID, life.Status == client.JobCompleted, startedAt)
	life.jobRead(job)
	if failed != nil {
		life.Missing.notFound(failed.notFound)
		return failed
	}
	life.linkCreated(bundle, run.clock.Now())
	run.warnAboutLink()
	return nil
}

// finish waits for the pending job and creates a link to its bundle. startedAt is zero
// unless the job was just started. gone means that the service still cannot find what was
// missing before.
func (run *exportRun) finish(ctx context.Context, startedAt time.Time) (_ *exportFailure, gone bool) {
	life := run.life
	job, bundle, failed := run.waitAndLink(ctx, life.Pending.JobID, false, startedAt)
	life.pendingRead(job)
	if failed != nil {
		gone = life.Pending.Missing.notFound(failed.notFound)
		if _, ended := errors.AsType[*client.JobFailedError](failed.err); ended {
			life.pendingFailed()
		}
		return failed, gone
	}
	life.pendingCompleted(job, bundle, run.clock.Now())
	run.warnAboutLink()
	return nil, false
}

// waitAndLink creates a link to the bundle of a job, after waiting for the job if it has
// not completed. It returns the job as it was last read, or nil if it was not.
func (run *exportRun) waitAndLink(ctx context.Context, jobID string, completed bool, startedAt time.Time) (job *client.StaticExportJob, _ *client.Bundle, _ *exportFailure) {
	if !completed {
		var err error
		job, err = run.client.WaitForStaticExport(ctx, jobID, client.WaitOptions{Interval: durationOf(run.plan.PollInterval), StartedAt: startedAt})
		if err != nil {
			return job, nil, failedToFinish(run.client, err, jobID, job)
		}
	}
	bundle, err := run.client.GenerateBundle(ctx, jobID)
	if err != nil {
		return job, nil, failedToLink(err, jobID, completed && run.life.Link.URL != "")
	}
	return job, bundle, nil
}

// keepLink renews the link of the earlier export if it is due, because it stays in use if
// a new export fails. It does not report a failure: the next apply tries again.
func (run *exportRun) keepLink(ctx context.Context, state staticExportModel) {
	life := run.life
	if !life.differs(run.goal) || life.isMissing() || !life.linkIsDue(run.clock.Now(), run.goal) {
		return
	}
	ctx, cancel := run.withTimeout(ctx, state.Timeouts, "read", defaultReadTimeout)
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
