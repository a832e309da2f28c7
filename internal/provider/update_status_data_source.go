package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

var _ datasource.DataSourceWithConfigure = (*updateStatusDataSource)(nil)

// updateStatusDataSource reads an update. If configured, it first waits for the update to finish.
type updateStatusDataSource struct{ dataSourceBase }

func newUpdateStatusDataSource() datasource.DataSource { return &updateStatusDataSource{} }

type updateStatusModel struct {
	StatusID          types.String `tfsdk:"status_id"`
	WaitForCompletion types.Bool   `tfsdk:"wait_for_completion"`
	FailOnFailure     types.Bool   `tfsdk:"fail_on_failure"`
	PollInterval      types.String `tfsdk:"poll_interval"`
	Timeouts          types.Object `tfsdk:"timeouts"`

	ID              *string            `tfsdk:"id"`
	ProjectID       *string            `tfsdk:"project_id"`
	CreatedAt       *string            `tfsdk:"created_at"`
	EndedAt         *string            `tfsdk:"ended_at"`
	Status          types.String       `tfsdk:"status"`
	Finished        types.Bool         `tfsdk:"finished"`
	Succeeded       types.Bool         `tfsdk:"succeeded"`
	Summary         *string            `tfsdk:"summary"`
	Logs            []string           `tfsdk:"logs"`
	Subdomain       *string            `tfsdk:"subdomain"`
	Screenshot      *string            `tfsdk:"screenshot"`
	ScreenshotLight *string            `tfsdk:"screenshot_light"`
	ScreenshotDark  *string            `tfsdk:"screenshot_dark"`
	Author          *updateAuthorModel `tfsdk:"author"`
	Commit          *updateCommitModel `tfsdk:"commit"`
	Source          *string            `tfsdk:"source"`
}

// updateAuthorModel and filesChangedModel have the fields of client.Author and client.FilesChanged, with tfsdk tags.
// Go converts values between such types.
type updateAuthorModel struct {
	Name      *string `tfsdk:"name"`
	AvatarURL *string `tfsdk:"avatar_url"`
	VCSUserID *int64  `tfsdk:"vcs_user_id"`
}

type updateCommitModel struct {
	SHA          *string            `tfsdk:"sha"`
	Ref          *string            `tfsdk:"ref"`
	Message      *string            `tfsdk:"message"`
	FilesChanged *filesChangedModel `tfsdk:"files_changed"`
}

type filesChangedModel struct {
	Added    []string `tfsdk:"added"`
	Modified []string `tfsdk:"modified"`
	Removed  []string `tfsdk:"removed"`
}

func (d *updateStatusDataSource) Metadata(
	_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_update_status"
}

func (d *updateStatusDataSource) Schema(
	_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse,
) {
	text := func(description string) schema.StringAttribute {
		return schema.StringAttribute{MarkdownDescription: description, Computed: true}
	}
	texts := func(description string) schema.ListAttribute {
		return schema.ListAttribute{MarkdownDescription: description, ElementType: types.StringType, Computed: true}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads an update (one publication of a site).",
		Attributes: map[string]schema.Attribute{
			"status_id": schema.StringAttribute{
				MarkdownDescription: statusIDDescription,
				Required:            true,
				Validators:          idRules,
			},
			"wait_for_completion": schema.BoolAttribute{
				MarkdownDescription: "Whether to wait for the update to finish, usually in the plan. Default: `false`.",
				Optional:            true,
			},
			"fail_on_failure": schema.BoolAttribute{
				MarkdownDescription: "Whether a failed update is an error. Default: `false`.",
				Optional:            true,
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: pollIntervalDescription,
				Optional:            true,
				Validators:          atLeastOneSecond,
			},
			"id":         text("ID in the response, normally equal to `status_id`."),
			"project_id": text("ID of the documentation project."),
			"created_at": text("Time when the update was created (usually RFC 3339)."),
			"ended_at":   text("Time when the update ended (usually RFC 3339)."),
			"status":     text("Status of the update, such as `queued`, `success`, or `failure`."),
			"finished": schema.BoolAttribute{
				MarkdownDescription: "Whether the update has succeeded or failed.",
				Computed:            true,
			},
			"succeeded": schema.BoolAttribute{
				MarkdownDescription: "Whether the update has succeeded.",
				Computed:            true,
			},
			"summary":          text("Summary of the update."),
			"logs":             texts("Lines of the update's log."),
			"subdomain":        text("Subdomain of the site."),
			"screenshot":       text("URL of a screenshot of the site."),
			"screenshot_light": text("URL of a screenshot in light mode."),
			"screenshot_dark":  text("URL of a screenshot in dark mode."),
			"author": schema.SingleNestedAttribute{
				MarkdownDescription: "Author of the update.",
				Computed:            true,
				Attributes: map[string]schema.Attribute{
					"name":       text("Name of the author."),
					"avatar_url": text("URL of the author's avatar."),
					"vcs_user_id": schema.Int64Attribute{
						MarkdownDescription: "User ID of the author at the Git hosting provider.",
						Computed:            true,
					},
				},
			},
			"commit": schema.SingleNestedAttribute{
				MarkdownDescription: "Commit that the update deploys.",
				Computed:            true,
				Attributes: map[string]schema.Attribute{
					"sha":     text("SHA of the commit."),
					"ref":     text("Git ref of the commit, such as `refs/heads/main`."),
					"message": text("Message of the commit."),
					"files_changed": schema.SingleNestedAttribute{
						MarkdownDescription: "Files that the commit changed.",
						Computed:            true,
						Attributes: map[string]schema.Attribute{
							"added":    texts("Paths of added files."),
							"modified": texts("Paths of modified files."),
							"removed":  texts("Paths of removed files."),
						},
					},
				},
			},
			"source": text("What triggered the update: `internal`, `vcs-app-installation`, `api`, `vcs`, " +
				"`dashboard`, `vcsalt`, `onboarding`, or another value."),
		},
		Blocks: dataSourceTimeouts("Timeout for the read. Default: `1h` with `wait_for_completion`, otherwise `5m`."),
	}
}

func (d *updateStatusDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model updateStatusModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	operation, ok := d.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	timeout := defaultReadTimeout
	if model.WaitForCompletion.ValueBool() {
		timeout = defaultWaitTimeout
	}
	ctx, cancel := d.data.withTimeout(ctx, model.Timeouts, "read", timeout)
	defer cancel()

	statusID := model.StatusID.ValueString()
	var update *client.UpdateStatus
	if model.WaitForCompletion.ValueBool() {
		wait := siteUpdateWait{
			operation:    operation,
			statusID:     statusID,
			pollInterval: model.PollInterval,
			again:        runAgain,
			next:         destroyWithoutRead,
		}
		if update, ok = wait.waitForEnd(ctx, &resp.Diagnostics); !ok {
			return
		}
	} else {
		var err error
		if update, err = operation.GetUpdateStatus(ctx, statusID); err != nil {
			addError(&resp.Diagnostics, summaryUpdateUnreadable, err, "", destroyWithoutRead)
			return
		}
	}
	if model.FailOnFailure.ValueBool() && update.Finished() && !update.Succeeded() {
		addUpdateFailure(operation, &resp.Diagnostics, statusID, update, "", sentences(fixCause, destroyWithoutRead))
		return
	}
	model.setUpdate(update)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (m *updateStatusModel) setUpdate(update *client.UpdateStatus) {
	m.ID, m.ProjectID, m.Subdomain, m.Source = update.ID, update.ProjectID, update.Subdomain, update.Source
	m.CreatedAt, m.EndedAt = update.CreatedAt, update.EndedAt
	m.Status = types.StringValue(update.Status)
	m.Finished, m.Succeeded = types.BoolValue(update.Finished()), types.BoolValue(update.Succeeded())
	m.Summary, m.Logs = update.Summary, update.Logs
	m.Screenshot, m.ScreenshotLight, m.ScreenshotDark = update.Screenshot, update.ScreenshotLight, update.ScreenshotDark
	m.Author = (*updateAuthorModel)(update.Author)
	if commit := update.Commit; commit != nil {
		m.Commit = &updateCommitModel{commit.SHA, commit.Ref, commit.Message, (*filesChangedModel)(commit.FilesChanged)}
	}
}
