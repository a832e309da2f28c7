// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// storedLife is the part of exportLife that no attribute shows, in the private state.
type storedLife struct {
	Imported      bool           `json:"imported,omitempty"`
	Unfinished    bool           `json:"unfinished,omitempty"`
	JobMissing    bool           `json:"job_missing,omitempty"`
	BundleMissing bool           `json:"bundle_missing,omitempty"`
	LinkReceived  time.Time      `json:"link_received,omitzero"`
	LinkKept      bool           `json:"link_kept,omitempty"`
	Pending       *storedPending `json:"pending,omitempty"`
}

type storedPending struct {
	JobID      string             `json:"job_id"`
	Domain     string             `json:"domain"`
	Triggers   map[string]*string `json:"triggers,omitempty"`
	Parameters string             `json:"parameters"`
}

// lifeKey is the key of storedLife in the private state.
const lifeKey = "export"

// readLife returns what the state and the private state hold.
func readLife(ctx context.Context, state *staticExportModel, private privateState, diags *diag.Diagnostics) *exportLife {
	stored, err := readPrivate[storedLife](ctx, private, lifeKey, diags)
	if err != nil {
		diags.AddWarning(aboutJob(summaryUnreadableNotes, state.JobID.ValueString()),
			"Another version of the provider wrote it, or it is damaged. The provider ignores it. An interrupted job, if any, is not resumed.")
	}
	life := &exportLife{
		JobID:         state.JobID.ValueString(),
		Status:        state.Status.ValueString(),
		PageCount:     state.PageCount.ValueInt64Pointer(),
		Inputs:        state.goal().inputs,
		Imported:      stored.Imported || state.Domain.IsNull(),
		Unfinished:    stored.Unfinished,
		JobMissing:    stored.JobMissing,
		BundleMissing: stored.BundleMissing,
		Link: exportLink{
			URL:        state.BundleURL.ValueString(),
			SizeBytes:  state.BundleSizeBytes.ValueInt64Pointer(),
			ReceivedAt: stored.LinkReceived,
			Kept:       stored.LinkKept,
		},
	}
	life.Link.ExpiresAt, _ = time.Parse(time.RFC3339, state.ExpiresAt.ValueString()) // zero if it is null
	if p := stored.Pending; p != nil {
		life.Pending = &pendingJob{JobID: p.JobID, Inputs: exportInputs{Domain: p.Domain, Triggers: p.Triggers, Parameters: p.Parameters}}
	}
	return life
}

// store stores the life with the arguments of the model.
func (l *exportLife) store(ctx context.Context, arguments staticExportModel, state *tfsdk.State, identity *tfsdk.ResourceIdentity, private privateState, diags *diag.Diagnostics) {
	model := arguments
	model.JobID, model.Status = types.StringValue(l.JobID), nullIfEmpty(l.Status)
	model.PageCount = types.Int64PointerValue(l.PageCount)
	model.BundleURL, model.ExpiresAt = nullIfEmpty(l.Link.URL), expiry(l.Link.ExpiresAt)
	model.BundleSizeBytes = types.Int64PointerValue(l.Link.SizeBytes)
	diags.Append(state.Set(ctx, &model)...)
	diags.Append(identity.Set(ctx, staticExportIdentity{JobID: model.JobID, Domain: model.Domain})...)

	stored := storedLife{
		Imported: l.Imported, Unfinished: l.Unfinished, JobMissing: l.JobMissing, BundleMissing: l.BundleMissing,
		LinkReceived: l.Link.ReceivedAt, LinkKept: l.Link.Kept,
	}
	if p := l.Pending; p != nil {
		stored.Pending = &storedPending{JobID: p.JobID, Domain: p.Inputs.Domain, Triggers: p.Inputs.Triggers, Parameters: p.Inputs.Parameters}
	}
	writePrivate(ctx, private, lifeKey, stored, diags)
}
