// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
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
// written. Only ModifyPlan and the apply read the disk. This file describes the
// resource, and bundle_download_apply.go plans and applies it.
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
				MarkdownDescription: "SHA-256 checksum of the file, as 64 lowercase hexadecimal digits. If set, any other checksum is an error. On a fresh disk, it is known only after the apply, because the service may pack the same content differently: see `content_sha256`.",
				Optional:            true,
				Computed:            true,
				Validators: []validator.String{stringvalidator.RegexMatches(
					regexp.MustCompile(`^[0-9a-f]{64}$`), "must be 64 lowercase hexadecimal digits, as sha256sum prints them")},
			},
			"extract_to": schema.StringAttribute{
				MarkdownDescription: "Directory to unpack the bundle into. It must be missing or empty before the resource is created. Changing the path replaces the resource. The bundle must be a tar, gzip-compressed tar, or zip archive without links, of at most 100,000 entries and 4 GiB unpacked.",
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
		resp.Diagnostics.AddAttributeError(path.Root("path"), "Invalid path", sentence(err.Error()))
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
