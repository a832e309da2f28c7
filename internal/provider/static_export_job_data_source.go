// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ datasource.DataSource              = (*staticExportJobDataSource)(nil)
	_ datasource.DataSourceWithConfigure = (*staticExportJobDataSource)(nil)
)

// staticExportJobDataSource reads a static export job as it is now.
type staticExportJobDataSource struct{ dataSourceBase }

func newStaticExportJobDataSource() datasource.DataSource { return &staticExportJobDataSource{} }

type staticExportJobModel struct {
	JobID    types.String   `tfsdk:"job_id"`
	Timeouts timeouts.Value `tfsdk:"timeouts"`

	Status    types.String  `tfsdk:"status"`
	Finished  types.Bool    `tfsdk:"finished"`
	Succeeded types.Bool    `tfsdk:"succeeded"`
	Progress  types.Float64 `tfsdk:"progress"`
	PageCount types.Int64   `tfsdk:"page_count"`
	Error     types.String  `tfsdk:"error"`
}

func (d *staticExportJobDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_static_export_job"
}

func (d *staticExportJobDataSource) Schema(ctx context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a static export job as it is now, wherever it was started. It does not wait: `docs_static_export` does.",
		Attributes: map[string]schema.Attribute{
			"job_id": schema.StringAttribute{
				MarkdownDescription: "Id of the job, as the service returned it when the job was started.",
				Required:            true,
				Validators:          []validator.String{idValidator{"an id that is not empty"}},
			},
			"timeouts": timeouts.AttributesWithOpts(ctx, timeouts.Opts{
				ReadDescription: "How long the read may take, as a duration such as `1m`; `5m` by default.",
			}),
			"status": schema.StringAttribute{
				MarkdownDescription: "Status of the job as the service gives it. `completed` and `failed` are final; any other value means that the job has not ended.",
				Computed:            true,
			},
			"finished": schema.BoolAttribute{
				MarkdownDescription: "Whether the job has ended, well or not.",
				Computed:            true,
			},
			"succeeded": schema.BoolAttribute{
				MarkdownDescription: "Whether the job has completed, so that a link to its bundle can be made.",
				Computed:            true,
			},
			"progress": schema.Float64Attribute{
				MarkdownDescription: "Progress of the job in per cent; null where the service does not say.",
				Computed:            true,
			},
			"page_count": schema.Int64Attribute{
				MarkdownDescription: "Number of pages exported so far; null where the service does not say.",
				Computed:            true,
			},
			"error": schema.StringAttribute{
				MarkdownDescription: "What the service says of the failure of the job; null if there is none, or if it says nothing.",
				Computed:            true,
			},
		},
	}
}

func (d *staticExportJobDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model staticExportJobModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	timeout, diags := model.Timeouts.Read(ctx, defaultReadTimeout)
	resp.Diagnostics.Append(diags...)
	c, ok := d.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, timeout)
	defer cancel()

	jobID := model.JobID.ValueString()
	job, err := c.GetStaticExportJob(ctx, jobID)
	if err != nil {
		addError(&resp.Diagnostics, "Could not read the static export job "+jobID, err)
		return
	}
	model.Status = types.StringValue(job.Status)
	model.Finished = types.BoolValue(job.Finished())
	model.Succeeded = types.BoolValue(job.Succeeded())
	model.Progress = types.Float64PointerValue(job.Progress)
	model.PageCount = types.Int64PointerValue(job.PageCount)
	model.Error = nullIfEmpty(job.Error)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}
