// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// exportStep is what the next apply has to do for an export that exists.
type exportStep int

const (
	// stepNothing: only arguments are to be recorded, if anything.
	stepNothing exportStep = iota
	// stepLink: make a link of the same job, after waiting for it if it still runs.
	stepLink
	// stepExport: export anew.
	stepExport
)

// nextStep decides it. It is the same decision at plan and at apply, each with
// the clock of its own moment.
func nextStep(now time.Time, plan, state *staticExportModel, notes *exportNotes) exportStep {
	switch {
	case notes.Lost || state.Status.ValueString() == client.JobFailed && !state.hasLink():
		return stepExport
	case !notes.Imported && !sameInputs(plan, state):
		return stepExport
	case !state.hasLink():
		return stepLink
	}
	if notes.linkIsDue(now, plan, state) {
		return stepLink
	}
	return stepNothing
}

// sameInputs reports whether a plan asks for what the state's job exported.
// Inputs that are not known yet count as different.
func sameInputs(plan, state *staticExportModel) bool {
	if plan.AdditionalParameters.IsUnknown() || plan.Triggers.IsUnknown() {
		return false
	}
	of, with := inputsOf(plan), inputsOf(state)
	return maps.Equal(of.triggers, with.triggers) && of.parameters == with.parameters
}

// ModifyPlan makes a plan say what the apply will do. Terraform plans again
// right before an apply and compares: whatever may differ then, because of the
// time between, is left unknown.
func (r *staticExportResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || req.State.Raw.IsNull() || r.service == nil {
		return
	}
	var plan, state staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	notes := readNotes(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	step := nextStep(r.service.now(notes.Skew), &plan, &state, notes)
	plan.copyComputed(&state)
	switch step {
	case stepExport:
		plan.unknownJob()
	case stepLink:
		plan.unknownLink()
	case stepNothing:
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
		if resp.Diagnostics.HasError() || resp.Plan.Raw.Equal(req.State.Raw) {
			return
		}
		plan.unknownLink()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	if notes.Imported && step != stepExport && !sameInputs(&plan, &state) {
		resp.Diagnostics.AddWarning("Import adopts the configuration without a new export",
			"The export was imported, and the service does not say what it was made with. The configured triggers and additional_parameters are recorded as those of the imported job. "+
				"To export with them instead, run \"terraform apply -replace\" with the address of this resource.")
	}
}
