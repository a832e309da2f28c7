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

// lifeKey is the key of exportLife in the private state.
const lifeKey = "export"

// readLife returns what the state and the private state hold. readable reports whether the
// private state could be decoded.
func readLife(ctx context.Context, state *staticExportModel, private privateState, diags *diag.Diagnostics) (life *exportLife, readable bool) {
	life, err := readPrivate[exportLife](ctx, private, lifeKey, diags)
	if err != nil {
		diags.AddWarning(aboutJob(summaryUnreadableNotes, state.JobID.ValueString()),
			"The provider ignored the private state of this resource, because it was damaged or written by another version of the provider. "+
				"If it named an unfinished job, the provider cannot resume that job.\n\n"+
				"To use the bundle of such a job, run \"terraform state rm ADDRESS\" for this resource, and import DOMAIN,JOB_ID.")
	}
	if life == nil {
		life = &exportLife{Lost: err == nil}
	}
	life.JobID, life.Status = state.JobID.ValueString(), state.Status.ValueString()
	life.PageCount = state.PageCount.ValueInt64Pointer()
	life.Inputs, _ = state.inputs()
	life.Imported = life.Imported || state.Domain.IsNull()
	life.Link.URL, life.Link.SizeBytes = state.BundleURL.ValueString(), state.BundleSizeBytes.ValueInt64Pointer()
	life.Link.ExpiresAt, _ = time.Parse(time.RFC3339, state.ExpiresAt.ValueString()) // zero if it is null
	return life, err == nil
}

// store stores the life with the arguments of the model. If private is nil, it stores only
// the part of the life that is in attributes.
func (l *exportLife) store(ctx context.Context, arguments staticExportModel, state *tfsdk.State, identity *tfsdk.ResourceIdentity, private privateState, diags *diag.Diagnostics) {
	model := arguments
	model.JobID, model.Status = types.StringValue(l.JobID), nullIfEmpty(l.Status)
	model.PageCount = types.Int64PointerValue(l.PageCount)
	model.BundleURL, model.ExpiresAt = nullIfEmpty(l.Link.URL), expiry(l.Link.ExpiresAt)
	model.BundleSizeBytes = types.Int64PointerValue(l.Link.SizeBytes)
	diags.Append(state.Set(ctx, &model)...)
	diags.Append(identity.Set(ctx, staticExportIdentity{JobID: model.JobID, Domain: model.Domain})...)
	if private != nil {
		writePrivate(ctx, private, lifeKey, l, diags)
	}
}
