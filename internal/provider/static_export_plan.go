package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ModifyPlan shows what the apply will do. Terraform plans again in the apply and compares the
// two plans, so ModifyPlan leaves everything that may differ by then unknown.
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
	if plan.Domain.IsNull() { // ignore_changes keeps what an import left out
		resp.Diagnostics.AddAttributeError(path.Root("domain"), summaryNoDomain,
			"The import named only the job ID, and ignore_changes keeps the domain out of the state.\n\n"+
				"Remove domain from ignore_changes. Or run \"terraform state rm ADDRESS\" for this resource, and import DOMAIN,JOB_ID.")
		return
	}
	goal := plan.goal()
	steps := life.nextSteps(goal, life.linkDue(r.data.clock.Now(), goal))
	warnAboutPlan(steps, life, goal, &resp.Diagnostics)
	if changed := !req.Plan.Raw.Equal(req.State.Raw); !changed && len(steps) == 0 {
		return
	}
	stepsLater := life.nextSteps(goal, life.linkWillBeDue(goal)) // the apply may be hours away
	plan.markUnknown(stepsLater, life.completed())
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	if stepsLater.mayChangeJob() && !steps.mayChangeJob() {
		resp.Diagnostics.AddWarning(aboutJob(summaryMayExport, life.JobID), fmt.Sprintf("When Terraform made this plan, job %s had failed, so its link could not be renewed. "+
			"If the link is due for renewal at the time of the apply, the apply starts another job.", life.JobID))
	}
}

// markUnknown marks what the steps may change as unknown.
func (m *staticExportModel) markUnknown(steps exportSteps, completed bool) {
	if len(steps) == 0 {
		return
	}
	m.BundleURL, m.ExpiresAt, m.BundleSizeBytes = types.StringUnknown(), types.StringUnknown(), types.Int64Unknown()
	if steps.mayChangeJob() {
		m.JobID = types.StringUnknown()
	}
	if steps.mayChangeJob() || !completed {
		m.Status, m.PageCount = types.StringUnknown(), types.Int64Unknown()
	}
}

// warnAboutPlan tells an approver what a plan cannot show. Terraform repeats the warnings of a
// plan at the end of an apply, so they say what the plan does, not what an apply would do.
func warnAboutPlan(steps exportSteps, life *exportLife, goal exportGoal, diags *diag.Diagnostics) {
	warn := func(summary, jobID, format string) { // %[1]s is the job
		diags.AddWarning(aboutJob(summary, jobID), fmt.Sprintf(format, jobID))
	}
	if !steps.mayChangeJob() {
		if life.Unfinished || !life.completed() {
			warn(summaryCanResume, life.JobID, "Job %[1]s had no link when Terraform made this plan. "+
				"Unless the plan replaces the resource, it resumes job %[1]s and does not start another job.")
		}
		if life.adopts(goal) {
			warn(summaryImportAdopts, life.JobID, "The service does not return the inputs of the imported job %[1]s. "+
				"Unless this plan replaces the resource, it records the configured triggers and additional_parameters and does not start an export.\n\n"+
				"To export with these inputs, run \"terraform apply -replace=ADDRESS\" for this resource.")
		}
		return
	}
	if life.Imported && life.differs(goal) && goal.inputs.Domain != "" {
		diags.AddWarning(aboutJob(summaryImportDiffers, life.JobID), fmt.Sprintf("Job %[1]s was imported as a job for %[2]s. This plan starts another job, for %[3]s.\n\n"+
			"To keep job %[1]s instead, import %[3]s,%[1]s. If the resource is already in the state, first run \"terraform state rm ADDRESS\" for this resource.", life.JobID, life.Inputs.Domain, goal.inputs.Domain))
	}
	if life.Lost {
		warn(summaryLostNotes, life.JobID, "The private state of this resource was lost. "+
			"It may have named an unfinished job, or recorded that job %[1]s was imported. This plan may start another job.\n\n"+
			"Before you apply the plan, look for an unfinished job: see \"A job may have been started\" in "+errorsPage+".")
	}
	for _, job := range life.abandoned(goal) {
		if goal.known {
			warn(summaryAbandons, job, "Job %[1]s, which has no link yet, was started for other content, so this plan does not resume it.\n\n"+
				"To resume job %[1]s, do not apply this plan. Restore the domain, triggers, and additional_parameters that it was started with, and plan again. "+
				"If the new plan does not mention job %[1]s, the export already has that content, and you can ignore the job.")
		} else {
			warn(summaryCanResume, job, "When Terraform made this plan, some inputs were not known. "+
				"If they match the domain, triggers, and additional_parameters that job %[1]s was started with, the plan resumes job %[1]s. Otherwise, it starts another job.")
		}
	}
	next := "This plan exports the site again."
	switch steps[0] {
	case stepResume:
		next = "This plan resumes job " + life.Pending.JobID + "."
		warn(summaryCanResume, life.Pending.JobID, "Job %[1]s was started for this content. Unless this plan replaces the resource, it resumes job %[1]s. "+
			"It starts another job only if the service cannot find job %[1]s for "+notFoundLimit+". "+
			"If job %[1]s has failed, the apply reports why, and the next apply starts another job.")
	case stepLink:
		next = "This plan tries again to create a link, for up to " + notFoundLimit + ", and exports the site again only if the service still cannot find the bundle."
	default:
		if !goal.known { // they may be those of the job
			next = "This plan may export the site again."
		}
	}
	if (life.JobMissing || life.BundleMissing) && (!goal.known || !life.differs(goal)) {
		diags.AddWarning(aboutJob(summaryMissing, life.JobID), fmt.Sprintf("The service could not find job %s or its bundle for %s. %s", life.JobID, notFoundLimit, next))
	}
}
