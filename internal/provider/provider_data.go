package provider

import (
	"context"
	"log/slog"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// providerData is what the provider's Configure passes to every resource, data source, ephemeral resource, and
// action.
type providerData struct {
	client *client.Client
	// unknown names the provider arguments whose values are not known yet. If there are any, client is nil.
	unknown []string
	clock   clock.Clock
	// handover passes the unfinished jobs that an apply has removed from the state to the creates that follow.
	handover handover
	// placed is what downloads have put in place since Configure, which each command of the CLI calls.
	placed bundle.Placed
}

// dataFrom returns what the provider's Configure passed; nil before Configure has run.
func dataFrom(passed any) *providerData {
	data, _ := passed.(*providerData)
	return data
}

// ready begins an operation, or reports why there is no client for it.
func (d *providerData) ready(diags *diag.Diagnostics) (*client.Operation, bool) {
	if d.client != nil {
		return d.client.Begin(), true
	}
	diags.AddError(summaryUnknownProvider, paragraphs(
		"The provider must call the service now, but these arguments are not known yet: "+
			strings.Join(d.unknown, ", ")+".",
		"Create the resources that they depend on first, for example with \"terraform apply -target=ADDRESS\" for "+
			"each of them, or use values that are known during the plan."))
	return nil, false
}

// planWhenDeferred makes every resource plan by itself if the provider's configuration is not known yet and the CLI
// defers what needs it. Otherwise, the framework plans its computed attributes as null, and what refers to them fails.
// The resource needs a ModifyPlan: without one, the framework does not defer it.
var planWhenDeferred = resource.ProviderDeferredBehavior{EnablePlanModification: true}

// plansWhenDeferred is embedded in a resource that has no ModifyPlan of its own to meet that need.
type plansWhenDeferred struct{}

// ModifyPlan leaves the plan as it is.
func (plansWhenDeferred) ModifyPlan(context.Context, resource.ModifyPlanRequest, *resource.ModifyPlanResponse) {
}

// resourceBase, dataSourceBase, ephemeralBase, and actionBase are embedded in the types of each kind, so that
// Configure is written once for it.
type resourceBase struct{ data *providerData }

func (b *resourceBase) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	b.data = dataFrom(req.ProviderData)
}

type dataSourceBase struct{ data *providerData }

func (b *dataSourceBase) Configure(
	_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse,
) {
	b.data = dataFrom(req.ProviderData)
}

type ephemeralBase struct{ data *providerData }

func (b *ephemeralBase) Configure(
	_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse,
) {
	b.data = dataFrom(req.ProviderData)
}

type actionBase struct{ data *providerData }

func (b *actionBase) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	b.data = dataFrom(req.ProviderData)
}

// writeLog passes the client's log records to Terraform's log.
func writeLog(ctx context.Context, level slog.Level, message string, fields map[string]any) {
	write := tflog.Warn
	switch level {
	case slog.LevelDebug:
		write = tflog.Debug
	case slog.LevelInfo:
		write = tflog.Info
	}
	write(ctx, message, fields)
}
