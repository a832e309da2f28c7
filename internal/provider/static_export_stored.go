package provider

import (
	"cmp"
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// This file converts what Terraform stores of an export, its attributes and private state, to what package export
// works with, and back.

// storedExport is all that Terraform stores of an export. The arguments are those of the shown job, unless it was
// imported.
type storedExport struct {
	exportArguments
	export.State
}

// privateExport is the private state of an export: what the attributes cannot hold.
type privateExport struct {
	export.Marks             // of the shown job
	LinkKept     bool        `json:"link_kept,omitempty"`
	Next         *export.Job `json:"next,omitempty"` // unless it is the shown job
}

// privateExportKey is the key of privateExport in the private state.
const privateExportKey = "export"

// readStoredExport reads what Terraform has stored. It is an error if the private state cannot be decoded, because a
// job that is named only there would be lost.
func readStoredExport(
	ctx context.Context, state tfsdk.State, private privateState, diags *diag.Diagnostics,
) *storedExport {
	var model staticExportModel
	diags.Append(state.Get(ctx, &model)...)
	stored, err := readPrivate[privateExport](ctx, private, privateExportKey, diags)
	if err != nil {
		addUnreadablePrivateState(diags, model.JobID.ValueString())
	}
	return model.stored(*cmp.Or(stored, &privateExport{}))
}

// stored returns what a model and a private state hold.
func (m *staticExportModel) stored(private privateExport) *storedExport {
	inputs, _ := m.inputs()
	job := &export.Job{
		ID: m.JobID.ValueString(), Inputs: inputs,
		Status: m.Status.ValueString(), PageCount: m.PageCount.ValueInt64Pointer(), Marks: private.Marks,
	}
	if m.BundleURL.IsNull() {
		return &storedExport{exportArguments: m.exportArguments, State: export.State{Next: job}}
	}
	expiresAt, _ := time.Parse(time.RFC3339, m.ExpiresAt.ValueString())
	link := export.Link{
		URL: m.BundleURL.ValueString(), ExpiresAt: expiresAt,
		Size: m.BundleSizeBytes.ValueInt64Pointer(), Kept: private.LinkKept,
	}
	state := export.State{Current: job, Link: link, Next: private.Next}
	return &storedExport{exportArguments: m.exportArguments, State: state}
}

// model is the opposite of stored.
func (e *storedExport) model() (model staticExportModel, private privateExport) {
	job := e.Shown()
	model.exportArguments, private.Marks = e.exportArguments, job.Marks
	model.JobID, model.Status = types.StringValue(job.ID), nullIfEmpty(job.Status)
	model.PageCount = types.Int64PointerValue(job.PageCount)
	if e.Current != nil {
		model.BundleURL, model.ExpiresAt = types.StringValue(e.Link.URL), expiry(e.Link.ExpiresAt)
		model.BundleSizeBytes = types.Int64PointerValue(e.Link.Size)
		private.LinkKept, private.Next = e.Link.Kept, e.Next
	}
	return model, private
}

// store stores the export as a whole.
func (e *storedExport) store(
	ctx context.Context, state *tfsdk.State, identity *tfsdk.ResourceIdentity, private privateState,
	diags *diag.Diagnostics,
) {
	model, kept := e.model()
	diags.Append(state.Set(ctx, &model)...)
	diags.Append(identity.Set(ctx, staticExportIdentity{JobID: model.JobID, Domain: model.Domain})...)
	writePrivate(ctx, private, privateExportKey, kept, diags)
}

// wanted returns what a plan wants.
func (m *exportArguments) wanted() export.Wanted {
	inputs, known := m.inputs()
	return export.Wanted{
		Inputs: inputs, Known: known,
		RenewBefore: durationOf(m.RenewBefore), NeverRenew: m.LinkRenewal.ValueString() == renewNever,
	}
}

// inputs returns the inputs of a plan or a state, and whether all are known.
func (m *exportArguments) inputs() (inputs export.Inputs, known bool) {
	known = !m.Domain.IsUnknown() && !m.Triggers.IsUnknown() && !m.AdditionalParameters.IsUnknown()
	triggers := map[string]*string{}
	for name, value := range m.Triggers.Elements() {
		text, _ := value.(types.String)
		known = known && !text.IsUnknown()
		triggers[name] = text.ValueStringPointer()
	}
	return export.NewInputs(m.Domain.ValueString(), triggers, m.AdditionalParameters.ValueString()), known
}
