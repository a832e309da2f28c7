package provider

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
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

// bundleDownloadResource keeps the bundle of a job on disk. The state records what was
// written. Only ModifyPlan and the apply read the disk.
type bundleDownloadResource struct{ resourceBase }

func newBundleDownloadResource() resource.Resource { return &bundleDownloadResource{} }

type bundleDownloadModel struct {
	JobID     types.String `tfsdk:"job_id"`
	Path      types.String `tfsdk:"path"`
	SHA256    types.String `tfsdk:"sha256"`
	ExtractTo types.String `tfsdk:"extract_to"`
	Timeouts  types.Object `tfsdk:"timeouts"`

	SizeBytes     types.Int64  `tfsdk:"size_bytes"`
	ContentSHA256 types.String `tfsdk:"content_sha256"`
	FileCount     types.Int64  `tfsdk:"file_count"`
}

// writtenKey is the key of bundle.Owned in the private state.
const writtenKey = "written"

func (r *bundleDownloadResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_bundle_download"
}

func (r *bundleDownloadResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Downloads the bundle of a static export job to a file, verifies it, and optionally unpacks it.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{MarkdownDescription: "ID of the job, for example from `docs_static_export.NAME.job_id`. " +
				"If the job is still running, the provider waits for it. A change downloads that job's bundle, in place.", Required: true, Validators: idRules},
			"path": schema.StringAttribute{
				MarkdownDescription: "Path of the file to write. A relative path is relative to the working directory, or to the `-chdir` directory. " +
					"Missing directories are created, and are not deleted on destroy. " +
					"A change replaces the resource and deletes the old files, before the download unless `create_before_destroy` is set.",
				Required:      true,
				Validators:    pathRules,
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 checksum of the archive file, as 64 lowercase hexadecimal digits. For its content, see `content_sha256`. " +
					"If set, any other checksum is an error. If omitted, it is computed from the downloaded file. " +
					"A change downloads the bundle again, unless the file has that checksum.",
				Optional: true,
				Computed: true,
				Validators: []validator.String{stringvalidator.RegexMatches(
					regexp.MustCompile(`^[0-9a-f]{64}$`), "must be 64 lowercase hexadecimal digits, as sha256sum prints them")},
			},
			"extract_to": schema.StringAttribute{
				MarkdownDescription: "Directory to unpack the bundle into. The bundle must be a tar, gzip-compressed tar, or zip archive without symbolic or hard links. " +
					"A change replaces the resource and deletes the old files, as a change of `path` does.",
				Optional:      true,
				Validators:    pathRules,
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"size_bytes": schema.Int64Attribute{MarkdownDescription: "Size of the file in bytes.", Computed: true},
			"content_sha256": schema.StringAttribute{MarkdownDescription: "SHA-256 digest of the names, types, and contents of the files in the bundle, " +
				"regardless of how they are packed. Null if the file is not an archive that can be unpacked.", Computed: true},
			"file_count": schema.Int64Attribute{MarkdownDescription: "Number of files in the bundle. Null if the file is not an archive that can be unpacked.", Computed: true},
		},
		Blocks: resourceTimeouts(map[string]string{
			"create": "Timeout for the download, including the wait for a running job, such as `90m`. Default: `1h`.",
			"update": "Timeout for a download in place, including the wait for a running job. Default: `1h`.",
		}),
	}
}

// ValidateConfig checks path and extract_to against each other.
func (r *bundleDownloadResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config bundleDownloadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || config.Path.ValueString() == "" { // not known yet, or refused
		return
	}
	if err := config.target().Check(); err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("path"), summaryInvalidPath, sentence(err.Error()))
	}
}

// ModifyPlan plans a download if the files on disk are not what the plan asks for. The
// apply may run on another disk, so any planned update leaves the file's checksum
// unknown. The content digest stays known, because it is the same for the same job.
func (r *bundleDownloadResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var config, plan, state bundleDownloadModel
	var owned bundle.Owned
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
		owned = readOwned(ctx, req.Private, &state, &resp.Diagnostics)
	}
	if resp.Diagnostics.HasError() {
		return
	}
	// This is a create or a replacement. Terraform drops the warnings of a replacement's own create.
	newPaths := !plan.Path.Equal(state.Path) || !plan.ExtractTo.Equal(state.ExtractTo)
	if newPaths {
		owned = bundle.Owned{}
	}
	complete := false
	if !plan.Path.IsUnknown() && !plan.ExtractTo.IsUnknown() {
		found, err := plan.target().Inspect(ctx, owned)
		if err != nil {
			planDownload.addFailure(&resp.Diagnostics, plan.JobID.ValueString(), plan.target(), err)
			return
		}
		complete = found.Complete()
		for _, occupied := range found.Occupied() {
			// A create finds the files of the resource that it replaces, or files that it takes over.
			if !newPaths || !occupied.Comparable {
				resp.Diagnostics.AddAttributeWarning(argumentOf(occupied), summaryPathInUse+": "+occupied.Name, warnAboutOccupied(occupied, newPaths))
			}
		}
	}
	if newPaths || complete && req.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	if config.SHA256.IsNull() {
		plan.SHA256 = types.StringUnknown()
	}
	plan.SizeBytes, plan.ContentSHA256, plan.FileCount = types.Int64Unknown(), types.StringUnknown(), types.Int64Unknown()
	if plan.JobID.Equal(state.JobID) {
		plan.ContentSHA256, plan.FileCount = state.ContentSHA256, state.FileCount
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// warnAboutOccupied says what the apply will do about what the resource did not write.
func warnAboutOccupied(occupied bundle.Obstacle, newPaths bool) string {
	switch {
	case newPaths:
		return explainOccupied(occupied, "The apply stops. If this plan replaces a resource without create_before_destroy, Terraform deletes the old files first.", "")
	case occupied.Comparable:
		return fmt.Sprintf("%q %s. The apply stops with an error before it changes any file, unless the content there is that of the bundle.\n\n"+
			"To avoid the error, move or delete %[1]q.", occupied.Name, occupied.Problem)
	}
	return explainOccupied(occupied, "The apply stops before it changes any file.", "")
}

func (r *bundleDownloadResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	run := downloadRun{downloadOperation: createDownload, data: r.data, diags: &resp.Diagnostics}
	run.diags.Append(req.Plan.Get(ctx, &run.plan)...)
	run.apply(ctx, "create", &resp.State, resp.Private)
}

// Read does not change the state, which records what was written, on any disk.
func (r *bundleDownloadResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {
}

func (r *bundleDownloadResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	run := downloadRun{downloadOperation: updateDownload, data: r.data, diags: &resp.Diagnostics}
	run.diags.Append(req.Plan.Get(ctx, &run.plan)...)
	run.diags.Append(req.State.Get(ctx, &run.state)...)
	run.owned = readOwned(ctx, req.Private, &run.state, run.diags)
	run.apply(ctx, "update", &resp.State, resp.Private)
}

// Delete deletes what the resource wrote, and leaves everything else.
func (r *bundleDownloadResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state bundleDownloadModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	owned := readOwned(ctx, req.Private, &state, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := state.target().Inspect(ctx, owned)
	var left []bundle.Obstacle
	if err == nil {
		left, err = found.Remove(ctx)
		warnAboutLeftovers(found.Close(), state, &resp.Diagnostics)
	}
	if err != nil {
		deleteDownload.addFailure(&resp.Diagnostics, state.JobID.ValueString(), state.target(), err)
		return
	}
	for _, occupied := range left {
		resp.Diagnostics.AddAttributeWarning(argumentOf(occupied), summaryForeignFiles+": "+occupied.Name,
			paragraphs(fmt.Sprintf("%q %s. It was not deleted.", occupied.Name, occupied.Problem), "If no other resource uses it and you do not need it, delete it."))
	}
}

// readOwned returns the digests of what the resource wrote: those of the last bundle, which
// the state holds too, if the private state is lost or unreadable.
func readOwned(ctx context.Context, private privateState, state *bundleDownloadModel, diags *diag.Diagnostics) bundle.Owned {
	stored, err := readPrivate[bundle.Owned](ctx, private, writtenKey, diags)
	if stored != nil {
		return *stored
	}
	if err != nil {
		diags.AddWarning(summaryUnreadableNotes+": "+state.Path.ValueString(), paragraphs(
			"The private state of the resource is damaged or was written by another version of the provider, so the provider ignores it. "+
				"Until the next download, the resource recognizes only the files of its last bundle, and a destroy deletes nothing.",
			"No action is needed now. If a later plan or a destroy warns about files that you do not need, delete them."))
	}
	return bundle.Owned{
		Files: []bundle.Written{{Digest: state.SHA256.ValueString()}},
		Trees: []bundle.Written{{Digest: state.ContentSHA256.ValueString()}},
	}
}

func (m bundleDownloadModel) target() bundle.Target {
	return bundle.Target{Path: m.Path.ValueString(), Directory: m.ExtractTo.ValueString()}
}

// downloadRun is a create or an update.
type downloadRun struct {
	downloadOperation
	data  *providerData
	plan  bundleDownloadModel
	state bundleDownloadModel // of an update
	owned bundle.Owned        // what the resource wrote
	diags *diag.Diagnostics
}

// apply downloads the bundle of the plan's job, unless it is on disk already, and stores
// what is there. timeout is a field of the timeouts.
func (run *downloadRun) apply(ctx context.Context, timeout string, to *tfsdk.State, private privateState) {
	c, ok := run.data.ready(run.diags)
	if !ok || run.diags.HasError() {
		return
	}
	ctx, cancel := run.data.withTimeout(ctx, run.plan.Timeouts, timeout, defaultDownloadTimeout)
	defer cancel()

	sameJob := run.plan.JobID.Equal(run.state.JobID) // so it has completed
	if !sameJob && !waitForCompleted(ctx, c, run.plan.JobID.ValueString(), run.unchanged, run.diags) {
		return
	}
	result := &run.plan
	found, err := run.plan.target().Inspect(ctx, run.owned)
	if err == nil {
		if sameJob && found.Complete() && (run.plan.SHA256.IsUnknown() || run.plan.SHA256.Equal(run.state.SHA256)) {
			run.state.Timeouts = run.plan.Timeouts // all else is equal, or unknown in the plan
			result = &run.state
		} else {
			err = run.download(ctx, c, found)
		}
	}
	if err != nil {
		run.addFailure(run.diags, run.plan.JobID.ValueString(), run.plan.target(), err)
		return
	}
	run.diags.Append(to.Set(ctx, result)...)
	writePrivate(ctx, private, writtenKey, run.owned, run.diags)
}

// download puts the bundle in place, and sets the computed attributes of the plan. If it fails,
// it leaves the files unchanged.
func (run *downloadRun) download(ctx context.Context, c *client.Client, found *bundle.Found) error {
	plan := &run.plan
	jobID := plan.JobID.ValueString()
	staged, err := found.Stage()
	if err != nil {
		return err
	}
	defer func() { warnAboutLeftovers(staged.Close(), *plan, run.diags) }()
	if err := c.DownloadBundle(ctx, jobID, staged); err != nil {
		return err
	}
	if wanted := plan.SHA256.ValueString(); wanted != "" && wanted != staged.SHA256() {
		return &mismatchError{
			argument: "sha256",
			summary:  summaryChecksumMismatch,
			what:     fmt.Sprintf("The bundle of job %s has the SHA-256 checksum %s, but sha256 is %s.", jobID, staged.SHA256(), wanted),
			next:     "If the bundle is correct, update or remove sha256.",
		}
	}
	content, err := staged.Unpack(ctx)
	if err != nil {
		return err
	}
	// The plan knows the content only of a job that was downloaded before.
	if wanted := plan.ContentSHA256.ValueString(); !plan.ContentSHA256.IsUnknown() && wanted != content.Digest {
		return &mismatchError{
			argument: "job_id",
			summary:  summaryContentChanged,
			what:     fmt.Sprintf("The service returned different files for job %s: content_sha256 is %s instead of %s.", jobID, cmp.Or(content.Digest, "null"), cmp.Or(wanted, "null")),
			next:     "To accept the new files, run \"terraform apply -replace=ADDRESS\" for this resource. If it has create_before_destroy, change path and extract_to instead.",
		}
	}
	if run.owned, err = staged.Commit(ctx); err != nil {
		return err
	}
	plan.SHA256, plan.SizeBytes = types.StringValue(staged.SHA256()), types.Int64Value(staged.SizeBytes)
	plan.ContentSHA256, plan.FileCount = types.StringNull(), types.Int64Null()
	if content.Digest != "" {
		plan.ContentSHA256, plan.FileCount = types.StringValue(content.Digest), types.Int64Value(content.Files)
	}
	return nil
}

// warnAboutLeftovers names temporary directories that could not be deleted.
func warnAboutLeftovers(err error, m bundleDownloadModel, diags *diag.Diagnostics) {
	if err != nil {
		diags.AddWarning(summaryNotDeleted+": "+m.Path.ValueString(), paragraphs(sentence(err.Error()), "Nothing needs these files. Delete them yourself."))
	}
}
