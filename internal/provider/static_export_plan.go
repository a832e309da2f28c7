package provider

import (
	"context"

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
	step := stored.NextStep(wanted, r.data.clock.Now())
	warnAboutStep(step, &stored.State, wanted, &resp.Diagnostics)
	if sameParameters(plan.AdditionalParameters, stored.AdditionalParameters) {
		plan.AdditionalParameters = stored.AdditionalParameters // other whitespace is no change
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
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

// sameParameters reports whether two additional_parameters are set and differ only in whitespace and the order of
// fields.
func sameParameters(a, b types.String) bool {
	return a.ValueString() != "" && b.ValueString() != "" &&
		export.NewInputs("", nil, a.ValueString()) == export.NewInputs("", nil, b.ValueString())
}
