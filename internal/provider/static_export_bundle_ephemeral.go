package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*staticExportBundleEphemeral)(nil)

// staticExportBundleEphemeral creates a link to a bundle each time Terraform opens it. It has no Renew, because Renew
// cannot change the link, and no Close, because the service cannot revoke a link.
type staticExportBundleEphemeral struct{ ephemeralBase }

func newStaticExportBundleEphemeral() ephemeral.EphemeralResource {
	return &staticExportBundleEphemeral{}
}

type staticExportBundleModel struct {
	JobID    types.String `tfsdk:"job_id"`
	Timeouts types.Object `tfsdk:"timeouts"`

	BundleURL       types.String `tfsdk:"bundle_url"`
	ExpiresAt       types.String `tfsdk:"expires_at"`
	BundleSizeBytes types.Int64  `tfsdk:"bundle_size_bytes"`
}

func (e *staticExportBundleEphemeral) Metadata(
	_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_static_export_bundle"
}

func (e *staticExportBundleEphemeral) Schema(
	_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Creates a presigned link to the bundle of a static export job. The link is never " +
			"stored in the plan or the state.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{
				MarkdownDescription: "ID of the job. If it is still running, the provider waits for it.",
				Required:            true,
				Validators:          idRules,
			},
			"bundle_url": schema.StringAttribute{
				MarkdownDescription: bundleURLDescription,
				Computed:            true,
				Sensitive:           true,
			},
			"expires_at":        schema.StringAttribute{MarkdownDescription: expiresAtDescription, Computed: true},
			"bundle_size_bytes": schema.Int64Attribute{MarkdownDescription: bundleSizeDescription, Computed: true},
		},
		Blocks: map[string]schema.Block{"timeouts": schema.SingleNestedBlock{
			MarkdownDescription: timeoutsDescription,
			Attributes: map[string]schema.Attribute{"open": schema.StringAttribute{
				MarkdownDescription: "Timeout for the wait and the link. Default: `5m`.",
				Optional:            true,
				Validators:          timeoutRules,
			}},
		}},
	}
}

func (e *staticExportBundleEphemeral) Open(
	ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse,
) {
	var model staticExportBundleModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	operation, ok := e.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := e.data.withTimeout(ctx, model.Timeouts, "open", defaultReadTimeout)
	defer cancel()

	jobID := model.JobID.ValueString()
	if !waitForCompleted(ctx, operation, jobID, "", &resp.Diagnostics) {
		return
	}
	bundle, err := operation.GenerateBundle(ctx, jobID)
	if err != nil {
		addBundleError(&resp.Diagnostics, summaryLinkFailed, err, "")
		return
	}
	model.BundleURL = types.StringValue(bundle.URL)
	model.ExpiresAt = expiry(bundle.ExpiresAt)
	model.BundleSizeBytes = types.Int64PointerValue(bundle.SizeBytes)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &model)...)
}
