// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ModifyPlan shows what the apply will do. Terraform plans again right before the
// apply and compares, so ModifyPlan leaves everything that may differ by
// then unknown.
func (r *staticExportResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || req.State.Raw.IsNull() {
		return
	}
	var plan, state staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	life := readLife(ctx, &state, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.copyComputed(&state)
	if plan.Domain.IsNull() { // ignore_changes keeps what an import left out
		resp.Diagnostics.AddAttributeError(path.Root("domain"), summaryInvalidImport,
			"The import named only the job ID, and ignore_changes keeps the domain out of the state.\n\n"+
				"Remove domain from ignore_changes, or run \"terraform state rm\" with the address of this resource and import DOMAIN,JOB_ID.")
		return
	}
	goal := plan.goal()
	if !plan.AdditionalParameters.IsUnknown() && goal.inputs.Parameters == life.Inputs.Parameters && plan.AdditionalParameters.IsNull() == state.AdditionalParameters.IsNull() {
		plan.AdditionalParameters = state.AdditionalParameters // they differ at most in spacing and order
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	step := life.nextStep(r.data.clock.Now(), goal)
	if changed := !resp.Plan.Raw.Equal(req.State.Raw); changed || step != stepNone {
		plan.markUnknown(life.nextStepLater(goal), life.completed())
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
	warnAboutPlan(step, life, goal, &resp.Diagnostics)
}

// markUnknown marks what a step may change as unknown.
func (m *staticExportModel) markUnknown(step exportStep, completed bool) {
	if step == stepExport {
		m.JobID = types.StringUnknown()
	}
	if step == stepExport || step == stepLink && !completed {
		m.Status, m.PageCount = types.StringUnknown(), types.Int64Unknown()
	}
	if step != stepNone {
		m.BundleURL, m.ExpiresAt, m.BundleSizeBytes = types.StringUnknown(), types.StringUnknown(), types.Int64Unknown()
	}
}

// warnAboutPlan tells an approver what a plan cannot show.
func warnAboutPlan(step exportStep, life *exportLife, goal exportGoal, diags *diag.Diagnostics) {
	warn := func(summary, jobID, detail string) {
		diags.AddWarning(aboutJob(summary, jobID), strings.ReplaceAll(detail, "{job}", jobID))
	}
	switch {
	case step == stepLink && life.Unfinished:
		warnAboutUnfinished(life.JobID, diags)
	case step == stepLink && !life.completed():
		warn(summaryCanResume, life.JobID, "Unless this plan replaces the resource, the apply resumes job {job} and does not start another job.")
	}
	if step != stepExport {
		if life.adopts(goal) {
			warn(summaryImportAdopts, life.JobID, "The service does not return the inputs of the imported job. Unless this plan replaces the resource, the apply records the configured triggers and additional_parameters, and starts no export.\n\n"+
				"To export with these inputs, run \"terraform apply -replace\" with the address of this resource.")
		}
		return
	}
	for _, job := range life.abandoned(goal) {
		if goal.known {
			warn(summaryAbandons, job, "Job {job}, which has no link yet, was started for other content. The apply abandons it and starts another job.\n\n"+
				"To resume job {job} instead, plan with the domain, triggers, and additional_parameters that it was started with.")
		} else {
			warn(summaryCanResume, job, "Some inputs are not known yet. If they turn out to be the domain, triggers, and additional_parameters that job {job} was started with, the apply resumes job {job}. Otherwise, it starts another job.")
		}
	}
	next := "The apply exports the site again."
	if life.resumes(goal) {
		next = "The apply resumes job " + life.Pending.JobID + "."
		warn(summaryCanResume, life.Pending.JobID, "Unless this plan replaces the resource, the apply resumes job {job}, which was started for this content. It starts another job only if the service still cannot find job {job} after 30 seconds.")
	}
	if (life.JobMissing || life.BundleMissing) && (!goal.known || !life.differs(goal)) {
		warn(summaryMissing, life.JobID, "The service could not find job {job} or its bundle for 30 seconds. "+next)
	}
}

// warnAboutUnfinished warns about a create that ended without a link. The warning of a
// refresh and the warning of a plan are the same, because the CLI shows only one of these.
func warnAboutUnfinished(jobID string, diags *diag.Diagnostics) {
	diags.AddWarning(aboutJob(summaryUnfinished, jobID), fmt.Sprintf(
		"Terraform stopped creating this resource before job %[1]s had a link. If the plan replaces the resource, the apply starts another job. Otherwise, the apply resumes job %[1]s, unless another warning says that it does not.\n\n"+
			"If the resource is tainted, run \"terraform untaint\" with its address, and plan again, to resume job %[1]s.", jobID))
}
