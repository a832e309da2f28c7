// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/ephemeral/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ ephemeral.EphemeralResource              = (*staticExportBundleEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithConfigure = (*staticExportBundleEphemeral)(nil)
)

// staticExportBundleEphemeral makes a link to a bundle whenever Terraform opens
// it. It has no Renew, which could not change the link, and no Close, since
// the service cannot take a link back.
type staticExportBundleEphemeral struct{ ephemeralBase }

func newStaticExportBundleEphemeral() ephemeral.EphemeralResource {
	return &staticExportBundleEphemeral{}
}

type staticExportBundleModel struct {
	JobID    types.String   `tfsdk:"job_id"`
	Timeouts timeouts.Value `tfsdk:"timeouts"`

	BundleURL       types.String `tfsdk:"bundle_url"`
	ExpiresAt       types.String `tfsdk:"expires_at"`
	BundleSizeBytes types.Int64  `tfsdk:"bundle_size_bytes"`
}

func (e *staticExportBundleEphemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_static_export_bundle"
}

func (e *staticExportBundleEphemeral) Schema(ctx context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A fresh presigned link to the bundle of a completed static export job, which gets into no plan and no state. " +
			"Terraform makes a new one in each plan and each apply. It is not renewed while Terraform runs: the link has to outlive the steps that use it.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{
				MarkdownDescription: "Id of a completed job, such as `docs_static_export.NAME.job_id`.",
				Required:            true,
				Validators:          []validator.String{idValidator{"an id that is not empty"}},
			},
			"timeouts": timeouts.AttributesWithOpts(ctx, timeouts.Opts{
				OpenDescription: "How long it may take to make the link, as a duration such as `1m`; `5m` by default.",
			}),
			"bundle_url": schema.StringAttribute{
				MarkdownDescription: "Presigned link to the bundle, a single archive. Anyone who has it can download the site until `expires_at`.",
				Computed:            true,
				Sensitive:           true,
			},
			"expires_at": schema.StringAttribute{
				MarkdownDescription: "When `bundle_url` stops working, as an RFC 3339 time in UTC such as `2030-01-31T12:00:00Z`; null where neither the service nor the link says it.",
				Computed:            true,
			},
			"bundle_size_bytes": schema.Int64Attribute{
				MarkdownDescription: "Size of the bundle in bytes; null where the service does not say.",
				Computed:            true,
			},
		},
	}
}

func (e *staticExportBundleEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var model staticExportBundleModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	timeout, diags := model.Timeouts.Open(ctx, defaultReadTimeout)
	resp.Diagnostics.Append(diags...)
	c, ok := e.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, timeout)
	defer cancel()

	bundle, ok := bundleOf(ctx, c, model.JobID.ValueString(), &resp.Diagnostics)
	if !ok {
		return
	}
	model.BundleURL = types.StringValue(bundle.URL)
	if !bundle.ExpiresAt.IsZero() {
		model.ExpiresAt = types.StringValue(bundle.ExpiresAt.Format(time.RFC3339))
	}
	model.BundleSizeBytes = types.Int64PointerValue(bundle.SizeBytes)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
}
