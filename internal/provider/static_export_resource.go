package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	renewOnExpiry = "on_expiry" // of link_renewal, by default
	renewNever    = "never"
	noLead        = "0s" // of renew_before, by default
)

var (
	_ resource.ResourceWithConfigure   = (*staticExportResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*staticExportResource)(nil)
	_ resource.ResourceWithImportState = (*staticExportResource)(nil)
	_ resource.ResourceWithIdentity    = (*staticExportResource)(nil)
)

// staticExportResource exports a site, and renews the link to its bundle when Terraform applies. This file defines
// its schema and model, and static_export_lifecycle.go what Terraform calls. Package export decides what to do next,
// and does it. static_export_stored.go converts what is stored, and static_export_messages.go has the words.
type staticExportResource struct{ resourceBase }

func newStaticExportResource() resource.Resource { return &staticExportResource{} }

// staticExportModel holds all attributes of an export.
type staticExportModel struct {
	exportArguments
	exportResult
}

type exportArguments struct {
	Domain               types.String `tfsdk:"domain"`
	Triggers             types.Map    `tfsdk:"triggers"`
	AdditionalParameters types.String `tfsdk:"additional_parameters"`
	LinkRenewal          types.String `tfsdk:"link_renewal"`
	RenewBefore          types.String `tfsdk:"renew_before"`
	PollInterval         types.String `tfsdk:"poll_interval"`
	Timeouts             types.Object `tfsdk:"timeouts"`
}

type exportResult struct {
	JobID           types.String `tfsdk:"job_id"`
	LatestJobID     types.String `tfsdk:"latest_job_id"`
	Status          types.String `tfsdk:"status"`
	PageCount       types.Int64  `tfsdk:"page_count"`
	BundleURL       types.String `tfsdk:"bundle_url"`
	ExpiresAt       types.String `tfsdk:"expires_at"`
	BundleSizeBytes types.Int64  `tfsdk:"bundle_size_bytes"`
}

const changeExports = "A change exports the site again, except right after an import."

// staticExportIdentity names an export. The domain is part of it because the service does not return the domain of a
// job.
type staticExportIdentity struct {
	JobID  types.String `tfsdk:"job_id"`
	Domain types.String `tfsdk:"domain"`
}

func (r *staticExportResource) Metadata(
	_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_static_export"
	resp.ResourceBehavior.ProviderDeferred = planWhenDeferred
	// A new job for new content changes the identity in place.
	resp.ResourceBehavior.MutableIdentity = true
}

func (r *staticExportResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	number := func(description string) schema.Int64Attribute {
		return schema.Int64Attribute{MarkdownDescription: description, Computed: true}
	}
	link := text(bundleURLDescription + " Refer to `job_id` where you can, " +
		"because most plans of a change do not know the link.")
	link.Sensitive = true
	resp.Schema = schema.Schema{
		MarkdownDescription: "Exports a site as a static bundle and creates and renews a presigned link to it.",
		Attributes: map[string]schema.Attribute{
			"domain": schema.StringAttribute{
				MarkdownDescription: "Domain of the site, such as `docs.example.com`, without a scheme, port, or " +
					"path. A change exports the site again.",
				Required:   true,
				Validators: domainRules,
			},
			"triggers": schema.MapAttribute{
				MarkdownDescription: "Strings that identify the content to export, such as a commit or a status ID. " +
					changeExports,
				ElementType: types.StringType,
				Optional:    true,
			},
			"additional_parameters": schema.StringAttribute{
				MarkdownDescription: "Fields of the request that starts the job, " +
					"such as `version` or `paths`, written with `jsonencode`. " +
					changeExports,
				Optional:   true,
				Validators: parametersRules,
			},
			"link_renewal": schema.StringAttribute{
				MarkdownDescription: "`on_expiry`: an apply renews the link when it is due. " +
					"`never`: only an export, or the first apply after an import, " +
					"creates a link. Default: `on_expiry`.",
				Optional:   true,
				Computed:   true,
				Default:    stringdefault.StaticString(renewOnExpiry),
				Validators: []validator.String{stringvalidator.OneOf(renewOnExpiry, renewNever)},
			},
			"renew_before": schema.StringAttribute{
				MarkdownDescription: "How long before its expiry the link is due for renewal, such as `10m`. " +
					"Default: `0s`.",
				Optional:   true,
				Computed:   true,
				Default:    stringdefault.StaticString(noLead),
				Validators: anyDuration,
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: pollIntervalDescription,
				Optional:            true,
				Validators:          atLeastOneSecond,
			},
			"job_id": text("ID of the export job that the bundle comes from."),
			"latest_job_id": text("ID of the job that was started or imported last. It differs from `job_id` while " +
				"an export in place has not finished, and after it has failed. Pass `job_id` to what reads or " +
				"downloads the job."),
			"status":            text(jobStatusDescription),
			"page_count":        number("Number of exported pages, as the service last reported it."),
			"bundle_url":        link,
			"expires_at":        text(expiresAtDescription),
			"bundle_size_bytes": number(bundleSizeDescription),
		},
		Blocks: resourceTimeouts(map[string]string{
			"create": "Timeout for an export that has no link yet. Default: `1h`.",
			"update": "Timeout for any other export, or a renewal. Default: `1h`.",
		}),
	}
}

func (r *staticExportResource) IdentitySchema(
	_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{
		Attributes: map[string]identityschema.Attribute{
			"job_id": identityschema.StringAttribute{
				Description:       "ID of the export job.",
				RequiredForImport: true,
			},
			"domain": identityschema.StringAttribute{
				Description:       "Domain of the site.",
				RequiredForImport: true,
			},
		},
	}
}

var parametersRules = rules(summaryInvalidParameters, "a JSON object without a field \"domain\"", checkParameters)

// checkParameters accepts an object whose fields can join the domain in the request that starts an export.
func checkParameters(text string) error {
	if _, err := client.NewStartRequest("", text); err != nil {
		return invalidValue("The parameters are invalid: " + err.Error() + ". Write an object with jsonencode, " +
			"such as jsonencode({ version = \"v1\" }).")
	}
	return nil
}
