package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// ModifyPlan shows what the apply will do. Terraform plans again in the apply and compares the two plans, so
// ModifyPlan leaves everything that may differ by then unknown.
func (r *staticExportResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() || req.State.Raw.IsNull() {
		return
	}
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	stored, wanted := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics), plan.wanted()
	if resp.Diagnostics.HasError() {
		return
	}
	step := stored.NextStep(wanted, stored.Due(r.data.clock.Now(), wanted))
	warnAboutStep(step, &stored.State, wanted, &resp.Diagnostics)
	old, now := stored.AdditionalParameters, plan.AdditionalParameters
	given := !now.IsUnknown() && !now.IsNull() && !old.IsNull()
	if given && export.SameParameters(now.ValueString(), old.ValueString()) {
		plan.AdditionalParameters = old // other whitespace is no change
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("additional_parameters"), old)...)
	}
	if step == export.None && resp.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	later := stored.NextStep(wanted, stored.WillBeDue(wanted)) // the apply may be hours away
	if later != export.None {
		plan.BundleURL, plan.ExpiresAt = types.StringUnknown(), types.StringUnknown()
		plan.BundleSizeBytes = types.Int64Unknown()
	}
	if !stored.KeepsShown(later) {
		plan.JobID = types.StringUnknown()
	}
	if !stored.KeepsShown(later) || later == export.Resume && !stored.Next.Completed() {
		plan.Status, plan.PageCount = types.StringUnknown(), types.Int64Unknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}
