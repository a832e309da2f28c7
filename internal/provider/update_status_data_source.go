// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/datasource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// defaultWaitTimeout is for whatever waits for an update.
const defaultWaitTimeout = 60 * time.Minute

var (
	_ datasource.DataSource              = (*updateStatusDataSource)(nil)
	_ datasource.DataSourceWithConfigure = (*updateStatusDataSource)(nil)
)

// updateStatusDataSource reads an update, optionally once it has ended.
type updateStatusDataSource struct{ dataSourceBase }

func newUpdateStatusDataSource() datasource.DataSource { return &updateStatusDataSource{} }

type updateStatusModel struct {
	StatusID          types.String   `tfsdk:"status_id"`
	WaitForCompletion types.Bool     `tfsdk:"wait_for_completion"`
	FailOnFailure     types.Bool     `tfsdk:"fail_on_failure"`
	PollInterval      types.String   `tfsdk:"poll_interval"`
	Timeouts          timeouts.Value `tfsdk:"timeouts"`

	ID              types.String `tfsdk:"id"`
	ProjectID       types.String `tfsdk:"project_id"`
	CreatedAt       types.String `tfsdk:"created_at"`
	EndedAt         types.String `tfsdk:"ended_at"`
	Status          types.String `tfsdk:"status"`
	Finished        types.Bool   `tfsdk:"finished"`
	Succeeded       types.Bool   `tfsdk:"succeeded"`
	Summary         types.String `tfsdk:"summary"`
	Logs            []string     `tfsdk:"logs"`
	Subdomain       types.String `tfsdk:"subdomain"`
	Screenshot      types.String `tfsdk:"screenshot"`
	ScreenshotLight types.String `tfsdk:"screenshot_light"`
	ScreenshotDark  types.String `tfsdk:"screenshot_dark"`
	Author          *authorModel `tfsdk:"author"`
	Commit          *commitModel `tfsdk:"commit"`
	Source          types.String `tfsdk:"source"`
}

type authorModel struct {
	Name      types.String `tfsdk:"name"`
	AvatarURL types.String `tfsdk:"avatar_url"`
	VCSUserID types.Int64  `tfsdk:"vcs_user_id"`
}

type commitModel struct {
	SHA          types.String       `tfsdk:"sha"`
	Ref          types.String       `tfsdk:"ref"`
	Message      types.String       `tfsdk:"message"`
	FilesChanged *filesChangedModel `tfsdk:"files_changed"`
}

type filesChangedModel struct {
	Added    []string `tfsdk:"added"`
	Modified []string `tfsdk:"modified"`
	Removed  []string `tfsdk:"removed"`
}

func (d *updateStatusDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_update_status"
}

func (d *updateStatusDataSource) Schema(ctx context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	texts := func(description string) schema.ListAttribute {
		return schema.ListAttribute{MarkdownDescription: description, ElementType: types.StringType, Computed: true}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads an update, which is a deployment of a site. It can wait for the update's end, and fail unless that is a success. " +
			"Fields that the service leaves out are null.\n\n" +
			"If `status_id` is known the data source is read during plan, so that waiting and failing block the plan; " +
			"`docs_update_gate` does the same at apply time.",
		Attributes: map[string]schema.Attribute{
			"status_id": schema.StringAttribute{
				MarkdownDescription: "Status id of the update, as the service returned it when the update was triggered.",
				Required:            true,
				Validators:          []validator.String{idValidator{"an id that is not empty"}},
			},
			"wait_for_completion": schema.BoolAttribute{
				MarkdownDescription: "Wait until the update has ended, well or not; it is an error if it has not ended in time. `false` by default.",
				Optional:            true,
			},
			"fail_on_failure": schema.BoolAttribute{
				MarkdownDescription: "Fail if the update has failed. An update that has not ended yet has not failed: only together with `wait_for_completion` does this make sure of success. `false` by default.",
				Optional:            true,
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: pollIntervalDescription,
				Optional:            true,
				Validators:          []validator.String{durationAtLeast(minPollInterval)},
			},
			"timeouts": timeouts.AttributesWithOpts(ctx, timeouts.Opts{
				ReadDescription: "How long the read may take, as a duration such as `20m`; by default `60m` with `wait_for_completion`, `5m` without.",
			}),
			"id":               text("Id of the update as the service's record has it."),
			"project_id":       text("Id of the documentation project."),
			"created_at":       text("When the update was triggered, as the service writes it (an ISO 8601 time in UTC)."),
			"ended_at":         text("When the update ended, as the service writes it (an ISO 8601 time in UTC)."),
			"status":           text("`queued`, `in_progress`, `success` or `failure`; any other value is passed on as it is and means that the update has not ended."),
			"finished":         schema.BoolAttribute{MarkdownDescription: "Whether the update has ended, well or not.", Computed: true},
			"succeeded":        schema.BoolAttribute{MarkdownDescription: "Whether the update has ended well.", Computed: true},
			"summary":          text("Summary of the state of the update."),
			"logs":             texts("Lines of the update's log."),
			"subdomain":        text("Subdomain of the site."),
			"screenshot":       text("Screenshot of the site."),
			"screenshot_light": text("Screenshot of the site in light mode."),
			"screenshot_dark":  text("Screenshot of the site in dark mode."),
			"author": schema.SingleNestedAttribute{
				MarkdownDescription: "Author of the update; may be null.",
				Computed:            true,
				Attributes: map[string]schema.Attribute{
					"name":        text("Name of the author."),
					"avatar_url":  text("URL of the author's avatar."),
					"vcs_user_id": schema.Int64Attribute{MarkdownDescription: "Id of the author on the code host.", Computed: true},
				},
			},
			"commit": schema.SingleNestedAttribute{
				MarkdownDescription: "Commit that was deployed.",
				Computed:            true,
				Attributes: map[string]schema.Attribute{
					"sha":     text("SHA of the commit."),
					"ref":     text("Reference of the commit, such as a branch."),
					"message": text("Message of the commit."),
					"files_changed": schema.SingleNestedAttribute{
						MarkdownDescription: "Files that the commit changed.",
						Computed:            true,
						Attributes: map[string]schema.Attribute{
							"added":    texts("Paths of new files."),
							"modified": texts("Paths of files that were changed."),
							"removed":  texts("Paths of files that were deleted."),
						},
					},
				},
			},
			"source": text("What triggered the update: `internal`, `vcs-app-installation`, `api`, `vcs`, `dashboard`, `vcsalt` or `onboarding`; any other value is passed on."),
		},
	}
}

func (d *updateStatusDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model updateStatusModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	defaultTimeout := defaultReadTimeout
	if model.WaitForCompletion.ValueBool() {
		defaultTimeout = defaultWaitTimeout
	}
	timeout, diags := model.Timeouts.Read(ctx, defaultTimeout)
	resp.Diagnostics.Append(diags...)
	c, ok := d.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, timeout)
	defer cancel()

	statusID := model.StatusID.ValueString()
	var update *client.UpdateStatus
	var err error
	if model.WaitForCompletion.ValueBool() {
		interval := durationOf(model.PollInterval)
		update, err = c.WaitForUpdate(ctx, statusID, client.WaitOptions{Poll: client.PollOptions{Interval: interval}}, nil)
		if err != nil {
			addWaitError(&resp.Diagnostics, statusID, update, err, waitAgain)
			return
		}
	} else if update, err = c.GetUpdateStatus(ctx, statusID); err != nil {
		addError(&resp.Diagnostics, "Could not read the update "+statusID, err)
		return
	}
	if model.FailOnFailure.ValueBool() && update.Finished() && !update.Succeeded() {
		addUpdateFailure(&resp.Diagnostics, c, statusID, update)
		return
	}
	model.setUpdate(update)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (m *updateStatusModel) setUpdate(update *client.UpdateStatus) {
	text := types.StringPointerValue
	m.ID = text(update.ID)
	m.ProjectID = text(update.ProjectID)
	m.CreatedAt = text(update.CreatedAt)
	m.EndedAt = text(update.EndedAt)
	m.Status = types.StringValue(update.Status)
	m.Finished = types.BoolValue(update.Finished())
	m.Succeeded = types.BoolValue(update.Succeeded())
	m.Summary = text(update.Summary)
	m.Logs = update.Logs
	m.Subdomain = text(update.Subdomain)
	m.Screenshot = text(update.Screenshot)
	m.ScreenshotLight = text(update.ScreenshotLight)
	m.ScreenshotDark = text(update.ScreenshotDark)
	m.Source = text(update.Source)
	if author := update.Author; author != nil {
		m.Author = &authorModel{Name: text(author.Name), AvatarURL: text(author.AvatarURL), VCSUserID: types.Int64PointerValue(author.VCSUserID)}
	}
	if commit := update.Commit; commit != nil {
		m.Commit = &commitModel{SHA: text(commit.SHA), Ref: text(commit.Ref), Message: text(commit.Message)}
		if files := commit.FilesChanged; files != nil {
			m.Commit.FilesChanged = &filesChangedModel{Added: files.Added, Modified: files.Modified, Removed: files.Removed}
		}
	}
}
