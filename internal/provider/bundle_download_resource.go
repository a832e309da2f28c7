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

// writtenKey is the key of writtenBundle in the private state.
const writtenKey = "written"

// writtenBundle is what the resource stores about what it wrote. If it cannot be decoded,
// it is empty, so that nothing on disk counts as written by the resource.
type writtenBundle struct {
	// JobID is the job of the last bundle.
	JobID string `json:"job_id"`
	bundle.Owned
}

func (r *bundleDownloadResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_bundle_download"
}

func (r *bundleDownloadResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Downloads the bundle of a completed static export job to a file, verifies it, and optionally unpacks it. It never deletes or overwrites files that it did not write.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{MarkdownDescription: "ID of the job, such as `docs_static_export.NAME.job_id`. If the job is still running, the provider waits for it. Changing the ID replaces the files in place.", Required: true, Validators: idRules},
			"path": schema.StringAttribute{
				MarkdownDescription: "File to write, relative to the directory that Terraform runs in. Missing directories are created. The file must not exist before the resource is created. Changing the path replaces the resource.",
				Required:            true,
				Validators:          pathRules,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 checksum of the file, as 64 lowercase hexadecimal digits. If set, any other checksum is an error.",
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
				"update": "Timeout for a repeated download. Default: `60m`.",
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
	written, _ := readPrivate[writtenBundle](ctx, req.Private, writtenKey, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	complete := false
	if !plan.Path.IsUnknown() && !plan.ExtractTo.IsUnknown() {
		found, ok := look(ctx, &plan, written, &resp.Diagnostics)
		if !ok {
			return
		}
		complete = found.Complete()
		addOccupied(found.Occupied(), "The apply will stop without changing it.", resp.Diagnostics.AddAttributeWarning)
	}
	if creating {
		return
	}
	sameJob := plan.JobID.Equal(state.JobID) && plan.JobID.ValueString() == written.JobID
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
	var plan bundleDownloadModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	// If this is a replacement, the old files are deleted by now.
	d := download{plan: &plan, unchanged: "No files were written.", diags: &resp.Diagnostics}
	if d.run(ctx, r.data, "create") {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		writePrivate(ctx, resp.Private, writtenKey, d.written, &resp.Diagnostics)
	}
}

// Read does not change the state, which records what was written, on any disk.
func (r *bundleDownloadResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {
}

func (r *bundleDownloadResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state bundleDownloadModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	written, _ := readPrivate[writtenBundle](ctx, req.Private, writtenKey, &resp.Diagnostics)
	d := download{plan: &plan, state: state, written: written, unchanged: "The files on disk are unchanged.", diags: &resp.Diagnostics}
	if d.run(ctx, r.data, "update") {
		resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
		writePrivate(ctx, resp.Private, writtenKey, d.written, &resp.Diagnostics)
	}
}

// Delete deletes what the resource wrote, and leaves everything else.
func (r *bundleDownloadResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state bundleDownloadModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	written, _ := readPrivate[writtenBundle](ctx, req.Private, writtenKey, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := state.target().Remove(ctx, written.Owned)
	switch {
	case interrupted(err):
		addError(&resp.Diagnostics, summaryDeleteFailed, err, "No files were deleted.", "Destroy again.")
	case err != nil:
		addError(&resp.Diagnostics, summaryDeleteFailed, err, "Other files may be deleted already.", "Delete what is left, and destroy again.")
	}
	for _, occupied := range found.Occupied() {
		resp.Diagnostics.AddAttributeWarning(argumentOf(occupied), summaryForeignFiles,
			fmt.Sprintf("%q %s, and this resource did not write it. It was not deleted.", occupied.Name, occupied.Problem))
	}
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

// look finds out what is at the target of the plan. It reports failures.
func look(ctx context.Context, plan *bundleDownloadModel, written writtenBundle, diags *diag.Diagnostics) (bundle.Found, bool) {
	found, err := plan.target().Look(ctx, written.Owned)
	if err != nil {
		addError(diags, summaryInspectFailed, err, "The files on disk are unchanged.", "Try again.")
	}
	return found, err == nil
}

// addOccupied adds a diagnostic for each file or directory that the resource did not
// write and will not replace.
func addOccupied(all []*bundle.OccupiedError, result string, add func(path.Path, string, string)) {
	for _, occupied := range all {
		at := argumentOf(occupied)
		add(at, summaryPathInUse, paragraphs(
			fmt.Sprintf("%q %s, and this resource did not write it. %s", occupied.Name, occupied.Problem, result),
			fmt.Sprintf("If another docs_bundle_download has the same %s, give each its own. Otherwise, move or delete what is there, and apply again.", at)))
	}
}

func argumentOf(occupied *bundle.OccupiedError) path.Path {
	if occupied.Directory {
		return path.Root("extract_to")
	}
	return path.Root("path")
}

// download is what a create or an update does.
type download struct {
	plan      *bundleDownloadModel
	state     bundleDownloadModel // empty in a create
	written   writtenBundle
	unchanged string // what a failure says about the disk
	diags     *diag.Diagnostics
}

// run downloads the bundle of the plan's job, unless it is on disk already, and sets the
// computed attributes of the plan. It reports failures, and leaves the disk unchanged if
// it fails. operation names the timeout.
func (d *download) run(ctx context.Context, data *providerData, operation string) bool {
	c, ok := data.ready(d.diags)
	if !ok || d.diags.HasError() {
		return false
	}
	ctx, cancel := withTimeout(ctx, d.plan.Timeouts, operation, defaultDownloadTimeout)
	defer cancel()

	found, ok := look(ctx, d.plan, d.written, d.diags)
	if !ok {
		return false
	}
	if occupied := found.Occupied(); len(occupied) > 0 {
		addOccupied(occupied, d.unchanged, d.diags.AddAttributeError)
		return false
	}
	jobID := d.plan.JobID.ValueString()
	wanted := d.plan.SHA256.IsUnknown() || d.plan.SHA256.Equal(d.state.SHA256)
	if found.Complete() && wanted && jobID == d.written.JobID {
		d.plan.setComputed(&d.state)
		return true
	}
	if !waitForCompleted(ctx, c, jobID, d.diags) {
		return false
	}
	request := bundle.Request{
		SHA256: d.plan.SHA256.ValueString(),
		Fetch: func(ctx context.Context, file *os.File) (string, int64, error) {
			got, err := c.DownloadBundle(ctx, jobID, file)
			return got.SHA256, got.SizeBytes, err
		},
	}
	if jobID == d.written.JobID {
		request.ContentSHA256 = d.plan.ContentSHA256.ValueString()
	}
	staged, err := bundle.Stage(ctx, d.plan.target(), request)
	if err != nil {
		d.report(err)
		return false
	}
	err = staged.Commit(ctx, &d.written.Owned)
	if left := staged.Discard(); left != nil {
		d.diags.AddWarning(summaryNotDeleted, paragraphs(sentence(left.Error()), "Delete the temporary directory that the message names."))
	}
	if err != nil {
		d.report(err)
		return false
	}
	d.written.JobID = jobID
	d.plan.setContents(staged.Contents())
	return true
}

// report adds the diagnostic of a failed download.
func (d *download) report(err error) {
	jobID := d.plan.JobID.ValueString()
	var occupied *bundle.OccupiedError
	var checksum *bundle.ChecksumError
	var content *bundle.ContentError
	var archive *bundle.ArchiveError
	var lost *bundle.LostError
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &occupied):
		addOccupied([]*bundle.OccupiedError{occupied}, d.unchanged, d.diags.AddAttributeError)
	case errors.As(err, &checksum):
		d.diags.AddAttributeError(path.Root("sha256"), summaryChecksumMismatch,
			paragraphs(fmt.Sprintf("The bundle of job %s has the SHA-256 checksum %s, but sha256 is %s. %s", jobID, checksum.Got, checksum.Want, d.unchanged),
				"If the bundle is correct, update or remove sha256."))
	case errors.As(err, &content):
		d.diags.AddAttributeError(path.Root("job_id"), summaryContentChanged,
			paragraphs(fmt.Sprintf("The service returned different files for job %s: content_sha256 is %s instead of %s. %s", jobID, cmp.Or(content.Got, "null"), content.Want, d.unchanged),
				"To accept them, run \"terraform apply -replace\" with the address of this resource."))
	case errors.As(err, &archive):
		next := "Export the site again, or download the bundle without extract_to."
		if d.plan.ExtractTo.IsNull() {
			next = "Apply again. If it fails again, export the site again."
		}
		d.diags.AddAttributeError(path.Root("extract_to"), summaryUnpackFailed,
			paragraphs(fmt.Sprintf("The bundle of job %s cannot be unpacked: %s. %s", jobID, strings.TrimSuffix(archive.Error(), "."), d.unchanged), next))
	case errors.As(err, &lost):
		d.diags.AddAttributeError(path.Root("extract_to"), summaryWriteFailed,
			paragraphs(sentence(err.Error()), fmt.Sprintf("Move %s back to %s, and apply again.", lost.Now, lost.Name)))
	case errors.As(err, &file) || errors.As(err, &link):
		next := "Fix the cause, and apply again."
		if errors.Is(err, syscall.EBUSY) {
			next = "If extract_to is a mount point, use a subdirectory of it."
		}
		d.diags.AddAttributeError(path.Root("path"), summaryWriteFailed, paragraphs("The operating system returned: "+err.Error()+". "+d.unchanged, next))
	default:
		addError(d.diags, summaryDownloadFailed, err, "Job: "+jobID+". "+d.unchanged, "")
	}
}
