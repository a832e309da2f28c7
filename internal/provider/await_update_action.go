// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/action/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

var (
	_ action.Action              = (*awaitUpdateAction)(nil)
	_ action.ActionWithConfigure = (*awaitUpdateAction)(nil)
)

// awaitUpdateAction is docs_update_gate as an action.
type awaitUpdateAction struct{ actionBase }

func newAwaitUpdateAction() action.Action { return &awaitUpdateAction{} }

type awaitUpdateModel struct {
	StatusID     types.String   `tfsdk:"status_id"`
	PollInterval types.String   `tfsdk:"poll_interval"`
	Timeouts     timeouts.Value `tfsdk:"timeouts"`
}

func (a *awaitUpdateAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_await_update"
}

func (a *awaitUpdateAction) Schema(ctx context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Waits for the end of an update, which is a deployment of a site, and fails unless that is a success: also if the update cannot be read or has not ended in time. " +
			"It tells each new status as it goes.\n\n" +
			"Invoke it with `terraform apply -invoke=action.docs_await_update.NAME`, or from the `action_trigger` of a resource. " +
			"Other resources do not wait for an `after_create` action, and Terraform does not repeat an action that failed unless its resource changes again: " +
			"where either matters, take `docs_update_gate`.",
		Attributes: map[string]schema.Attribute{
			"status_id": schema.StringAttribute{
				MarkdownDescription: "Status id of the update, as the service returned it when the update was triggered.",
				Required:            true,
				Validators:          []validator.String{idValidator{"an id that is not empty"}},
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: pollIntervalDescription,
				Optional:            true,
				Validators:          []validator.String{durationAtLeast(minPollInterval)},
			},
			"timeouts": timeouts.AttributesWithOpts(ctx, timeouts.Opts{
				InvokeDescription: "How long to wait for the update's end, as a duration such as `20m`; `60m` by default.",
			}),
		},
	}
}

func (a *awaitUpdateAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var config awaitUpdateModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	timeout, diags := config.Timeouts.Invoke(ctx, defaultWaitTimeout)
	resp.Diagnostics.Append(diags...)
	c, ok := a.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, timeout)
	defer cancel()

	wait := updateWait{
		client:       c,
		statusID:     config.StatusID.ValueString(),
		pollInterval: config.PollInterval,
		again: "To go on waiting, run \"terraform apply -invoke=action.docs_await_update.NAME\" with the name of this action: " +
			"an apply alone does not repeat an action for a resource that has been changed already.",
	}
	tell := func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: c.Redact(fmt.Sprintf(format, args...))})
	}
	wait.onUpdate = func(update *client.UpdateStatus) {
		if !update.Finished() {
			tell("Update %s: %s", wait.statusID, update.Status)
		}
	}
	if _, ok := wait.success(ctx, &resp.Diagnostics); ok {
		tell("Update %s succeeded", wait.statusID)
	}
}
