// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// notesKey is the key of exportNotes in the private state.
const notesKey = "export"

// exportNotes is what an export stores in addition to its attributes.
type exportNotes struct {
	// LinkMadeAt is when the current link was received.
	LinkMadeAt time.Time `json:"link_made_at,omitzero"`
	// LinkKept is the expiry of a link that the service returned again when the
	// provider requested a new one.
	LinkKept string `json:"link_kept,omitempty"`
	// Imported is set until the first update after an import, which adopts the
	// configured inputs without a new job.
	Imported bool `json:"imported,omitempty"`
	// Pending is a job for new content that was started but has no bundle yet.
	Pending *pendingJob `json:"pending,omitempty"`
	// Lost means that an apply needed a link from the state's job, but the job had
	// failed, or the service could not find it.
	Lost bool `json:"lost,omitempty"`
	// Unknown means that the service could not find the state's job at the last
	// refresh.
	Unknown bool `json:"unknown,omitempty"`
}

// pendingJob is a job that the next apply resumes if its inputs are still the same.
type pendingJob struct {
	JobID  string `json:"job_id"`
	Inputs string `json:"inputs"`
}

// readNotes returns the notes of an export, which may be empty.
func readNotes(ctx context.Context, private privateReader, diags *diag.Diagnostics) *exportNotes {
	notes, err := readPrivate[exportNotes](ctx, private, notesKey, diags)
	if err != nil {
		diags.AddWarning(summaryUnreadableNotes,
			"Another version of the provider wrote it, or it is damaged. The provider ignores it, so it starts a new job instead of resuming an interrupted one.")
	}
	return &notes
}

func (n *exportNotes) write(ctx context.Context, private privateWriter, diags *diag.Diagnostics) {
	writePrivate(ctx, private, notesKey, n, diags)
}

// linkAge returns what is known about the state's link.
func (n *exportNotes) linkAge(state *staticExportModel) linkAge {
	expiresAt := state.ExpiresAt.ValueString()
	age := linkAge{MadeAt: n.LinkMadeAt, Kept: n.LinkKept != "" && n.LinkKept == expiresAt}
	age.ExpiresAt, _ = time.Parse(time.RFC3339, expiresAt) // zero if it is null
	return age
}

// linkIsDue reports whether the state's link must be renewed.
func (n *exportNotes) linkIsDue(now time.Time, plan, state *staticExportModel) bool {
	return state.hasLink() && linkDue(now, n.linkAge(state), durationOf(plan.RenewBefore), plan.LinkRenewal.ValueString())
}

// resumes reports whether an apply of the plan resumes the pending job.
func (n *exportNotes) resumes(plan *staticExportModel) bool {
	return n.Pending != nil && plan.inputsKnown() && n.Pending.Inputs == plan.inputs()
}
