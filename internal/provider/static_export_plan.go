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
	if sameJSON(plan.AdditionalParameters, state.AdditionalParameters) {
		plan.AdditionalParameters = state.AdditionalParameters
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

// exportStep is what an apply does for an existing export.
type exportStep string

const (
	// stepNone only records changed arguments.
	stepNone exportStep = "none"
	// stepLink creates a link, after waiting for the job if it still runs.
	stepLink exportStep = "link"
	// stepExport exports the site again, or resumes the pending job.
	stepExport exportStep = "export"
)

// nextStep decides what an apply does. ModifyPlan and Update both call it, each with
// the current time.
func nextStep(now time.Time, plan, state *staticExportModel, notes *exportNotes) exportStep {
	needsLink := !state.hasLink() || notes.linkIsDue(now, plan, state)
	switch {
	case notes.Lost, notes.NotFound,
		needsLink && state.Status.ValueString() == client.JobFailed,
		!notes.Imported && !sameContent(plan, state):
		return stepExport
	case needsLink:
		return stepLink
	}
	return stepNone
}

// sameContent reports whether a plan asks for what the state's job exported.
// Arguments that are not known yet count as different. It does not compare the
// domain, because changing it replaces the resource.
func sameContent(plan, state *staticExportModel) bool {
	compared := *state
	compared.Domain = plan.Domain
	return compared.inputs() == plan.inputs()
}

// sameJSON reports whether two values are known and differ at most in spacing and the
// order of fields.
func sameJSON(a, b types.String) bool {
	if a.IsNull() || a.IsUnknown() || b.IsNull() {
		return false
	}
	first, _ := parseParameters(a.ValueString())
	second, _ := parseParameters(b.ValueString())
	return reflect.DeepEqual(first, second)
}
