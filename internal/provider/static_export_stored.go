package provider

import (
	"cmp"
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
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
	privateMarks             // of the shown job
	LinkKept     bool        `json:"link_kept,omitempty"`
	Next         *privateJob `json:"next,omitempty"` // unless it is the shown job
}

// privateMarks has the fields of export.Marks, and privateInputs those of export.Inputs. Go converts values between
// such types.
type privateMarks struct {
	Imported      bool `json:"imported,omitempty"`
	Missing       bool `json:"job_missing,omitempty"`
	BundleMissing bool `json:"bundle_missing,omitempty"`
}

type privateInputs struct {
	Domain   string              `json:"domain"`
	Triggers string              `json:"triggers"`
	Request  client.StartRequest `json:"request"`
}

// privateJob has the fields of export.Job.
type privateJob struct {
	ID        string        `json:"job_id"`
	Inputs    privateInputs `json:"inputs"`
	Status    string        `json:"status,omitempty"`
	PageCount *int64        `json:"page_count,omitempty"`
	privateMarks
}

// privateExportKey is the key of privateExport in the private state.
const privateExportKey = "export"

// readStoredExport reads what Terraform has stored. It is an error if the private state cannot be decoded, because the
// next apply would not resume a job whose inputs are only there.
func readStoredExport(
	ctx context.Context, state tfsdk.State, private privateState, diags *diag.Diagnostics,
) *storedExport {
	var model staticExportModel
	diags.Append(state.Get(ctx, &model)...)
	stored, err := readPrivate[privateExport](ctx, private, privateExportKey, diags)
	if err != nil {
		addUnreadablePrivateState(diags, model.JobID.ValueString())
	}
	return model.stored(*cmp.Or(stored, &privateExport{}), diags)
}

// stored returns what a model and a private state hold.
func (m *staticExportModel) stored(private privateExport, diags *diag.Diagnostics) *storedExport {
	inputs, _ := m.inputs(diags)
	job := &export.Job{
		ID: m.JobID.ValueString(), Inputs: inputs,
		Status: m.Status.ValueString(), PageCount: m.PageCount.ValueInt64Pointer(),
		Marks: export.Marks(private.privateMarks),
	}
	if m.BundleURL.IsNull() {
		return &storedExport{exportArguments: m.exportArguments, State: export.State{Next: job}}
	}
	state := export.State{Current: job}
	if next := private.Next; next != nil {
		state.Next = &export.Job{
			ID: next.ID, Inputs: export.Inputs(next.Inputs),
			Status: next.Status, PageCount: next.PageCount, Marks: export.Marks(next.privateMarks),
		}
	}
	expiresAt, _ := time.Parse(time.RFC3339, m.ExpiresAt.ValueString())
	state.Link = export.Link{
		URL: m.BundleURL.ValueString(), ExpiresAt: expiresAt,
		Size: m.BundleSizeBytes.ValueInt64Pointer(), Kept: private.LinkKept,
	}
	return &storedExport{exportArguments: m.exportArguments, State: state}
}

// model is the opposite of stored.
func (e *storedExport) model() (model staticExportModel, private privateExport) {
	job := e.Shown()
	model.exportArguments, private.privateMarks = e.exportArguments, privateMarks(job.Marks)
	model.JobID, model.LatestJobID = types.StringValue(job.ID), types.StringValue(e.Latest().ID)
	model.Status, model.PageCount = nullIfEmpty(job.Status), types.Int64PointerValue(job.PageCount)
	if e.Current == nil {
		return model, private
	}
	model.BundleURL, model.ExpiresAt = types.StringValue(e.Link.URL), expiry(e.Link.ExpiresAt)
	model.BundleSizeBytes, private.LinkKept = types.Int64PointerValue(e.Link.Size), e.Link.Kept
	if next := e.Next; next != nil {
		private.Next = &privateJob{
			next.ID, privateInputs(next.Inputs), next.Status, next.PageCount, privateMarks(next.Marks),
		}
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
func (m *exportArguments) wanted(diags *diag.Diagnostics) export.Wanted {
	inputs, known := m.inputs(diags)
	return export.Wanted{
		Inputs: inputs, Known: known,
		RenewBefore: durationOf(m.RenewBefore), NeverRenew: m.neverRenews(),
	}
}

func (m *exportArguments) neverRenews() bool { return m.LinkRenewal.ValueString() == renewNever }

// inputs returns the inputs of a plan or a state, and whether all are known.
func (m *exportArguments) inputs(diags *diag.Diagnostics) (inputs export.Inputs, known bool) {
	known = !m.Domain.IsUnknown() && !m.Triggers.IsUnknown() && !m.AdditionalParameters.IsUnknown()
	triggers := map[string]*string{}
	for name, value := range m.Triggers.Elements() {
		text, _ := value.(types.String)
		known = known && !text.IsUnknown()
		triggers[name] = text.ValueStringPointer()
	}
	inputs, err := export.NewInputs(m.Domain.ValueString(), triggers, m.AdditionalParameters.ValueString())
	if err != nil { // in a state, because the validator has checked the configuration
		diags.AddAttributeError(path.Root("additional_parameters"), summaryInvalidParameters, sentence(err.Error()))
	}
	return inputs, known
}
