package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ModifyPlan shows what the apply will do. Terraform plans again in the apply and compares the two plans, so
// ModifyPlan leaves everything that may differ by then unknown.
func (r *staticExportResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || req.State.Raw.IsNull() {
		return
	}
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	wanted := plan.wanted()
	export := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	step := export.nextStep(wanted, export.linkDue(r.data.clock.Now(), wanted))
	warnAboutUpdate(step, export, wanted, &resp.Diagnostics)
	old, now := export.AdditionalParameters, plan.AdditionalParameters
	if !now.IsUnknown() && !now.IsNull() && !old.IsNull() && canonicalParameters(now.ValueString()) == canonicalParameters(old.ValueString()) {
		plan.AdditionalParameters = old // other whitespace is no change
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("additional_parameters"), old)...)
	}
	if step == stepNone && resp.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	later := export.nextStep(wanted, export.linkWillBeDue(wanted)) // the apply may be hours away
	if later != stepNone {
		plan.BundleURL, plan.ExpiresAt, plan.BundleSizeBytes = types.StringUnknown(), types.StringUnknown(), types.Int64Unknown()
	}
	if later == stepExport {
		plan.JobID = types.StringUnknown()
	}
	if later == stepExport || later == stepLink && !export.completed() {
		plan.Status, plan.PageCount = types.StringUnknown(), types.Int64Unknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}
