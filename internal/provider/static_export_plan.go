package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// ModifyPlan shows what the apply will do. Terraform plans again in the apply and compares the two plans, so
// ModifyPlan leaves everything that may differ by then unknown. A plan without changes it leaves as it is.
func (r *staticExportResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	stored := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	wanted := plan.wanted(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	step := stored.NextStep(wanted, r.data.clock.Now())
	warnAboutStep(step, &stored.State, wanted, &resp.Diagnostics)
	if step.Action == export.None && resp.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	kept, _ := stored.model()
	plan.exportResult = keptBy(step, kept.exportResult)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// keptBy returns what a step keeps of a result. Everything else is unknown.
func keptBy(step export.Step, now exportResult) exportResult {
	planned := exportResult{
		JobID: types.StringUnknown(), LatestJobID: types.StringUnknown(),
		Status: types.StringUnknown(), PageCount: types.Int64Unknown(),
		BundleURL: types.StringUnknown(), ExpiresAt: types.StringUnknown(), BundleSizeBytes: types.Int64Unknown(),
	}
	if step.Action.KeepsCurrent() {
		planned.JobID, planned.Status, planned.PageCount = now.JobID, now.Status, now.PageCount
	}
	if !step.Action.MayStart() {
		planned.LatestJobID = now.LatestJobID
	}
	if step.LinkStays {
		planned.BundleURL, planned.ExpiresAt = now.BundleURL, now.ExpiresAt
		planned.BundleSizeBytes = now.BundleSizeBytes
	}
	return planned
}
