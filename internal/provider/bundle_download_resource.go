// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"syscall"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
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
		MarkdownDescription: "Downloads the bundle of a static export job to a file, verifies it, and optionally unpacks it. It never deletes or overwrites files that it did not write.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{MarkdownDescription: "ID of the job, such as `docs_static_export.NAME.job_id`. If the job is still running, the provider waits for it. Changing the ID replaces the files in place.", Required: true, Validators: idRules},
			"path": schema.StringAttribute{
				MarkdownDescription: "File to write, relative to the directory that Terraform runs in. Missing directories are created; a destroy leaves them. The file must not exist before the resource is created. Changing the path replaces the resource.",
				Required:            true,
				Validators:          pathRules,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 checksum of the file, as 64 lowercase hexadecimal digits. If set, any other checksum is an error. If omitted, the checksum of the downloaded file.",
				Optional:            true,
				Computed:            true,
				Validators: []validator.String{stringvalidator.RegexMatches(
					regexp.MustCompile(`^[0-9a-f]{64}$`), "must be 64 lowercase hexadecimal digits, as sha256sum prints them")},
			},
			"extract_to": schema.StringAttribute{
				MarkdownDescription: "Directory to unpack the bundle into. It must be missing or empty before the resource is created. Changing the path replaces the resource. The bundle must be a tar, gzip-compressed tar, or zip archive without links.",
				Optional:            true,
				Validators:          pathRules,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"timeouts": resourceTimeouts(map[string]string{
				"create": "Timeout for the download, including the wait for a running job, such as `90m`. Default: `60m`.",
				"update": "Timeout for a later download. Default: `60m`.",
			}),
			"size_bytes":     schema.Int64Attribute{MarkdownDescription: "Size of the file in bytes.", Computed: true},
			"content_sha256": schema.StringAttribute{MarkdownDescription: "SHA-256 digest of the names, types, and contents of the files in the bundle, regardless of how they are packed. Null if the file is not an archive that can be unpacked.", Computed: true},
			"file_count":     schema.Int64Attribute{MarkdownDescription: "Number of files in the bundle. Null if the file is not an archive that can be unpacked.", Computed: true},
		},
	}
}

// ValidateConfig checks path and extract_to against each other.
func (r *bundleDownloadResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config bundleDownloadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || config.Path.IsUnknown() || config.ExtractTo.IsUnknown() || config.Path.ValueString() == "" {
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
	creating := req.State.Raw.IsNull()
	var config, plan, state bundleDownloadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !creating {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	owned := readOwned(ctx, req.Private, &state, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	complete := false
	if !plan.Path.IsUnknown() && !plan.ExtractTo.IsUnknown() {
		found, ok := plan.inspect(ctx, owned, &resp.Diagnostics)
		if !ok {
			return
		}
		complete = found.Complete()
		for _, occupied := range found.Occupied() {
			// The plan of a tainted resource cannot know that its destroy comes first.
			resp.Diagnostics.AddAttributeWarning(argumentOf(occupied), summaryPathInUse, explainOccupied(occupied, "Unless you resolve this first, the apply stops and changes nothing."))
		}
	}
	if creating {
		return
	}
	sameJob := plan.JobID.Equal(state.JobID)
	plan.setComputed(&state)
	if !config.SHA256.IsNull() {
		plan.SHA256 = config.SHA256
	}
	if !complete || !sameJob || !reflect.DeepEqual(plan, state) {
		plan.SizeBytes = types.Int64Unknown()
		if config.SHA256.IsNull() {
			plan.SHA256 = types.StringUnknown()
		}
		if !sameJob || state.ContentSHA256.IsNull() {
			plan.ContentSHA256, plan.FileCount = types.StringUnknown(), types.Int64Unknown()
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

func (r *bundleDownloadResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan, none bundleDownloadModel
	var owned bundle.Owned
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if r.write(ctx, "create", &plan, &none, &owned, &resp.Diagnostics) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		writePrivate(ctx, resp.Private, writtenKey, owned, &resp.Diagnostics)
	}
}

// Read does not change the state, which records what was written, on any disk.
func (r *bundleDownloadResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {
}

func (r *bundleDownloadResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state bundleDownloadModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	owned := readOwned(ctx, req.Private, &state, &resp.Diagnostics)
	if r.write(ctx, "update", &plan, &state, &owned, &resp.Diagnostics) {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		writePrivate(ctx, resp.Private, writtenKey, owned, &resp.Diagnostics)
	}
}

// Delete deletes what the resource wrote, and leaves everything else.
func (r *bundleDownloadResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state bundleDownloadModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	owned := readOwned(ctx, req.Private, &state, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	removed, err := state.target().Remove(ctx, owned)
	if err != nil {
		if detail, ok := explainDisk(err, "No files were deleted.", "destroy again"); ok {
			resp.Diagnostics.AddError(summaryDeleteFailed, detail)
		} else {
			addError(&resp.Diagnostics, summaryDeleteFailed, explain(ctx, err), "No files were deleted.", "Destroy again.")
		}
		return
	}
	warnAboutLeftovers(removed.Discard(), &resp.Diagnostics)
	for _, occupied := range removed.Occupied() {
		resp.Diagnostics.AddAttributeWarning(argumentOf(occupied), summaryForeignFiles, fmt.Sprintf("%q %s, so it was not deleted. If you no longer need it, delete it yourself.", occupied.Name, occupied.Problem))
	}
}

// readOwned returns the digests of what the resource wrote. The state holds those of the
// last bundle too, for engines that lose the private state, and for one that cannot be
// decoded.
func readOwned(ctx context.Context, private privateState, state *bundleDownloadModel, diags *diag.Diagnostics) bundle.Owned {
	owned, _ := readPrivate[bundle.Owned](ctx, private, writtenKey, diags)
	owned.Add(bundle.Contents{SHA256: state.SHA256.ValueString(), ContentSHA256: state.ContentSHA256.ValueString()})
	return owned
}

func (m *bundleDownloadModel) target() bundle.Target {
	return bundle.Target{Path: m.Path.ValueString(), Directory: m.ExtractTo.ValueString()}
}

// setComputed copies the attributes that describe what was written.
func (m *bundleDownloadModel) setComputed(from *bundleDownloadModel) {
	m.SHA256, m.SizeBytes, m.ContentSHA256, m.FileCount = from.SHA256, from.SizeBytes, from.ContentSHA256, from.FileCount
}

// setContents sets the attributes that describe what was written.
func (m *bundleDownloadModel) setContents(contents bundle.Contents) {
	m.SHA256 = types.StringValue(contents.SHA256)
	m.SizeBytes = types.Int64Value(contents.SizeBytes)
	m.ContentSHA256, m.FileCount = nullIfEmpty(contents.ContentSHA256), types.Int64Null()
	if contents.ContentSHA256 != "" {
		m.FileCount = types.Int64Value(contents.FileCount)
	}
}

// inspect finds out what is at the target of the plan. It reports failures.
func (m *bundleDownloadModel) inspect(ctx context.Context, owned bundle.Owned, diags *diag.Diagnostics) (bundle.Found, bool) {
	found, err := m.target().Inspect(ctx, owned)
	if err != nil {
		addError(diags, summaryInspectFailed, explain(ctx, err), noFilesWritten, "Try again.")
	}
	return found, err == nil
}

// noFilesWritten also fits a replacement, whose destroy has already deleted the old files.
const noFilesWritten = "No files were written."

// write downloads the bundle of the plan's job, unless it is on disk already, sets the
// computed attributes of the plan, and adds to owned. It reports failures, and leaves the
// disk unchanged if it fails. operation names the timeout. In a create, state is empty.
func (r *bundleDownloadResource) write(ctx context.Context, operation string, plan, state *bundleDownloadModel, owned *bundle.Owned, diags *diag.Diagnostics) bool {
	c, ok := r.data.ready(diags)
	if !ok || diags.HasError() {
		return false
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, operation, defaultDownloadTimeout)
	defer cancel()

	found, ok := plan.inspect(ctx, *owned, diags)
	if !ok {
		return false
	}
	if occupied := found.Occupied(); len(occupied) > 0 {
		for _, err := range occupied {
			plan.addFailure(ctx, diags, err)
		}
		return false
	}
	jobID, sameJob := plan.JobID.ValueString(), plan.JobID.Equal(state.JobID)
	if found.Complete() && sameJob && (plan.SHA256.IsUnknown() || plan.SHA256.Equal(state.SHA256)) {
		plan.setComputed(state)
		return true
	}
	if !waitForCompleted(ctx, c, jobID, diags) {
		return false
	}
	wanted := ""
	if sameJob {
		wanted = plan.ContentSHA256.ValueString()
	}
	contents, err := plan.put(ctx, c, wanted, owned, diags)
	if err != nil {
		plan.addFailure(ctx, diags, err)
		return false
	}
	plan.setContents(contents)
	return true
}

// put downloads the bundle and puts it in place. wanted is the content digest that it must
// have, or "".
func (m *bundleDownloadModel) put(ctx context.Context, c *client.Client, wanted string, owned *bundle.Owned, diags *diag.Diagnostics) (bundle.Contents, error) {
	jobID := m.JobID.ValueString()
	staged, err := bundle.Stage(ctx, m.target(), func(ctx context.Context, file *os.File) (string, int64, error) {
		got, err := c.DownloadBundle(ctx, jobID, file)
		if sum := m.SHA256.ValueString(); err == nil && sum != "" && sum != got.SHA256 {
			err = &mismatchError{
				"sha256", summaryChecksumMismatch,
				fmt.Sprintf("The bundle of job %s has the SHA-256 checksum %s, but sha256 is %s.", jobID, got.SHA256, sum),
				"If the bundle is correct, update or remove sha256.",
			}
		}
		return got.SHA256, got.SizeBytes, err
	})
	if err != nil {
		return bundle.Contents{}, err
	}
	defer func() { warnAboutLeftovers(staged.Discard(), diags) }()
	if got := staged.Contents.ContentSHA256; wanted != "" && wanted != got {
		return bundle.Contents{}, &mismatchError{
			"job_id", summaryContentChanged,
			fmt.Sprintf("The service returned different files for job %s: content_sha256 is %s instead of %s.", jobID, cmp.Or(got, "null"), wanted),
			"To accept the new files, run \"terraform apply -replace\" with the address of this resource. If it has create_before_destroy, also change its paths.",
		}
	}
	return staged.Contents, staged.Commit(ctx, owned)
}

// mismatchError reports a bundle that is not what the plan asks for.
type mismatchError struct{ argument, summary, problem, next string }

func (e *mismatchError) Error() string { return e.problem }

// addFailure adds the diagnostic of a download that failed.
func (m *bundleDownloadModel) addFailure(ctx context.Context, diags *diag.Diagnostics, err error) {
	jobID := m.JobID.ValueString()
	var occupied *bundle.OccupiedError
	var mismatch *mismatchError
	var archive *bundle.ArchiveError
	detail, onDisk := explainDisk(err, noFilesWritten, "apply again")
	switch {
	case errors.As(err, &occupied):
		diags.AddAttributeError(argumentOf(occupied), summaryPathInUse, explainOccupied(occupied, noFilesWritten))
	case errors.As(err, &mismatch):
		diags.AddAttributeError(path.Root(mismatch.argument), mismatch.summary, paragraphs(mismatch.problem+" "+noFilesWritten, mismatch.next))
	case errors.As(err, &archive):
		at, problem, next := "extract_to", "cannot be unpacked", "Export the site again, or download the bundle without extract_to."
		if m.ExtractTo.IsNull() {
			at, problem, next = "path", "is damaged", "Apply again. If it fails again, export the site again."
		}
		diags.AddAttributeError(path.Root(at), summaryUnpackFailed,
			paragraphs(fmt.Sprintf("The bundle of job %s %s: %s. %s", jobID, problem, strings.TrimSuffix(archive.Error(), "."), noFilesWritten), next))
	case onDisk:
		diags.AddAttributeError(path.Root("path"), summaryWriteFailed, detail)
	default:
		addError(diags, summaryDownloadFailed, explain(ctx, err), "Job: "+jobID+". "+noFilesWritten, "")
	}
}

// explainOccupied describes what the resource did not write and does not replace.
func explainOccupied(occupied *bundle.OccupiedError, result string) string {
	return paragraphs(fmt.Sprintf("%q %s. %s", occupied.Name, occupied.Problem, result),
		fmt.Sprintf("Move or delete what is there, and apply again. If another docs_bundle_download has the same %s, give each its own.", argumentOf(occupied)))
}

func argumentOf(occupied *bundle.OccupiedError) path.Path {
	if occupied.Directory {
		return path.Root("extract_to")
	}
	return path.Root("path")
}

// explainDisk describes an error of the file system, if it is one.
func explainDisk(err error, unchanged, again string) (detail string, ok bool) {
	var lost *bundle.LostError
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &lost):
		return paragraphs(sentence(err.Error()), fmt.Sprintf("Move %s back to %s, and %s.", lost.Now, lost.Name, again)), true
	case errors.Is(err, syscall.EBUSY):
		return paragraphs("The operating system returned: "+err.Error()+". "+unchanged, "If extract_to is a mount point, use a subdirectory of it."), true
	case errors.As(err, &file) || errors.As(err, &link):
		return paragraphs("The operating system returned: "+err.Error()+". "+unchanged, "Fix the cause, and "+again+"."), true
	}
	return "", false
}

// warnAboutLeftovers names temporary directories that could not be deleted.
func warnAboutLeftovers(err error, diags *diag.Diagnostics) {
	if err != nil {
		diags.AddWarning(summaryNotDeleted, paragraphs(sentence(err.Error()), "Delete that directory."))
	}
}
