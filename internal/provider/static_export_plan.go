// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"
	"reflect"

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
	if goal.known && goal.inputs.Parameters == life.Inputs.Parameters && plan.AdditionalParameters.IsNull() == state.AdditionalParameters.IsNull() {
		plan.AdditionalParameters = state.AdditionalParameters // they differ at most in spacing and order
	}
	step := life.nextStep(r.data.clock.Now(), goal)
	possible := step
	if step == stepNone && !reflect.DeepEqual(plan, state) { // an argument changed
		possible = life.nextStepLater(goal)
	}
	if possible == stepExport || possible == stepLookFor {
		plan.JobID, plan.Status, plan.PageCount = types.StringUnknown(), types.StringUnknown(), types.Int64Unknown()
	}
	if possible == stepLink && !life.completed() {
		plan.Status, plan.PageCount = types.StringUnknown(), types.Int64Unknown()
	}
	if possible != stepNone {
		plan.BundleURL, plan.ExpiresAt, plan.BundleSizeBytes = types.StringUnknown(), types.StringUnknown(), types.Int64Unknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	if replaced := !state.Domain.IsNull() && !state.Domain.Equal(plan.Domain); !replaced {
		warnAboutStep(step, life, goal, &resp.Diagnostics)
	}
}

// warnAboutStep tells an approver what a plan cannot show.
func warnAboutStep(step exportStep, life *exportLife, goal exportGoal, diags *diag.Diagnostics) {
	switch {
	case step == stepLookFor:
		diags.AddWarning(summaryJobNotFound, fmt.Sprintf(
			"The service could not find job %s or its bundle when it was last asked. The apply asks for 30 seconds. If it is still missing, the apply exports the site again.", life.JobID))
	case step == stepExport && life.resumes(goal):
		diags.AddWarning(summaryResumes, fmt.Sprintf("Unless this plan replaces the resource, the apply resumes job %s, which was started for this content. It starts another one only if the service cannot find this one for 30 seconds.", life.Pending.JobID))
	case step == stepExport && life.unfinishedJob() != "":
		diags.AddWarning(summaryAbandons, fmt.Sprintf("Job %[1]s, which has no link yet, was started for other content, so the apply starts another job.\n\n"+
			"To resume job %[1]s instead, plan with the triggers and additional_parameters that it was started with.", life.unfinishedJob()))
	case step == stepLink && !life.completed():
		diags.AddWarning(summaryResumes, fmt.Sprintf("Unless this plan replaces the resource, the apply resumes job %s, and does not start another one.", life.JobID))
	}
	if step != stepExport && life.adopts(goal) {
		diags.AddWarning(summaryImportAdopts,
			"The service does not return the inputs of the imported job, so unless this plan replaces the resource, the configured triggers and additional_parameters are recorded without a new export.\n\n"+
				"To export with them, run \"terraform apply -replace\" with the address of this resource.")
	}
}
