// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
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
	replaced := !state.Domain.IsNull() && !state.Domain.Equal(plan.Domain)
	if notes.Imported && step != stepExport && !replaced && !sameContent(&plan, &state) {
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

// notesKey is the key of exportNotes in the private state.
const notesKey = "export"

// exportNotes is what an export stores in addition to its attributes.
type exportNotes struct {
	// LinkCreatedAt is when the current link was received.
	LinkCreatedAt time.Time `json:"link_created_at,omitzero"`
	// LinkKept means that the service returned the same link when the provider
	// requested a new one early: it returns a new link only after the old one has
	// expired.
	LinkKept bool `json:"link_kept,omitempty"`
	// Imported is set until the first update after an import, which adopts the
	// configured inputs without a new job.
	Imported bool `json:"imported,omitempty"`
	// Pending is a job for new content that was started but has no bundle yet. It is
	// kept until it is used, is replaced by a newer one, fails, or is gone.
	Pending *pendingJob `json:"pending,omitempty"`
	// Lost means that an apply needed a link from the state's job, but the job had
	// failed, or the service could not find it.
	Lost bool `json:"lost,omitempty"`
	// NotFound means that the service could not find the state's job at the last
	// refresh.
	NotFound bool `json:"not_found,omitempty"`
}

// pendingJob is a job that an apply of the same inputs resumes.
type pendingJob struct {
	JobID  string `json:"job_id"`
	Inputs string `json:"inputs"`
}

// readNotes returns the notes of an export, which may be empty.
func readNotes(ctx context.Context, private privateState, diags *diag.Diagnostics) *exportNotes {
	notes, err := readPrivate[exportNotes](ctx, private, notesKey, diags)
	if err != nil {
		diags.AddWarning(summaryUnreadableNotes,
			"Another version of the provider wrote it, or it is damaged. The provider ignores it. An interrupted job, if any, is not resumed.")
	}
	return &notes
}

func (n *exportNotes) write(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	writePrivate(ctx, private, notesKey, n, diags)
}

// resumes reports whether an apply of the plan resumes the pending job.
func (n *exportNotes) resumes(plan *staticExportModel) bool {
	return n.Pending != nil && n.Pending.Inputs == plan.inputs()
}

// linkIsDue reports whether the state's link must be renewed.
func (n *exportNotes) linkIsDue(now time.Time, plan, state *staticExportModel) bool {
	link := exportLink{CreatedAt: n.LinkCreatedAt, Kept: n.LinkKept}
	link.ExpiresAt, _ = time.Parse(time.RFC3339, state.ExpiresAt.ValueString()) // zero if it is null
	return state.hasLink() && link.due(now, durationOf(plan.RenewBefore), plan.LinkRenewal.ValueString())
}

// exportLink holds what decides whether a link is renewed.
type exportLink struct {
	// CreatedAt is when the link was received; zero if it is not known.
	CreatedAt time.Time
	// ExpiresAt is zero if it is not known.
	ExpiresAt time.Time
	// Kept is exportNotes.LinkKept.
	Kept bool
}

// due reports whether the link must be renewed at the time now.
//
// It is due renewBefore ahead of its expiry. A link that the service keeps is due at its
// expiry, because an earlier request returns the same link. A link is never due if its
// expiry is unknown, or if it had already expired when it was received, because a new
// link would have the same problem.
func (l exportLink) due(now time.Time, renewBefore time.Duration, mode string) bool {
	if mode == renewNever || l.ExpiresAt.IsZero() || l.expiredOnArrival() {
		return false
	}
	lead, _ := l.lead(renewBefore)
	return !now.Before(l.ExpiresAt.Add(-lead))
}

func (l exportLink) expiredOnArrival() bool {
	return !l.CreatedAt.IsZero() && !l.ExpiresAt.After(l.CreatedAt)
}

// lead returns how long before its expiry the link is renewed. If renewBefore is not
// shorter than the link's lifetime, every new link would be due at once, so the result
// is clamped to half the lifetime.
func (l exportLink) lead(renewBefore time.Duration) (lead time.Duration, clamped bool) {
	lifetime := l.ExpiresAt.Sub(l.CreatedAt)
	switch {
	case l.Kept:
		return 0, false
	case !l.CreatedAt.IsZero() && renewBefore >= lifetime:
		return max(0, lifetime/2), true
	}
	return renewBefore, false
}
