// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ resource.Resource              = (*updateGateResource)(nil)
	_ resource.ResourceWithConfigure = (*updateGateResource)(nil)
)

// updateGateResource is created only if an update succeeds. What was passed
// stays passed: nothing but its creation makes a request.
type updateGateResource struct{ resourceBase }

func newUpdateGateResource() resource.Resource { return &updateGateResource{} }

type updateGateModel struct {
	StatusID     types.String   `tfsdk:"status_id"`
	Triggers     types.Map      `tfsdk:"triggers"`
	PollInterval types.String   `tfsdk:"poll_interval"`
	Timeouts     timeouts.Value `tfsdk:"timeouts"`

	Status  types.String `tfsdk:"status"`
	Summary types.String `tfsdk:"summary"`
	EndedAt types.String `tfsdk:"ended_at"`
}

func (r *updateGateResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_update_gate"
}

func (r *updateGateResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	recorded := func(description string) schema.StringAttribute {
		return schema.StringAttribute{
			MarkdownDescription: description,
			Computed:            true,
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lets an apply go on only once an update, which is a deployment of a site, has succeeded. " +
			"Creating the resource waits for the update's end and fails unless that is a success: also if the update cannot be read or has not ended in time. " +
			"Let what may happen only then depend on it with `depends_on`.\n\n" +
			"A gate that was passed stays passed: it is not looked at again, and destroying it only forgets it. " +
			"Another `status_id` or a change of `triggers` makes a new gate. There is nothing to import: a gate that is created for an update that has succeeded already is passed at once.",
		Attributes: map[string]schema.Attribute{
			"status_id": schema.StringAttribute{
				MarkdownDescription: "Status id of the update, as the service returned it when the update was triggered. Another one replaces the resource, and so waits for that update.",
				Required:            true,
				Validators:          []validator.String{idValidator{"an id that is not empty"}},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"triggers": schema.MapAttribute{
				MarkdownDescription: "Any strings, such as a commit. A change replaces the resource, and so looks at the update again.",
				ElementType:         types.StringType,
				Optional:            true,
				PlanModifiers:       []planmodifier.Map{mapplanmodifier.RequiresReplace()},
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: pollIntervalDescription,
				Optional:            true,
				Validators:          []validator.String{durationAtLeast(minPollInterval)},
			},
			"timeouts": timeouts.Attributes(ctx, timeouts.Opts{
				Create:            true,
				CreateDescription: "How long to wait for the update's end, as a duration such as `20m`; `60m` by default.",
			}),
			"status":   recorded("Status with which the update ended: `success`."),
			"summary":  recorded("Summary of the state of the update; null where the service does not say."),
			"ended_at": recorded("When the update ended, as the service writes it (an ISO 8601 time in UTC); null where the service does not say."),
		},
	}
}

// Create waits for the update. Unless it succeeds nothing gets into the state,
// so that the next apply waits again.
func (r *updateGateResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan updateGateModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	timeout, diags := plan.Timeouts.Create(ctx, defaultWaitTimeout)
	resp.Diagnostics.Append(diags...)
	c, ok := r.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, timeout)
	defer cancel()

	wait := updateWait{client: c, statusID: plan.StatusID.ValueString(), pollInterval: plan.PollInterval, again: waitAgain}
	update, ok := wait.success(ctx, &resp.Diagnostics)
	if !ok {
		return
	}
	plan.Status = types.StringValue(update.Status)
	plan.Summary = types.StringPointerValue(update.Summary)
	plan.EndedAt = types.StringPointerValue(update.EndedAt)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read leaves the state as it is: what was passed stays passed.
func (r *updateGateResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update records arguments that matter to the next creation only.
func (r *updateGateResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

// Delete does nothing: the framework takes the resource out of the state.
func (r *updateGateResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}
