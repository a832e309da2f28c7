package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// ModifyPlan shows what the apply will do. Terraform plans again in the apply and compares the two plans, so
// ModifyPlan leaves everything that may differ by then unknown.
func (r *staticExportResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.State.Raw.IsNull() {
		return
	}
	if req.Plan.Raw.IsNull() {
		var ignored diag.Diagnostics // an unreadable private state does not stop a destroy
		warnAboutUnfinished(&readStoredExport(ctx, req.State, req.Private, &ignored).State, &resp.Diagnostics)
		return
	}
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	stored, wanted := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics), plan.wanted()
	if resp.Diagnostics.HasError() {
		return
	}
	step := stored.NextStep(wanted, r.data.clock.Now())
	warnAboutStep(step, &stored.State, wanted, &resp.Diagnostics)
	if step.Action == export.None && resp.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	if !step.LinkStays {
		plan.BundleURL, plan.ExpiresAt = types.StringUnknown(), types.StringUnknown()
		plan.BundleSizeBytes = types.Int64Unknown()
	}
	if !step.JobStays {
		plan.JobID = types.StringUnknown()
	}
	if !step.StatusStays {
		plan.Status, plan.PageCount = types.StringUnknown(), types.Int64Unknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}
