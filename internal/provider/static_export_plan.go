// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// exportStep is what an apply does for an existing export.
type exportStep int

const (
	// stepNone only records changed arguments.
	stepNone exportStep = iota
	// stepLink generates a link, after waiting for the job if it still runs.
	stepLink
	// stepExport exports the site again.
	stepExport
)

// nextStep decides what an apply does. ModifyPlan and Update both call it, each with
// the current time.
func nextStep(now time.Time, plan, state *staticExportModel, notes *exportNotes) exportStep {
	switch {
	case notes.Lost, notes.Unknown, state.Status.ValueString() == client.JobFailed && !state.hasLink():
		return stepExport
	case !notes.Imported && !sameContent(plan, state):
		return stepExport
	case !state.hasLink(), notes.linkIsDue(now, plan, state):
		return stepLink
	}
	return stepNone
}

// ModifyPlan shows what the apply will do. Terraform plans again right before the
// apply and compares, so ModifyPlan leaves everything that may differ by
// then unknown.
func (r *staticExportResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || req.State.Raw.IsNull() || r.data == nil {
		return
	}
	var plan, state staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	notes := readNotes(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	step := nextStep(r.data.clock.Now(), &plan, &state, notes)
	plan.copyComputed(&state)
	switch {
	case step == stepExport:
		plan.JobID, plan.Status = types.StringUnknown(), types.StringUnknown()
		plan.unknownLink()
		if notes.resumes(&plan) {
			plan.JobID = types.StringValue(notes.Pending.JobID)
		}
	case step == stepLink, !reflect.DeepEqual(plan, state): // an argument changed
		plan.unknownLink()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	if notes.Imported && step != stepExport && !sameContent(&plan, &state) {
		resp.Diagnostics.AddWarning(summaryImportAdopts,
			"The service does not return the inputs of the imported job, so the configured triggers and additional_parameters are recorded without a new export.\n\n"+
				"To export with them, run \"terraform apply -replace\" with the address of this resource.")
	}
}
