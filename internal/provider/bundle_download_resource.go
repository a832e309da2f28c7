// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ resource.Resource               = (*bundleDownloadResource)(nil)
	_ resource.ResourceWithConfigure  = (*bundleDownloadResource)(nil)
	_ resource.ResourceWithModifyPlan = (*bundleDownloadResource)(nil)
)

// bundleDownloadResource keeps the bundle of a job on disk, and unpacked where
// that is asked for. This file describes it and decides what a plan does;
// bundle_download_files.go does what touches the disk.
type bundleDownloadResource struct{ resourceBase }

func newBundleDownloadResource() resource.Resource { return &bundleDownloadResource{} }

type bundleDownloadModel struct {
	JobID     types.String   `tfsdk:"job_id"`
	Path      types.String   `tfsdk:"path"`
	SHA256    types.String   `tfsdk:"sha256"`
	ExtractTo types.String   `tfsdk:"extract_to"`
	Timeouts  timeouts.Value `tfsdk:"timeouts"`

	SizeBytes types.Int64 `tfsdk:"size_bytes"`
	FileCount types.Int64 `tfsdk:"file_count"`
}

func (r *bundleDownloadResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_bundle_download"
}

func (r *bundleDownloadResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Downloads the bundle of a completed static export job to a file, checks it, and unpacks it where that is asked for. " +
			"The link it downloads from is made for the purpose and is kept nowhere.\n\n" +
			"A file that is missing or was changed, as on a fresh runner, is downloaded again by the next apply; the site is not exported again. " +
			"Files are written where Terraform runs. In HCP Terraform the disk is new for every run, so that every plan shows a download. " +
			"Destroying the resource deletes the files it wrote, and nothing else.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{
				MarkdownDescription: "Id of a completed job, such as `docs_static_export.NAME.job_id`. Another one is downloaded in place.",
				Required:            true,
				Validators:          []validator.String{idValidator{"an id that is not empty"}},
			},
			"path": schema.StringAttribute{
				MarkdownDescription: "File to write, relative to the directory that Terraform runs in. Missing directories are made. " +
					"A file that is there before the resource is created is not overwritten. Another path replaces the resource.",
				Required:      true,
				Validators:    []validator.String{pathValidator{"a path that is not empty"}},
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"sha256": schema.StringAttribute{
				MarkdownDescription: "SHA-256 checksum of the bundle, as 64 lower-case hexadecimal digits. If it is set, a bundle with another checksum is an error and nothing of it is kept.",
				Optional:            true,
				Computed:            true,
				Validators: []validator.String{stringvalidator.RegexMatches(
					regexp.MustCompile(`^[0-9a-f]{64}$`), "must be 64 lower-case hexadecimal digits, as sha256sum prints them")},
			},
			"extract_to": schema.StringAttribute{
				MarkdownDescription: "Directory to unpack the bundle into: a tar, gzip-compressed tar or zip archive. It must be missing or empty before, and holds exactly the bundle's files afterwards: " +
					"whatever else is in it is lost when another bundle is unpacked. An archive that reaches out of it, or is larger than 100,000 entries or 4 GiB, is refused. Another directory replaces the resource.",
				Optional:      true,
				Validators:    []validator.String{pathValidator{"a path that is not empty"}},
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"timeouts": timeouts.Attributes(ctx, timeouts.Opts{
				Create: true, Update: true,
				CreateDescription: "How long the download may take, as a duration such as `90m`; `60m` by default.",
				UpdateDescription: "How long a repeated download may take; `60m` by default.",
			}),
			"size_bytes": schema.Int64Attribute{
				MarkdownDescription: "Size of the file in bytes.",
				Computed:            true,
			},
			"file_count": schema.Int64Attribute{
				MarkdownDescription: "Number of files that were unpacked; null without `extract_to`.",
				Computed:            true,
			},
		},
	}
}

// needsDownload reports whether what the state tells of the disk is not what
// the plan asks for. Read leaves attributes null for what it did not find.
func needsDownload(plan, state *bundleDownloadModel, written *writtenBundle) bool {
	switch {
	case plan.JobID.IsUnknown() || plan.JobID.ValueString() != written.JobID:
		return true
	case state.SHA256.IsNull() || state.SHA256.ValueString() != written.SHA256:
		return true
	case !plan.SHA256.IsUnknown() && !plan.SHA256.Equal(state.SHA256):
		return true
	}
	return !plan.ExtractTo.IsNull() && state.FileCount.IsNull()
}

// ModifyPlan plans a download only if one is needed.
func (r *bundleDownloadResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || req.State.Raw.IsNull() {
		return
	}
	var config, plan, state bundleDownloadModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	written := readWritten(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	plan.SHA256 = config.SHA256
	if config.SHA256.IsNull() {
		plan.SHA256 = types.StringUnknown()
	}
	if config.SHA256.IsUnknown() || needsDownload(&plan, &state, written) {
		plan.SizeBytes, plan.FileCount = types.Int64Unknown(), types.Int64Unknown()
	} else {
		plan.SHA256, plan.SizeBytes, plan.FileCount = state.SHA256, state.SizeBytes, state.FileCount
	}
	if plan.ExtractTo.IsNull() {
		plan.FileCount = types.Int64Null()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

func (r *bundleDownloadResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan bundleDownloadModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, defaultDownloadTimeout)
	resp.Diagnostics.Append(diags...)
	checkFree(&plan, &resp.Diagnostics)
	c, ok := r.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, timeout)
	defer cancel()

	if !download(ctx, c, &plan, &resp.Diagnostics) {
		return
	}
	if !unpack(ctx, &plan, false, &resp.Diagnostics) {
		discard(&plan, &resp.Diagnostics)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
	writtenBy(&plan).write(ctx, resp.Private, &resp.Diagnostics)
}

// Read looks at the disk alone: a bundle of a job does not change.
func (r *bundleDownloadResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state bundleDownloadModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	inspect(&state, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *bundleDownloadResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state bundleDownloadModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := plan.Timeouts.Update(ctx, defaultDownloadTimeout)
	resp.Diagnostics.Append(diags...)
	written := readWritten(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if needsDownload(&plan, &state, written) {
		c, ok := r.service.ready(&resp.Diagnostics)
		if !ok {
			return
		}
		ctx, cancel := c.WithTimeout(ctx, timeout)
		defer cancel()
		if !download(ctx, c, &plan, &resp.Diagnostics) {
			return
		}
		// From here on the file is another one, whatever becomes of the rest.
		writtenBy(&plan).write(ctx, resp.Private, &resp.Diagnostics)
		if !unpack(ctx, &plan, true, &resp.Diagnostics) {
			return
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *bundleDownloadResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state bundleDownloadModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	written := readWritten(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	removeWritten(ctx, &state, written, &resp.Diagnostics)
}
