package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ resource.ResourceWithConfigure  = (*updateGateResource)(nil)
	_ resource.ResourceWithModifyPlan = (*updateGateResource)(nil)
)

// updateGateResource is created only if an update succeeds. A gate that has passed stays open: only Create sends
// requests.
type updateGateResource struct {
	resourceBase
	plansWhenDeferred
}

func newUpdateGateResource() resource.Resource { return &updateGateResource{} }

type updateGateModel struct {
	StatusID     types.String `tfsdk:"status_id"`
	Triggers     types.Map    `tfsdk:"triggers"`
	PollInterval types.String `tfsdk:"poll_interval"`
	Timeouts     types.Object `tfsdk:"timeouts"`

	Status  types.String `tfsdk:"status"`
	Summary types.String `tfsdk:"summary"`
	EndedAt types.String `tfsdk:"ended_at"`
}

func (r *updateGateResource) Metadata(
	_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse,
) {
	resp.TypeName = req.ProviderTypeName + "_update_gate"
	resp.ResourceBehavior.ProviderDeferred = planWhenDeferred
}

func (r *updateGateResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	recorded := func(description string) schema.StringAttribute {
		return schema.StringAttribute{
			MarkdownDescription: description,
			Computed:            true,
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Waits for an update (one publication of a site) and fails unless it succeeds.",
		Attributes: map[string]schema.Attribute{
			"status_id": schema.StringAttribute{
				MarkdownDescription: statusIDDescription + " A change replaces the resource.",
				Required:            true,
				Validators:          idRules,
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"triggers": schema.MapAttribute{
				MarkdownDescription: "Strings of your choice, such as a commit SHA. A change replaces the resource.",
				ElementType:         types.StringType,
				Optional:            true,
				PlanModifiers:       []planmodifier.Map{mapplanmodifier.RequiresReplace()},
			},
			"poll_interval": schema.StringAttribute{
				MarkdownDescription: pollIntervalDescription,
				Optional:            true,
				Validators:          atLeastOneSecond,
			},
			"status":   recorded("Status of the update, always `success`."),
			"summary":  recorded("Summary of the update."),
			"ended_at": recorded("Time when the update ended (usually RFC 3339)."),
		},
		Blocks: resourceTimeouts(map[string]string{"create": "Timeout for the wait. Default: `1h`."}),
	}
}

// Create waits for the update. Unless it succeeds, the state stays empty, so the next apply waits again.
func (r *updateGateResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan updateGateModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	operation, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, "create", defaultWaitTimeout)
	defer cancel()

	wait := siteUpdateWait{
		operation: operation, statusID: plan.StatusID.ValueString(), pollInterval: plan.PollInterval,
		again:     "To continue waiting, run \"terraform apply\" again.",
		unchanged: "No dependent resource was created or updated. Replaced ones may be gone.",
	}
	update, ok := wait.waitForSuccess(ctx, &resp.Diagnostics)
	if !ok {
		return
	}
	plan.Status = types.StringValue(update.Status)
	plan.Summary = types.StringPointerValue(update.Summary)
	plan.EndedAt = types.StringPointerValue(update.EndedAt)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read leaves the state as it is.
func (r *updateGateResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update records arguments that matter only to the next Create.
func (r *updateGateResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

// Delete does nothing, because the framework removes the resource from the state.
func (r *updateGateResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}
