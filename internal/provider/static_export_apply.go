package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Create resumes an unfinished job that Delete has handed over, or starts one. Terraform stores nothing before Create
// returns, so the state is set once, at the end. It holds the ID of the job even if Create fails.
func (r *staticExportResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	run, ctx, cancel := r.newRun(ctx, plan, "create", &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	defer cancel()

	failure := run.create(ctx)
	if failure != nil {
		summary, detail := failure.describe(run.client, run.export, run.clock.Now())
		if run.export != nil && interrupted(failure.cause) { // Terraform would taint the resource after an error
			resp.Diagnostics.AddWarning(aboutJob(summary, failure.about), detail)
		} else {
			resp.Diagnostics.AddError(summary, detail)
		}
	}
	if run.export != nil {
		run.export.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
	}
}

// Update takes the next step. If that fails, the state keeps its arguments.
func (r *staticExportResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	export := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	run, bounded, cancel := r.newRun(ctx, plan, "update", &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	defer cancel()

	run.export = export
	if failure := run.update(bounded); failure == nil {
		export.applied(plan.exportArguments)
	} else {
		if failure.stage != stageRenewal && !interrupted(failure.cause) {
			run.renewOldLink(ctx)
		}
		resp.Diagnostics.AddError(failure.describe(run.client, export, run.clock.Now()))
	}
	export.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Delete sends no request, because the API cannot delete a job. It hands what is unfinished to a Create that follows
// in the same apply: Terraform replaces what a failed Create has left. For that, it passes no private state, so the
// pending job is handed over only in other replacements.
func (r *staticExportResource) Delete(ctx context.Context, req resource.DeleteRequest, _ *resource.DeleteResponse) {
	var ignored diag.Diagnostics // an unreadable private state does not stop a destroy
	export := readStoredExport(ctx, req.State, req.Private, &ignored)
	for _, job := range []*unfinishedJob{export.unfinished(), export.Pending} {
		if job != nil {
			r.data.deleted.add(*job)
		}
	}
}

// exportRun is one apply of an export.
type exportRun struct {
	client       *client.Client
	clock        clock.Clock
	deleted      *unfinishedJobs
	arguments    exportArguments // of the plan
	wanted       wantedExport    // by them
	pollInterval time.Duration
	export       *storedExport     // nil before the job of a create has started
	diags        *diag.Diagnostics // for warnings
}

// newRun returns the run of a plan, and its context, limited by a field of the timeouts.
func (r *staticExportResource) newRun(ctx context.Context, plan staticExportModel, timeout string, diags *diag.Diagnostics) (
	*exportRun, context.Context, context.CancelFunc,
) {
	c, ok := r.data.ready(diags)
	if !ok || diags.HasError() {
		return nil, nil, nil
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, timeout, defaultExportTimeout)
	return &exportRun{
		client: c, clock: r.data.clock, deleted: &r.data.deleted, diags: diags,
		arguments: plan.exportArguments, wanted: plan.wanted(), pollInterval: durationOf(plan.PollInterval),
	}, ctx, cancel
}

// create exports the site for the first time.
func (run *exportRun) create(ctx context.Context) *exportFailure {
	if job := run.deleted.take(func(job unfinishedJob) bool { return run.wanted.equals(job.Inputs) }); job != nil {
		run.export = newExport(run.arguments, job.JobID)
		if failure := run.finish(ctx, run.export); failure == nil || !failure.missing() {
			return failure
		}
	}
	job, failure := run.start(ctx)
	if failure != nil {
		return failure // the state keeps the job that was handed over, if there is one
	}
	run.export = newExport(run.arguments, job.ID)
	run.export.jobRead(job)
	return run.finish(ctx, run.export)
}

// update takes the next step of an existing export.
func (run *exportRun) update(ctx context.Context) *exportFailure {
	switch run.export.nextStep(run.wanted, run.export.linkDue(run.clock.Now(), run.wanted)) {
	case stepLink:
		return run.finish(ctx, run.export)
	case stepExport:
		return run.exportAgain(ctx)
	}
	return nil
}

// exportAgain resumes the pending job if it has the wanted inputs, and asks once more for a bundle that was missing.
// Otherwise, or if the service does not find it, exportAgain starts another job. The state keeps the old job and its
// link until there is a new link.
func (run *exportRun) exportAgain(ctx context.Context) *exportFailure {
	e := run.export
	if e.resumes(run.wanted) {
		if failure := run.finishPending(ctx); failure == nil || !failure.missing() {
			return failure
		}
	} else if e.BundleMissing && !e.JobMissing && !e.failed() && !e.differs(run.wanted) {
		if failure := run.finish(ctx, e); failure == nil || !failure.missing() {
			return failure
		}
	}
	job, failure := run.start(ctx)
	if failure != nil {
		return failure
	}
	e.pendingStarted(job, run.wanted.inputs)
	return run.finishPending(ctx)
}

// start starts a job.
func (run *exportRun) start(ctx context.Context) (*client.StaticExportJob, *exportFailure) {
	inputs := run.wanted.inputs
	job, err := run.client.StartStaticExport(ctx, inputs.Domain, decodeParameters(inputs.Parameters))
	if err != nil {
		return nil, &exportFailure{stage: stageStart, about: inputs.Domain, cause: err}
	}
	return job, nil
}

// finishPending finishes the pending job and makes it the job.
func (run *exportRun) finishPending(ctx context.Context) *exportFailure {
	next := newExport(run.arguments, run.export.Pending.JobID)
	failure := run.finish(ctx, next)
	if failure == nil || failure.cause == nil { // it has a link, or the job failed
		run.export.pendingEnded(next)
	}
	return failure
}

// finish waits for the job of an export, unless it is known to have completed, and creates a link to its bundle.
func (run *exportRun) finish(ctx context.Context, export *storedExport) *exportFailure {
	jobID := export.JobID.ValueString()
	if !export.completed() {
		job, err := run.client.WaitForStaticExport(ctx, jobID, run.pollInterval, client.Patient)
		export.jobRead(job)
		if err != nil || !job.Succeeded() {
			export.jobUnread(err)
			return &exportFailure{stage: stageJob, about: jobID, job: job, cause: err}
		}
	}
	stage, patience := stageLink, client.Patient // the export is lost if this fails
	if export.linked() {
		stage, patience = stageRenewal, client.Plain
	}
	bundle, err := run.client.GenerateBundle(ctx, jobID, patience)
	if err != nil {
		export.linkFailed(err)
		return &exportFailure{stage: stage, about: jobID, cause: err}
	}
	export.linkCreated(bundle, run.clock.Now())
	warnAboutLink(export, bundle.UnreadableExpiry, run.wanted, run.clock.Now(), run.diags)
	return nil
}

// renewOldLink renews the link of the old job if it is due, because it stays in use after a new export has failed. It
// takes half a minute at most, and does not report a failure: the next apply tries again.
func (run *exportRun) renewOldLink(ctx context.Context) {
	old := run.wanted
	old.inputs, old.known = run.export.inputs()
	if !run.export.linked() || run.export.nextStep(old, run.export.linkDue(run.clock.Now(), old)) != stepLink {
		return
	}
	ctx, cancel := run.clock.WithTimeout(ctx, 30*time.Second, context.DeadlineExceeded)
	defer cancel()
	if bundle, err := run.client.GenerateBundle(ctx, run.export.JobID.ValueString(), client.Plain); err == nil {
		run.export.linkCreated(bundle, run.clock.Now())
	}
}
