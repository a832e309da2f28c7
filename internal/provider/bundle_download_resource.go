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
	"regexp"
	"slices"
	"strconv"
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
		MarkdownDescription: "Downloads the bundle of a static export job to a file, verifies it, and optionally unpacks it.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{MarkdownDescription: "ID of the job, for example from `docs_static_export.NAME.job_id`. If the job is still running, the provider waits for it. A change downloads that job's bundle, in place.", Required: true, Validators: idRules},
			"path": schema.StringAttribute{
				MarkdownDescription: "File to write, relative to the directory that Terraform runs in. Missing directories are created, and are not deleted on destroy. A change replaces the resource and deletes the old files.",
				Required:            true,
				Validators:          pathRules,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 checksum of the file, as 64 lowercase hexadecimal digits. If set, any other checksum is an error. If omitted, it is computed from the downloaded file. A change downloads the bundle again, unless the file has that checksum.",
				Optional:            true,
				Computed:            true,
				Validators: []validator.String{stringvalidator.RegexMatches(
					regexp.MustCompile(`^[0-9a-f]{64}$`), "must be 64 lowercase hexadecimal digits, as sha256sum prints them")},
			},
			"extract_to": schema.StringAttribute{
				MarkdownDescription: "Directory to unpack the bundle into. The bundle must be a tar, gzip-compressed tar, or zip archive without links. A change replaces the resource and deletes the old files.",
				Optional:            true,
				Validators:          pathRules,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"size_bytes":     schema.Int64Attribute{MarkdownDescription: "Size of the file in bytes.", Computed: true},
			"content_sha256": schema.StringAttribute{MarkdownDescription: "SHA-256 digest of the names, types, and contents of the files in the bundle, regardless of how they are packed. Null if the file is not an archive that can be unpacked.", Computed: true},
			"file_count":     schema.Int64Attribute{MarkdownDescription: "Number of files in the bundle. Null if the file is not an archive that can be unpacked.", Computed: true},
		},
		Blocks: resourceTimeouts(map[string]string{
			"create": "Timeout for the download, including the wait for a running job, such as `90m`. Default: `60m`.",
			"update": "Timeout for a later download. Default: `60m`.",
		}),
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
		found, err := plan.target().Inspect(ctx, owned)
		if err != nil {
			cause, _ := plan.explainFailure(err, "")
			addError(&resp.Diagnostics, summaryInspectFailed, cause, "", "")
			return
		}
		complete = found.Complete()
		for _, occupied := range found.Occupied() {
			// A create finds the files of the resource that it replaces, or files that it takes over.
			if !creating || !occupied.Comparable {
				resp.Diagnostics.AddAttributeWarning(argumentOf(occupied), summaryPathInUse+": "+occupied.Name, explainOccupied(occupied, "Unless it is removed first or already has the content of the bundle, this download stops before it changes a file.", "plan"))
			}
		}
	}
	if creating || complete && req.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	if config.SHA256.IsNull() {
		plan.SHA256 = types.StringUnknown()
	}
	plan.SizeBytes, plan.ContentSHA256, plan.FileCount = types.Int64Unknown(), types.StringUnknown(), types.Int64Unknown()
	if plan.JobID.Equal(state.JobID) && !state.ContentSHA256.IsNull() {
		plan.ContentSHA256, plan.FileCount = state.ContentSHA256, state.FileCount
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

func (r *bundleDownloadResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan, none bundleDownloadModel
	var owned bundle.Owned
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if r.fetch(ctx, "create", &plan, &none, &owned, &resp.Diagnostics) {
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
	if r.fetch(ctx, "update", &plan, &state, &owned, &resp.Diagnostics) {
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
	found, err := state.target().Inspect(ctx, owned)
	var removed *bundle.Removed
	if err == nil {
		removed, err = found.Remove(ctx)
	}
	if err != nil {
		state.addFailure("delete", &resp.Diagnostics, err)
		return
	}
	state.warnAboutLeftovers(removed.Discard(), &resp.Diagnostics)
	for _, occupied := range removed.Left {
		resp.Diagnostics.AddAttributeWarning(argumentOf(occupied), summaryForeignFiles+": "+occupied.Name, fmt.Sprintf("%q %s, so it was not deleted. Another resource may have written it.", occupied.Name, occupied.Problem))
	}
}

// readOwned returns the digests of what the resource wrote. The state holds those of the
// last bundle too, in case the private state is lost or unreadable.
func readOwned(ctx context.Context, private privateState, state *bundleDownloadModel, diags *diag.Diagnostics) bundle.Owned {
	stored, err := readPrivate[bundle.Owned](ctx, private, writtenKey, diags)
	var owned bundle.Owned
	if stored != nil {
		owned = *stored
	}
	if err != nil {
		diags.AddWarning(summaryUnreadableNotes+": "+state.Path.ValueString(),
			"The resource's private state is damaged or was written by another provider version, so it is ignored. Of the files on disk, the resource recognizes only those of its last bundle.")
	}
	owned.Add(state.SHA256.ValueString(), state.ContentSHA256.ValueString())
	return owned
}

func (m *bundleDownloadModel) target() bundle.Target {
	return bundle.Target{Path: m.Path.ValueString(), Directory: m.ExtractTo.ValueString()}
}

// fetch downloads the bundle of the plan's job, unless it is on disk already, sets the
// computed attributes of the plan, and adds to owned. It reports failures. operation is the
// field of timeouts to use. In a create, state is empty.
func (r *bundleDownloadResource) fetch(ctx context.Context, operation string, plan, state *bundleDownloadModel, owned *bundle.Owned, diags *diag.Diagnostics) bool {
	c, ok := r.data.ready(diags)
	if !ok || diags.HasError() {
		return false
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, operation, defaultDownloadTimeout)
	defer cancel()

	found, err := plan.target().Inspect(ctx, *owned)
	if err != nil {
		plan.addFailure(operation, diags, err)
		return false
	}
	if occupied := slices.DeleteFunc(found.Occupied(), func(o bundle.Obstacle) bool { return o.Comparable }); len(occupied) > 0 {
		plan.addFailure(operation, diags, bundle.OccupiedError(occupied))
		return false
	}
	sameFile := plan.SHA256.IsUnknown() || plan.SHA256.Equal(state.SHA256)
	if found.Complete() && plan.JobID.Equal(state.JobID) && sameFile {
		plan.SHA256, plan.SizeBytes, plan.ContentSHA256, plan.FileCount = state.SHA256, state.SizeBytes, state.ContentSHA256, state.FileCount
		return true
	}
	if !waitForCompleted(ctx, c, plan.JobID.ValueString(), diags) {
		return false
	}
	if err := plan.replace(ctx, c, found, owned, diags); err != nil {
		plan.addFailure(operation, diags, err)
		return false
	}
	return true
}

// replace downloads the bundle, puts it in place of what was found, and sets the computed
// attributes. If it fails, it leaves the files unchanged.
func (m *bundleDownloadModel) replace(ctx context.Context, c *client.Client, found bundle.Found, owned *bundle.Owned, diags *diag.Diagnostics) error {
	jobID := m.JobID.ValueString()
	staged, err := found.Stage()
	if err != nil {
		return err
	}
	defer func() { m.warnAboutLeftovers(staged.Discard(), diags) }()

	if err := c.DownloadBundle(ctx, jobID, staged); err != nil {
		return err
	}
	if wanted := m.SHA256.ValueString(); wanted != "" && wanted != staged.SHA256() {
		return &mismatchError{
			"sha256", summaryChecksumMismatch,
			fmt.Sprintf("The bundle of job %s has the SHA-256 checksum %s, but sha256 is %s.", jobID, staged.SHA256(), wanted),
			"If the bundle is correct, update or remove sha256.",
		}
	}
	content, err := staged.Unpack(ctx)
	if err != nil {
		return err
	}
	// The plan knows the content only of a job that was downloaded before.
	if wanted := m.ContentSHA256.ValueString(); wanted != "" && wanted != content.Digest {
		return &mismatchError{
			"job_id", summaryContentChanged,
			fmt.Sprintf("The service returned different files for job %s: content_sha256 is %s instead of %s.", jobID, cmp.Or(content.Digest, "null"), wanted),
			"To accept the new files, run \"terraform apply -replace\" with the address of this resource.",
		}
	}
	if err := staged.Commit(ctx, owned); err != nil {
		return err
	}
	m.SHA256, m.SizeBytes = types.StringValue(staged.SHA256()), types.Int64Value(staged.SizeBytes)
	m.ContentSHA256, m.FileCount = types.StringNull(), types.Int64Null()
	if content.Digest != "" {
		m.ContentSHA256, m.FileCount = types.StringValue(content.Digest), types.Int64Value(content.Files)
	}
	return nil
}

// mismatchError reports a bundle that is not the expected one.
type mismatchError struct{ argument, summary, what, next string }

func (e *mismatchError) Error() string { return e.what }

// unchangedAfter says what is on disk, and in the state, after an operation that failed.
var unchangedAfter = map[string]string{
	"create": "No files were written.", // a replacement may have deleted the old ones
	"update": "The files on disk and the state are unchanged.",
	"delete": "No files were deleted, and the state is unchanged.",
}

// addFailure adds the diagnostic of an operation that failed.
func (m *bundleDownloadModel) addFailure(operation string, diags *diag.Diagnostics, err error) {
	unchanged := unchangedAfter[operation]
	var mismatch *mismatchError
	var occupied bundle.OccupiedError
	var archive *bundle.ArchiveError
	var stuck *bundle.NotUndoneError
	if errors.As(err, &stuck) {
		unchanged = fmt.Sprintf("The old files are in %q.", stuck.Place)
	}
	cause, ofSystem := m.explainFailure(err, operation)
	switch {
	case errors.As(err, &mismatch):
		diags.AddAttributeError(path.Root(mismatch.argument), mismatch.summary, paragraphs(mismatch.what+" "+unchanged, mismatch.next))
	case errors.As(err, &occupied):
		for _, o := range occupied {
			diags.AddAttributeError(argumentOf(o), summaryPathInUse, explainOccupied(o, unchanged, operation))
		}
	case errors.As(err, &archive):
		at, problem, next := "extract_to", "cannot be unpacked", "To download it as it is, remove extract_to."
		if archive.Damaged {
			at, problem, next = "path", "is damaged", "Run terraform apply again. If it fails again, export the site again: change triggers in the docs_static_export resource that exports it."
		}
		diags.AddAttributeError(path.Root(at), summaryUnpackFailed,
			paragraphs(fmt.Sprintf("The bundle of job %s %s: %s. %s", m.JobID.ValueString(), problem, strings.TrimSuffix(archive.Error(), "."), unchanged), next))
	case operation == "delete":
		addError(diags, summaryDeleteFailed, cause, unchanged, "")
	case ofSystem:
		addError(diags, summaryWriteFailed, cause, unchanged, "")
	default:
		addError(diags, summaryDownloadFailed, cause, "Job: "+m.JobID.ValueString()+". "+unchanged, "")
	}
}

// then says how to go on after the advice about an operation was followed.
var then = map[string]string{
	"plan": " to avoid that", "create": ", then run terraform apply again", "update": ", then run terraform apply again", "delete": ", then destroy it again",
}

// explainOccupied describes what the resource did not write and does not replace.
func explainOccupied(occupied bundle.Obstacle, result, operation string) string {
	return paragraphs(fmt.Sprintf("%q %s. %s", occupied.Name, occupied.Problem, result),
		fmt.Sprintf("Move or delete %q%s. If another docs_bundle_download writes there, give each its own %s instead.", occupied.Name, then[operation], argumentOf(occupied)))
}

func argumentOf(occupied bundle.Obstacle) path.Path {
	if occupied.Directory {
		return path.Root("extract_to")
	}
	return path.Root("path")
}

// explainFailure explains an error, and reports whether it is one of the file system.
func (m *bundleDownloadModel) explainFailure(err error, operation string) (cause explanation, ofSystem bool) {
	_, ofFile := errors.AsType[*fs.PathError](err)
	_, ofRename := errors.AsType[*os.LinkError](err)
	if ofSystem = ofFile || ofRename; ofSystem {
		cause.what = "The operating system returned: " + err.Error() + "."
	} else {
		cause = explain(err)
	}
	switch {
	case strings.Contains(err.Error(), syscall.EMFILE.Error()): // also in a text about a connection
		cause.advice = "Raise the limit on open files (ulimit -n) or lower -parallelism" + then[operation] + "."
	case errors.Is(err, syscall.ENAMETOOLONG):
		cause.advice = "Use a shorter path or extract_to."
	case errors.Is(err, syscall.EBUSY):
		cause.advice = "If extract_to is a mount point, use a subdirectory of it."
	case ofSystem:
		targets := strconv.Quote(m.Path.ValueString())
		if !m.ExtractTo.IsNull() {
			targets += " and " + strconv.Quote(m.ExtractTo.ValueString())
		}
		cause.advice = "Make sure that Terraform can write next to " + targets + ", and that the disk has free space" + then[operation] + "."
	}
	return cause, ofSystem
}

// warnAboutLeftovers names temporary directories that could not be deleted.
func (m *bundleDownloadModel) warnAboutLeftovers(err error, diags *diag.Diagnostics) {
	if err != nil {
		diags.AddWarning(summaryNotDeleted+": "+m.Path.ValueString(), paragraphs(sentence(err.Error()), "Delete it yourself."))
	}
}
