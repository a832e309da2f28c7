package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

var _ action.ActionWithConfigure = (*awaitUpdateAction)(nil)

// awaitUpdateAction is docs_update_gate as an action.
type awaitUpdateAction struct{ actionBase }

func newAwaitUpdateAction() action.Action { return &awaitUpdateAction{} }

type awaitUpdateModel struct {
	StatusID     types.String `tfsdk:"status_id"`
	PollInterval types.String `tfsdk:"poll_interval"`
	Timeouts     types.Object `tfsdk:"timeouts"`
}

func (a *awaitUpdateAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_await_update"
}

func (a *awaitUpdateAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Waits for an update (one publication of a site) and fails unless it succeeds.",
		Attributes: map[string]schema.Attribute{
			"status_id": schema.StringAttribute{
				MarkdownDescription: statusIDDescription, Required: true, Validators: idRules,
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: pollIntervalDescription, Optional: true, Validators: atLeastOneSecond,
			},
		},
		Blocks: map[string]schema.Block{"timeouts": schema.SingleNestedBlock{
			MarkdownDescription: timeoutsDescription,
			Attributes: map[string]schema.Attribute{"invoke": schema.StringAttribute{
				MarkdownDescription: "Timeout for the wait. Default: `1h`.",
				Optional:            true,
				Validators:          timeoutRules,
			}},
		}},
	}
}

func (a *awaitUpdateAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var config awaitUpdateModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	operation, ok := a.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := a.data.withTimeout(ctx, config.Timeouts, "invoke", defaultWaitTimeout)
	defer cancel()

	statusID := config.StatusID.ValueString()
	report := func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
	}
	wait := siteUpdateWait{
		operation:    operation,
		statusID:     statusID,
		pollInterval: config.PollInterval,
		onUpdate: func(update *client.UpdateStatus) {
			if !update.Finished() {
				report("Update %s: %s", statusID, update.Status)
			}
		},
		again: "If the action runs before a resource is created or updated, run \"terraform apply\" again. " +
			"Otherwise, run \"terraform apply -invoke=ADDRESS\" for this action.",
	}
	if _, ok := wait.waitForSuccess(ctx, &resp.Diagnostics); ok {
		report("Update %s succeeded", statusID)
	}
}
