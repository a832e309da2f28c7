// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	defaultExportTimeout   = 60 * time.Minute
	defaultDownloadTimeout = 60 * time.Minute
	defaultReadTimeout     = 5 * time.Minute
	minPollInterval        = time.Second
)

var (
	_ resource.Resource                = (*staticExportResource)(nil)
	_ resource.ResourceWithConfigure   = (*staticExportResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*staticExportResource)(nil)
	_ resource.ResourceWithImportState = (*staticExportResource)(nil)
	_ resource.ResourceWithIdentity    = (*staticExportResource)(nil)
)

// staticExportResource runs a static export and keeps a working link to its
// bundle. Its methods are spread over files by what they do: this one describes
// it, static_export_plan.go decides what a plan does, static_export_apply.go does
// it, and static_export_read.go reads and imports.
type staticExportResource struct{ resourceBase }

func newStaticExportResource() resource.Resource { return &staticExportResource{} }

type staticExportModel struct {
	Domain               types.String         `tfsdk:"domain"`
	Triggers             types.Map            `tfsdk:"triggers"`
	AdditionalParameters jsontypes.Normalized `tfsdk:"additional_parameters"`
	LinkRenewal          types.String         `tfsdk:"link_renewal"`
	RenewBefore          types.String         `tfsdk:"renew_before"`
	PollInterval         types.String         `tfsdk:"poll_interval"`
	Timeouts             timeouts.Value       `tfsdk:"timeouts"`

	JobID           types.String `tfsdk:"job_id"`
	Status          types.String `tfsdk:"status"`
	PageCount       types.Int64  `tfsdk:"page_count"`
	BundleURL       types.String `tfsdk:"bundle_url"`
	ExpiresAt       types.String `tfsdk:"expires_at"`
	BundleSizeBytes types.Int64  `tfsdk:"bundle_size_bytes"`
}

// staticExportIdentity names an export: the job is what the service knows; the
// domain goes with it because the service does not return it.
type staticExportIdentity struct {
	JobID  types.String `tfsdk:"job_id"`
	Domain types.String `tfsdk:"domain"`
}

func (r *staticExportResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_static_export"
	// New content is exported in place, by a new job.
	resp.ResourceBehavior.MutableIdentity = true
}

func (r *staticExportResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Exports a site as a static bundle: starts an export job, waits for it, and keeps a presigned link to the bundle that works. " +
			"Creating the resource starts exactly one job. When the link expires, the next apply makes a new one of the same job; " +
			"when `triggers` or `additional_parameters` change, the site is exported anew and the old bundle stays until the new one is there. " +
			"Destroying it only forgets the export: the API has no way to delete a job.",
		Attributes: map[string]schema.Attribute{
			"domain": schema.StringAttribute{
				MarkdownDescription: "The domain of the site to export, without scheme or path, such as `docs.example.com`. Another domain replaces the resource.",
				Required:            true,
				Validators:          []validator.String{domainValidator{"a domain without scheme or path"}},
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplaceIf(
					replaceUnlessUnknownToService, "Another domain replaces the resource.", "Another domain replaces the resource.")},
			},
			"triggers": schema.MapAttribute{
				MarkdownDescription: "Any strings that stand for the site's content, such as a commit or the id of an update. A change exports the site anew, in place.",
				ElementType:         types.StringType,
				Optional:            true,
			},
			"additional_parameters": schema.StringAttribute{
				CustomType: jsontypes.NormalizedType{},
				MarkdownDescription: "Further members of the request that starts the export, as a JSON object written with `jsonencode`. " +
					"Which members the service accepts is its own matter; `domain` is refused here. A change exports the site anew, in place; a change of spacing or order does not.",
				Optional:   true,
				Validators: []validator.String{parametersValidator{"a JSON object without a member \"domain\""}},
			},
			"link_renewal": schema.StringAttribute{
				MarkdownDescription: "When to make a new link: `on_expiry` (the default), once the link has expired or is about to, see `renew_before`; " +
					"`never`, only together with a new export.",
				Optional:   true,
				Computed:   true,
				Default:    stringdefault.StaticString(renewOnExpiry),
				Validators: []validator.String{stringvalidator.OneOf(renewOnExpiry, renewNever)},
			},
			"renew_before": schema.StringAttribute{
				MarkdownDescription: "How long before its expiry a link counts as due for renewal, as a duration such as `30m`; `0s` by default. " +
					"If it is not shorter than the lifetime that the service gives its links, half that lifetime is used, with a warning.",
				Optional:   true,
				Computed:   true,
				Default:    stringdefault.StaticString("0s"),
				Validators: []validator.String{durationAtLeast(0)},
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: "Time between two looks at a running job, as a duration of at least `1s`. " +
					"If it is not set the interval adapts to the job: one second at first, longer the longer the job runs, at most 15 seconds.",
				Optional:   true,
				Validators: []validator.String{durationAtLeast(minPollInterval)},
			},
			"timeouts": timeouts.Attributes(ctx, timeouts.Opts{
				Create: true, Update: true, Read: true,
				CreateDescription: "How long a new export may take, as a duration such as `90m`; `60m` by default.",
				UpdateDescription: "How long a repeated export or the renewal of the link may take; `60m` by default.",
				ReadDescription:   "How long a refresh may take; `5m` by default.",
			}),
			"job_id": schema.StringAttribute{
				MarkdownDescription: "Id of the export job that the bundle comes from.",
				Computed:            true,
			},
			"status": schema.StringAttribute{
				MarkdownDescription: "Status of the job as the service gives it. `completed` and `failed` are final; the service may use others for a job that still runs.",
				Computed:            true,
			},
			"page_count": schema.Int64Attribute{
				MarkdownDescription: "Number of pages exported; null where the service does not say.",
				Computed:            true,
			},
			"bundle_url": schema.StringAttribute{
				MarkdownDescription: "Presigned link to the bundle, a single archive. Anyone who has it can download the site until `expires_at`.",
				Computed:            true,
				Sensitive:           true,
			},
			"expires_at": schema.StringAttribute{
				MarkdownDescription: "When `bundle_url` stops working, as an RFC 3339 time in UTC such as `2030-01-31T12:00:00Z`. " +
					"Null where neither the service nor the link says it; the link is not renewed then.",
				Computed: true,
			},
			"bundle_size_bytes": schema.Int64Attribute{
				MarkdownDescription: "Size of the bundle in bytes; null where the service does not say.",
				Computed:            true,
			},
		},
	}
}

func (r *staticExportResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"job_id": identityschema.StringAttribute{
				Description:       "Id of the export job.",
				RequiredForImport: true,
			},
			"domain": identityschema.StringAttribute{
				Description:       "Domain of the site. The service does not return it: without it, an import takes the configured one.",
				OptionalForImport: true,
			},
		},
	}
}

// replaceUnlessUnknownToService lets an export that was imported without its
// domain take the configured one.
func replaceUnlessUnknownToService(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !req.StateValue.IsNull()
}

func (m *staticExportModel) identity() staticExportIdentity {
	return staticExportIdentity{JobID: m.JobID, Domain: m.Domain}
}

// forgetLink leaves the model without a link.
func (m *staticExportModel) forgetLink() {
	m.BundleURL, m.ExpiresAt, m.BundleSizeBytes = types.StringNull(), types.StringNull(), types.Int64Null()
}

// hasLink reports whether the model holds a link.
func (m *staticExportModel) hasLink() bool { return m.BundleURL.ValueString() != "" }

// copyComputed takes all computed attributes over from another model.
func (m *staticExportModel) copyComputed(from *staticExportModel) {
	m.JobID, m.Status, m.PageCount = from.JobID, from.Status, from.PageCount
	m.copyLink(from)
}

func (m *staticExportModel) copyLink(from *staticExportModel) {
	m.BundleURL, m.ExpiresAt, m.BundleSizeBytes = from.BundleURL, from.ExpiresAt, from.BundleSizeBytes
}

// unknownLink marks the link as known after apply, and with it what is told of a
// job that has to be waited for first.
func (m *staticExportModel) unknownLink() {
	if m.Status.ValueString() != client.JobCompleted {
		m.unknownProgress()
	}
	m.BundleURL, m.ExpiresAt, m.BundleSizeBytes = types.StringUnknown(), types.StringUnknown(), types.Int64Unknown()
}

// unknownJob marks the job as known after apply, and with it the link.
func (m *staticExportModel) unknownJob() {
	m.JobID, m.Status = types.StringUnknown(), types.StringUnknown()
	m.unknownLink()
}

func (m *staticExportModel) unknownProgress() {
	m.Status, m.PageCount = types.StringUnknown(), types.Int64Unknown()
}
