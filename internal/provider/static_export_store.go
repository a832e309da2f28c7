// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// lifeKey is the key of exportLife in the private state.
const lifeKey = "export"

// readLife returns what the state and the private state hold.
func readLife(ctx context.Context, state *staticExportModel, private privateState, diags *diag.Diagnostics) *exportLife {
	life, err := readPrivate[exportLife](ctx, private, lifeKey, diags)
	if err != nil {
		diags.AddWarning(aboutJob(summaryUnreadableNotes, state.JobID.ValueString()),
			"The private state of the resource is damaged or was written by another version of the provider, so the provider ignores it. It resumes no interrupted job.")
	}
	life.JobID, life.Status = state.JobID.ValueString(), state.Status.ValueString()
	life.PageCount = state.PageCount.ValueInt64Pointer()
	life.Inputs = state.goal().inputs
	life.Imported = life.Imported || state.Domain.IsNull()
	life.Link.URL, life.Link.SizeBytes = state.BundleURL.ValueString(), state.BundleSizeBytes.ValueInt64Pointer()
	life.Link.ExpiresAt, _ = time.Parse(time.RFC3339, state.ExpiresAt.ValueString()) // zero if it is null
	return &life
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
	writePrivate(ctx, private, lifeKey, l, diags)
}

// expiry returns the expires_at of a link; null if its expiry is not known.
func expiry(at time.Time) types.String {
	if at.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(at.Format(time.RFC3339))
}

func nullIfEmpty(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

// privateState is the private state of a resource, whose type the framework does not
// export.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readPrivate decodes a value of the private state. It returns the zero value for one
// that is missing, or that cannot be decoded because another version wrote it.
func readPrivate[T any](ctx context.Context, private privateState, key string, diags *diag.Diagnostics) (T, error) {
	var value, none T
	text, more := private.GetKey(ctx, key)
	diags.Append(more...)
	if len(text) == 0 {
		return none, nil
	}
	if err := json.Unmarshal(text, &value); err != nil {
		return none, err
	}
	return value, nil
}

func writePrivate(ctx context.Context, private privateState, key string, value any, diags *diag.Diagnostics) {
	text, _ := json.Marshal(value) // what the resources write can be encoded
	diags.Append(private.SetKey(ctx, key, text)...)
}
