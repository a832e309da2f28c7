package provider

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

var (
	_ resource.ResourceWithConfigure      = (*bundleDownloadResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*bundleDownloadResource)(nil)
	_ resource.ResourceWithValidateConfig = (*bundleDownloadResource)(nil)
)

// bundleDownloadResource keeps the bundle of a job on disk. The state records what was written. Only ModifyPlan and
// the apply read the disk.
type bundleDownloadResource struct{ resourceBase }

func newBundleDownloadResource() resource.Resource { return &bundleDownloadResource{} }

type bundleDownloadModel struct {
	JobID    types.String `tfsdk:"job_id"`
	Path     types.String `tfsdk:"path"`
	Unpack   types.Bool   `tfsdk:"unpack"`
	SHA256   types.String `tfsdk:"sha256"`
	Timeouts types.Object `tfsdk:"timeouts"`

	SizeBytes     types.Int64  `tfsdk:"size_bytes"`
	ContentSHA256 types.String `tfsdk:"content_sha256"`
	FileCount     types.Int64  `tfsdk:"file_count"`
}

func (m bundleDownloadModel) target() bundle.Target {
	return bundle.Target{Path: m.Path.ValueString(), Unpack: m.Unpack.ValueBool()}
}

// onDisk returns the digest of what the resource wrote last.
func (m bundleDownloadModel) onDisk() string {
	if m.Unpack.ValueBool() {
		return m.ContentSHA256.ValueString()
	}
	return m.SHA256.ValueString()
}

// writtenKey is the key of bundle.Owned in the private state.
const writtenKey = "written"

func (r *bundleDownloadResource) Metadata(
	_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_bundle_download"
	resp.ResourceBehavior.ProviderDeferred = planWhenDeferred
}

func (r *bundleDownloadResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Downloads and verifies the bundle of a static export job, and keeps it as a file or " +
			"unpacks it.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{
				MarkdownDescription: "ID of the job. If it is still running, the provider waits for it. A change " +
					"downloads that job's bundle, in place.",
				Required:   true,
				Validators: idRules,
			},
			"path": schema.StringAttribute{
				MarkdownDescription: "File to write, or with `unpack` the directory, relative to the working " +
					"directory. Missing directories are created, and are kept on destroy. " +
					"A change replaces the resource.",
				Required:   true,
				Validators: pathRules,
			},
			"unpack": schema.BoolAttribute{
				MarkdownDescription: "Whether to unpack the bundle into the directory `path`. A change replaces the " +
					"resource. Default: `false`.",
				Optional:      true,
				Computed:      true,
				Default:       booldefault.StaticBool(false),
				PlanModifiers: []planmodifier.Bool{boolplanmodifier.RequiresReplace()},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 checksum of the archive, as 64 lowercase hexadecimal digits. If set, " +
					"any other checksum is an error. If not, it is computed.",
				Optional: true,
				Computed: true,
				Validators: []validator.String{stringvalidator.RegexMatches(regexp.MustCompile(`^[0-9a-f]{64}$`),
					"must be 64 lowercase hexadecimal digits, as sha256sum prints them")},
			},
			"size_bytes": schema.Int64Attribute{MarkdownDescription: "Size of the archive in bytes.", Computed: true},
			"content_sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 digest of the names, types, and contents of the files, however they " +
					"are packed. Null if the archive cannot be unpacked.",
				Computed: true,
			},
			"file_count": schema.Int64Attribute{
				MarkdownDescription: "Number of files in the bundle. Null if the archive cannot be unpacked.",
				Computed:            true,
			},
		},
		Blocks: resourceTimeouts(map[string]string{
			"create": "Timeout for the wait and the download. Default: `1h`.",
			"update": "Timeout for the wait and a download in place. Default: `1h`.",
		}),
	}
}

// ValidateConfig refuses a file whose path names a directory.
func (r *bundleDownloadResource) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	var config bundleDownloadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	name, keepsFile := config.Path.ValueString(), !config.Unpack.IsUnknown() && !config.Unpack.ValueBool()
	if keepsFile && name != "" && os.IsPathSeparator(name[len(name)-1]) {
		reportPathOfDirectory(&resp.Diagnostics, name)
	}
}

// downloadStep is what an apply does.
type downloadStep int

const (
	downloadNew     downloadStep = iota // downloads a bundle to a path where nothing is the resource's
	downloadOther                       // replaces what the resource has written there by another bundle
	downloadAgain                       // restores the bundle of the same job, which has completed
	downloadNothing                     // records changed arguments
)

// nextDownload decides what an apply does. Without a state, it is downloadNew. found is the digest of what is on disk
// and the resource's own. Another spelling of a path, such as site//bundle, is the same path.
func nextDownload(state, plan bundleDownloadModel, found string) downloadStep {
	switch {
	case state.JobID.IsNull() || filepath.Clean(plan.Path.ValueString()) != filepath.Clean(state.Path.ValueString()):
		return downloadNew
	case !plan.JobID.Equal(state.JobID) || !plan.Unpack.Equal(state.Unpack):
		return downloadOther
	case found == state.onDisk() && (plan.SHA256.IsUnknown() || plan.SHA256.Equal(state.SHA256)):
		return downloadNothing
	}
	return downloadAgain
}

// ModifyPlan plans a download even to record changed arguments, because the apply may run on another disk. It leaves
// the checksum of the archive unknown, because the service may pack it again. The content digest of the same job stays
// known, because its files do not change.
func (r *bundleDownloadResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var config, plan, state bundleDownloadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	target, owned := plan.target(), bundle.Owned(nil)
	if nextDownload(state, plan, "") == downloadNew {
		resp.RequiresReplace = path.Paths{path.Root("path")} // of no effect in a create
	} else { // with the unpack of the state, because a replacement deletes the old files first
		target, owned = state.target(), readOwned(ctx, req.Private, state, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() || plan.Path.IsUnknown() || plan.Unpack.IsUnknown() {
		return
	}
	found, err := target.Inspect(ctx, owned)
	if occupied, ok := errors.AsType[*bundle.OccupiedError](err); ok {
		warnPathInUse(&resp.Diagnostics, occupied)
	} else if err != nil {
		reportDownload(&resp.Diagnostics, summaryInspectFailed, plan.JobID.ValueString(), noFilesChanged, err)
		return
	}
	step := nextDownload(state, plan, found.Digest)
	if step == downloadAgain || step == downloadNothing && !req.Plan.Raw.Equal(req.State.Raw) {
		if config.SHA256.IsNull() {
			plan.SHA256 = types.StringUnknown()
		}
		plan.SizeBytes = types.Int64Unknown()
		plan.ContentSHA256, plan.FileCount = state.ContentSHA256, state.FileCount
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
}

func (r *bundleDownloadResource) Create(
	ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse,
) {
	run := downloadRun{data: r.data, diags: &resp.Diagnostics}
	run.diags.Append(req.Plan.Get(ctx, &run.plan)...)
	run.apply(ctx, "create", &resp.State, resp.Private)
}

// Read leaves the state, which records what was written, on any disk.
func (r *bundleDownloadResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {
}

func (r *bundleDownloadResource) Update(
	ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse,
) {
	run := downloadRun{data: r.data, unchanged: noFilesChanged, diags: &resp.Diagnostics}
	run.diags.Append(req.Plan.Get(ctx, &run.plan)...)
	run.diags.Append(req.State.Get(ctx, &run.state)...)
	run.owned = readOwned(ctx, req.Private, run.state, run.diags)
	run.apply(ctx, "update", &resp.State, resp.Private)
}

// Delete deletes what the resource wrote, and leaves everything else.
func (r *bundleDownloadResource) Delete(
	ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse,
) {
	var state bundleDownloadModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	owned := readOwned(ctx, req.Private, state, &resp.Diagnostics)
	err := state.target().Remove(ctx, &r.data.placed, owned)
	if occupied, ok := errors.AsType[*bundle.OccupiedError](err); ok {
		warnNotDeleted(&resp.Diagnostics, occupied)
	} else if !warnLeft(&resp.Diagnostics, err) {
		reportDownload(&resp.Diagnostics, summaryDeleteFailed, state.JobID.ValueString(), noFilesChanged, err)
	}
}

// readOwned returns the digests of what the resource wrote. Without the private state, which Terraform does not pass
// to the Delete of a tainted resource, that is the digest in the state. One that cannot be decoded is not an error, as
// it is for an export: nothing is lost but the recognition of earlier bundles, which then stay as they are.
func readOwned(
	ctx context.Context, private privateState, state bundleDownloadModel, diags *diag.Diagnostics,
) bundle.Owned {
	stored, _ := readPrivate[bundle.Owned](ctx, private, writtenKey, diags)
	if stored != nil {
		return *stored
	}
	return bundle.Owned{state.onDisk()}
}

// downloadRun is a create or an update.
type downloadRun struct {
	data      *providerData
	plan      bundleDownloadModel
	state     bundleDownloadModel // of an update
	owned     bundle.Owned        // what the resource wrote
	unchanged string              // says what a failure leaves; "" for a create
	diags     *diag.Diagnostics
}

// apply downloads the bundle of the plan's job, unless it is on disk already, and stores what is there. timeout is a
// field of the timeouts.
func (run *downloadRun) apply(ctx context.Context, timeout string, to *tfsdk.State, private privateState) {
	operation, ok := run.data.ready(run.diags)
	if !ok || run.diags.HasError() {
		return
	}
	ctx, cancel := run.data.withTimeout(ctx, run.plan.Timeouts, timeout, defaultDownloadTimeout)
	defer cancel()
	jobID := run.plan.JobID.ValueString()
	found, err := run.plan.target().Inspect(ctx, run.owned)
	step := nextDownload(run.state, run.plan, found.Digest)
	if err == nil && step == downloadNothing {
		run.state.Path, run.state.Timeouts = run.plan.Path, run.plan.Timeouts
		run.plan = run.state
	} else if err == nil {
		// A job that was downloaded before has completed.
		if step != downloadAgain && !waitForCompleted(ctx, operation, jobID, run.unchanged, run.diags) {
			return
		}
		err = run.download(ctx, operation, found)
	}
	if err != nil {
		reportDownload(run.diags, summaryDownloadFailed, jobID, run.unchanged, err)
		return
	}
	run.diags.Append(to.Set(ctx, run.plan)...)
	writePrivate(ctx, private, writtenKey, run.owned, run.diags)
}

// download puts the bundle in place of what was found, and sets the computed attributes of the plan. If it fails, it
// leaves the files unchanged.
func (run *downloadRun) download(ctx context.Context, operation *client.Operation, found bundle.Found) error {
	plan := &run.plan
	staged, err := plan.target().Stage()
	if err != nil {
		return err
	}
	defer func() { warnLeft(run.diags, staged.Close(ctx)) }()
	if err := operation.DownloadBundle(ctx, plan.JobID.ValueString(), staged); err != nil {
		return err
	}
	if wanted := plan.SHA256.ValueString(); wanted != "" && wanted != staged.SHA256() {
		return &mismatchError{"sha256", staged.SHA256(), wanted}
	}
	content, err := staged.Verify(ctx)
	if err != nil {
		return err
	}
	// The plan knows the content only of a job that was downloaded before.
	if wanted := plan.ContentSHA256.ValueString(); !plan.ContentSHA256.IsUnknown() && wanted != content.Digest {
		return &mismatchError{"job_id", content.Digest, wanted}
	}
	if run.owned, err = staged.Commit(&run.data.placed, found, run.owned); err != nil {
		return err
	}
	plan.SHA256, plan.SizeBytes = types.StringValue(staged.SHA256()), types.Int64Value(staged.SizeBytes)
	plan.ContentSHA256, plan.FileCount = nullIfEmpty(content.Digest), types.Int64Null()
	if content.Digest != "" {
		plan.FileCount = types.Int64Value(content.Files)
	}
	return nil
}
