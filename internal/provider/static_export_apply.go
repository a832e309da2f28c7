package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// Create makes the first export. Terraform stores nothing before Create returns, so the state is set once, at the end.
// It holds the job even if Create fails.
func (r *staticExportResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, "create", defaultExportTimeout)
	defer cancel()

	created := &storedExport{exportArguments: plan.exportArguments}
	run := r.run(c, plan, created, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if failure := run.Create(ctx, r.data.handover.take(run.Wanted.Inputs)); failure != nil {
		reportFailedCreate(failure, run, &resp.Diagnostics)
	} else {
		warnAboutResult(run, &resp.Diagnostics)
	}
	if created.Shown() != nil {
		created.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
	}
}

// reportFailedCreate decides whether a failed create taints the resource: Terraform taints what a create leaves with an
// error, and replaces it. An interrupt is only a warning, so the next apply resumes the job as an update.
func reportFailedCreate(failure *export.Failure, run *export.Run, diags *diag.Diagnostics) {
	if failure.Stage != export.Starting && interrupted(failure.Cause) {
		summary, detail := describe(failure, run, "")
		warnAboutJob(diags, summary, run.Next.ID, detail)
		return
	}
	diags.AddError(describe(failure, run, ifReplacedLater))
}

// Update takes the next step. An export without a link is still the one that was created.
func (r *staticExportResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	stored := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	timeout := "update"
	if stored.Current == nil {
		timeout = "create"
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, timeout, defaultExportTimeout)
	defer cancel()

	run := r.run(c, plan, stored, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	step := run.NextStep(run.Wanted, run.Clock.Now())
	if failure := run.Take(ctx, step); failure != nil {
		resp.Diagnostics.AddError(describe(failure, run, ""))
	} else if step.Action != export.None {
		warnAboutResult(run, &resp.Diagnostics)
	}
	if stored.Shown().Inputs == run.Wanted.Inputs {
		stored.exportArguments = plan.exportArguments
	}
	stored.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Delete sends no request, because the API cannot delete a job. It hands the unfinished job to a Create that follows
// in the same apply. Terraform passes no private state of a tainted resource, so a job that is stored only there is
// handed over only in other replacements.
func (r *staticExportResource) Delete(
	ctx context.Context, req resource.DeleteRequest, _ *resource.DeleteResponse,
) {
	var ignored diag.Diagnostics // an unreadable private state does not stop a destroy
	r.data.handover.add(&readStoredExport(ctx, req.State, req.Private, &ignored).State)
}

// run returns the run of a plan, which changes what is stored.
func (r *staticExportResource) run(
	c *client.Client, plan staticExportModel, stored *storedExport, diags *diag.Diagnostics,
) *export.Run {
	return &export.Run{
		State: &stored.State, Wanted: plan.wanted(diags), Service: c,
		Clock: r.data.clock, PollInterval: durationOf(plan.PollInterval),
	}
}
