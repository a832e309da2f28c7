// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
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
	if !state.Domain.IsNull() && !state.Domain.Equal(plan.Domain) {
		goal.known, step = true, stepExport // of a new resource, whatever the other inputs are
	}
	warnAboutStep(step, life, goal, &resp.Diagnostics)
}

// markUnknown marks what a step may change as unknown.
func (m *staticExportModel) markUnknown(step exportStep, completed bool) {
	if step == stepExport || step == stepLookFor {
		m.JobID = types.StringUnknown()
	}
	if m.JobID.IsUnknown() || step == stepLink && !completed {
		m.Status, m.PageCount = types.StringUnknown(), types.Int64Unknown()
	}
	if step != stepNone {
		m.BundleURL, m.ExpiresAt, m.BundleSizeBytes = types.StringUnknown(), types.StringUnknown(), types.Int64Unknown()
	}
}

// warnAboutStep tells an approver what a plan cannot show.
func warnAboutStep(step exportStep, life *exportLife, goal exportGoal, diags *diag.Diagnostics) {
	warn := func(summary, jobID, detail string) { diags.AddWarning(aboutJob(summary, jobID), detail) }
	for _, job := range life.forgets(step, goal) {
		if step == stepExport && !goal.known {
			warn(summaryMayResume, job, fmt.Sprintf("Some of the inputs are not known yet. With the triggers and additional_parameters that job %[1]s was started with, the apply resumes job %[1]s. With others, it starts another job.", job))
			continue
		}
		warn(summaryAbandons, job, fmt.Sprintf("Job %[1]s, which has no link yet, was started for other content. It is given up when the apply starts another job.\n\n"+
			"To resume job %[1]s instead, plan with the domain, triggers, and additional_parameters that it was started with.", job))
	}
	switch {
	case step == stepLookFor:
		otherwise := "starts another job."
		if life.resumes(goal) {
			otherwise = "resumes job " + life.Pending.JobID + ", which was started in its place."
		}
		warn(summaryLooksFor, life.JobID, fmt.Sprintf("The service could not find job %s or its bundle when it was last asked. The apply asks for 30 seconds. If it is still missing, the apply %s", life.JobID, otherwise))
	case step == stepExport && life.resumes(goal):
		warn(summaryResumes, life.Pending.JobID, fmt.Sprintf("Unless this plan replaces the resource, the apply resumes job %s, which was started for this content. It starts another job only if the service cannot find this one for 30 seconds.", life.Pending.JobID))
	case step == stepLink && !life.completed():
		warn(summaryResumes, life.JobID, fmt.Sprintf("Unless this plan replaces the resource, the apply resumes job %s, and does not start another job.", life.JobID))
	}
	if step != stepExport && life.adopts(goal) {
		warn(summaryImportAdopts, life.JobID,
			"The service does not return the inputs of the imported job, so unless this plan replaces the resource, the configured triggers and additional_parameters are recorded without a new export.\n\n"+
				"To export with them, run \"terraform apply -replace\" with the address of this resource.")
	}
}
