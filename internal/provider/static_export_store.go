package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// notesKey is the key of exportNotes in the private state.
const notesKey = "export"

// readLife returns what the state and the private state hold.
func readLife(ctx context.Context, state *staticExportModel, private privateState, diags *diag.Diagnostics) *exportLife {
	life := &exportLife{JobID: state.JobID.ValueString(), Status: state.Status.ValueString(), PageCount: state.PageCount.ValueInt64Pointer()}
	life.Inputs, _ = state.inputs()
	life.Link.URL, life.Link.SizeBytes = state.BundleURL.ValueString(), state.BundleSizeBytes.ValueInt64Pointer()
	life.Link.ExpiresAt, _ = time.Parse(time.RFC3339, state.ExpiresAt.ValueString()) // zero if it is null
	notes, err := readPrivate[exportNotes](ctx, private, notesKey, diags)
	if err != nil {
		diags.AddWarning(aboutJob(summaryUnreadableNotes, life.JobID),
			"The provider ignored the private state of this resource, because it was damaged or written by another version of the provider.\n\n"+
				"If another version wrote it, use that version. Otherwise, no action is needed, unless a plan also warns that the private state was lost.")
	}
	if notes != nil {
		life.exportNotes = *notes
	} else {
		life.Lost = true
	}
	life.Imported = life.Imported || state.Domain.IsNull()
	return life
}

// store stores the life with the arguments of the model.
func (l *exportLife) store(ctx context.Context, arguments staticExportModel, state *tfsdk.State, identity *tfsdk.ResourceIdentity, private privateState, diags *diag.Diagnostics) {
	l.storeState(ctx, arguments, state, identity, diags)
	l.storeNotes(ctx, private, diags)
}

// storeNotes stores the notes.
func (l *exportLife) storeNotes(ctx context.Context, private privateState, diags *diag.Diagnostics) {
	writePrivate(ctx, private, notesKey, l.exportNotes, diags)
}

// storeState is store without the notes.
func (l *exportLife) storeState(ctx context.Context, arguments staticExportModel, state *tfsdk.State, identity *tfsdk.ResourceIdentity, diags *diag.Diagnostics) {
	model := arguments
	model.JobID, model.Status = types.StringValue(l.JobID), nullIfEmpty(l.Status)
	model.PageCount = types.Int64PointerValue(l.PageCount)
	model.BundleURL, model.ExpiresAt = nullIfEmpty(l.Link.URL), expiry(l.Link.ExpiresAt)
	model.BundleSizeBytes = types.Int64PointerValue(l.Link.SizeBytes)
	diags.Append(state.Set(ctx, &model)...)
	diags.Append(identity.Set(ctx, staticExportIdentity{JobID: model.JobID, Domain: model.Domain})...)
}
