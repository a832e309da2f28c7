package provider

import (
	"context"
	"encoding/json"
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

	run := exportRun{client: c, clock: r.data.clock, goal: plan.goal(), pollInterval: durationOf(plan.PollInterval), creates: true, diags: &resp.Diagnostics}
	job, failure := run.start(ctx)
	if failure != nil {
		summary, text := failure.describe(c)
		addError(&resp.Diagnostics, summary, text, "")
		return
	}
	run.life = newLife(job)
	if failure := run.link(ctx); failure != nil {
		run.life.createEnded()
		summary, text := failure.describe(c)
		if failure.outcome == outcomeInterrupted {
			// A warning instead of an error, because Terraform would taint the resource.
			resp.Diagnostics.AddWarning(aboutJob(summary, job.ID), paragraphs(text.what, "The state contains the job, which has no link yet.", text.advice))
		} else {
			addError(&resp.Diagnostics, summary, text, "The state contains the job, and the resource is tainted.")
		}
	}
	run.life.store(ctx, plan, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Update takes the next steps. If one fails, the arguments in the state stay as they are.
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
		life.updated()
	} else {
		arguments = state
		run.keepLink(ctx)
		summary, text := failure.describe(c)
		addError(&resp.Diagnostics, summary, text, describeLink(life.Link, run.clock.Now()))
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
	creates      bool              // so Terraform taints the resource after an error
	life         *exportLife       // nil before the job of a create has started
	diags        *diag.Diagnostics // for warnings
}

// update takes the steps that the plan and the state require.
func (run *exportRun) update(ctx context.Context) (failure *exportFailure) {
	due := run.life.linkDue(run.clock.Now(), run.goal)
	for _, step := range run.life.nextSteps(run.goal, due) {
		before := failure // of the step before: the service could not find its job or bundle
		if before != nil {
			run.diags.AddWarning(aboutJob(summaryGone, before.jobID),
				fmt.Sprintf("During the apply, the service could not find job %s or its bundle for %s, so the apply continued without it.", before.jobID, notFoundLimit))
		}
		switch step {
		case stepResume:
			failure = run.linkPending(ctx)
		case stepLink:
			if failure = run.link(ctx); failure == nil && before != nil {
				run.life.pendingEnded()
			}
		case stepStart:
			failure = run.export(ctx)
		}
		if failure == nil || failure.outcome != outcomeGone {
			return failure
		}
	}
	return failure
}

// export exports the site. The state's job and its link stay until there is a new link.
func (run *exportRun) export(ctx context.Context) *exportFailure {
	job, failure := run.start(ctx)
	if failure != nil {
		return failure
	}
	run.life.pendingStarted(job, run.goal.inputs)
	return run.linkPending(ctx)
}

// start starts a job for the plan.
func (run *exportRun) start(ctx context.Context) (*client.StaticExportJob, *exportFailure) {
	job, err := run.client.StartStaticExport(ctx, run.goal.inputs.Domain, json.RawMessage(run.goal.inputs.Parameters))
	if err != nil {
		return nil, run.fail(stageStart, "", nil, err)
	}
	return job, nil
}

// link creates a link for the state's job.
func (run *exportRun) link(ctx context.Context) *exportFailure {
	life, stage, patience := run.life, stageRenewal, client.Plain
	if life.Link.URL == "" { // the export is lost if this fails
		stage, patience = stageLink, client.Patient
	}
	job, bundle, failure := run.complete(ctx, life.JobID, life.completed(), stage, patience)
	life.jobRead(job)
	switch {
	case failure == nil:
		run.linkCreated(bundle)
	case failure.outcome == outcomeGone && failure.stage == stagePoll:
		life.jobNotFound()
	case failure.outcome == outcomeGone:
		life.bundleNotFound()
	}
	return failure
}

// linkPending makes the pending job, once it has a link, the state's job.
func (run *exportRun) linkPending(ctx context.Context) *exportFailure {
	job, bundle, failure := run.complete(ctx, run.life.Pending.JobID, false, stageLink, client.Patient)
	switch {
	case failure == nil:
		run.life.pendingCompleted(job, bundle, run.goal, run.clock.Now())
		run.warnAboutLink()
	case failure.outcome == outcomeFailed:
		run.life.pendingEnded()
	}
	return failure
}

// complete waits for a job, unless it has completed, and then creates a link to its bundle, which
// is the given stage. It returns the job as a wait last read it, even with a failure, or nil.
func (run *exportRun) complete(ctx context.Context, jobID string, completed bool, linking exportStage, linkPatience client.Patience) (*client.StaticExportJob, *client.Bundle, *exportFailure) {
	var job *client.StaticExportJob
	if !completed {
		var err error
		job, err = run.client.WaitForStaticExport(ctx, jobID, run.pollInterval, client.Patient)
		if err != nil || !job.Succeeded() {
			return job, nil, run.fail(stagePoll, jobID, job, err)
		}
	}
	bundle, err := run.client.GenerateBundle(ctx, jobID, linkPatience)
	if err != nil {
		return job, nil, run.fail(linking, jobID, job, err)
	}
	return job, bundle, nil
}

// fail returns the failure of a stage; cause is nil if the job failed.
func (run *exportRun) fail(stage exportStage, jobID string, job *client.StaticExportJob, cause error) *exportFailure {
	return &exportFailure{
		stage: stage, outcome: outcomeOf(stage, cause), cause: cause,
		domain: run.goal.inputs.Domain, jobID: jobID, job: job, creates: run.creates,
	}
}

// keepLink renews the link of the earlier export if it is due, because it stays in use if
// a new export fails. As in the next plan, the plan's arguments decide whether it is due. keepLink
// takes half a minute at most, and does not report a failure: the next apply tries again.
func (run *exportRun) keepLink(ctx context.Context) {
	if !run.life.differs(run.goal) || !run.life.linkDue(run.clock.Now(), run.goal) {
		return
	}
	ctx, cancel := run.clock.WithTimeout(ctx, 30*time.Second, context.DeadlineExceeded)
	defer cancel()
	if bundle, err := run.client.GenerateBundle(ctx, run.life.JobID, client.Plain); err == nil {
		run.linkCreated(bundle)
	}
}

// linkCreated records a link to the bundle of the state's job.
func (run *exportRun) linkCreated(bundle *client.Bundle) {
	if kept := run.life.linkCreated(bundle, run.goal, run.clock.Now()); kept {
		run.diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summaryKeepsLinks, run.life.JobID),
			fmt.Sprintf("The renewal did not extend the link: it still expires at %s, because the service returns the same link until then. "+
				"From now on, the provider ignores this renew_before (%s) and renews links only after they have expired.\n\n"+
				"To shorten the time without a working link, run \"terraform apply\" more often. To try earlier renewals again, change renew_before.",
				run.life.Link.ExpiresAt.Format(time.RFC3339), shortDuration(run.life.KeptWith)))
	}
	run.warnAboutLink()
}

// warnAboutLink warns if the new link cannot be renewed as configured.
func (run *exportRun) warnAboutLink() {
	link, job, now := run.life.Link, run.life.JobID, run.clock.Now()
	if link.ExpiresAt.IsZero() {
		run.diags.AddWarning(aboutJob(summaryUnknownExpiry, job),
			"Neither the service nor the link itself specifies when the link expires, so expires_at is null and the provider does not renew the link.\n\n"+
				"For a new link in each run, use the ephemeral resource docs_static_export_bundle.")
		return
	}
	if run.goal.neverRenew {
		return
	}
	lead, clamped := run.life.lead(run.goal.renewBefore)
	if !now.Before(link.ExpiresAt) {
		run.diags.AddWarning(aboutJob(summaryExpiredLink, job),
			fmt.Sprintf("The link expired at %s, and this machine's clock reads %s. The next apply renews it.\n\nCheck this machine's clock. "+
				"If it is correct, contact the service's support.",
				link.ExpiresAt.Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
	} else if clamped {
		lifetime := shortDuration(link.ExpiresAt.Sub(run.life.LinkReceivedAt).Round(time.Second))
		run.diags.AddAttributeWarning(path.Root("renew_before"), aboutJob(summaryLongRenewBefore, job),
			fmt.Sprintf("The link expires %s after it was received, so every new link would be due for renewal immediately. The provider renews it %s before it expires instead.\n\n"+
				"Set a shorter renew_before. If Terraform runs less often than every %s, "+
				"no renew_before can keep a link from expiring.", lifetime, shortDuration(lead.Round(time.Second)), lifetime))
	}
}
