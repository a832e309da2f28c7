package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var _ datasource.DataSourceWithConfigure = (*staticExportJobDataSource)(nil)

// staticExportJobDataSource reads a static export job.
type staticExportJobDataSource struct{ dataSourceBase }

func newStaticExportJobDataSource() datasource.DataSource { return &staticExportJobDataSource{} }

type staticExportJobModel struct {
	JobID    types.String `tfsdk:"job_id"`
	Timeouts types.Object `tfsdk:"timeouts"`

	Status    types.String  `tfsdk:"status"`
	Finished  types.Bool    `tfsdk:"finished"`
	Succeeded types.Bool    `tfsdk:"succeeded"`
	Progress  types.Float64 `tfsdk:"progress"`
	PageCount types.Int64   `tfsdk:"page_count"`
	CreatedAt types.String  `tfsdk:"created_at"`
	Error     types.String  `tfsdk:"error"`
}

func (d *staticExportJobDataSource) Metadata(
	_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_static_export_job"
}

func (d *staticExportJobDataSource) Schema(
	_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse,
) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a static export job, even one started outside Terraform, without waiting for it.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{
				MarkdownDescription: "ID of the job.",
				Required:            true,
				Validators:          idRules,
			},
			"status": schema.StringAttribute{MarkdownDescription: jobStatusDescription, Computed: true},
			"finished": schema.BoolAttribute{
				MarkdownDescription: "Whether the job has completed or failed.",
				Computed:            true,
			},
			"succeeded": schema.BoolAttribute{
				MarkdownDescription: "Whether the job has completed. The bundle might no longer exist.",
				Computed:            true,
			},
			"progress": schema.Float64Attribute{
				MarkdownDescription: "Progress of the job, usually a percentage.",
				Computed:            true,
			},
			"page_count": schema.Int64Attribute{
				MarkdownDescription: "Number of pages exported so far.",
				Computed:            true,
			},
			"created_at": schema.StringAttribute{
				MarkdownDescription: "Time when the job was created (RFC 3339, UTC).",
				Computed:            true,
			},
			"error": schema.StringAttribute{
				MarkdownDescription: "Error message of a failed job. Null if there is none.",
				Computed:            true,
			},
		},
		Blocks: dataSourceTimeouts("Timeout for the read. Default: `5m`."),
	}
}

func (d *staticExportJobDataSource) Read(
	ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse,
) {
	var model staticExportJobModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	operation, ok := d.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := d.data.withTimeout(ctx, model.Timeouts, "read", defaultReadTimeout)
	defer cancel()

	job, err := operation.GetStaticExportJob(ctx, model.JobID.ValueString())
	if err != nil {
		addError(&resp.Diagnostics, summaryJobUnreadable, err, "", destroyWithoutRead)
		return
	}
	model.Status = types.StringValue(job.Status)
	model.Finished = types.BoolValue(job.Finished())
	model.Succeeded = types.BoolValue(job.Succeeded())
	model.Progress = types.Float64PointerValue(job.Progress)
	model.PageCount = types.Int64PointerValue(job.PageCount)
	if job.CreatedAt != nil {
		model.CreatedAt = types.StringValue(job.CreatedAt.Format(time.RFC3339))
	}
	model.Error = nullIfEmpty(job.Error)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}
