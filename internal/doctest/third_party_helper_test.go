// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"context"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	datasourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// thirdParty stands in for the provider of another vendor. It checks configurations against the
// schemas of thirdPartyResources and stores what it is given.
type thirdParty struct {
	name  string
	chart *chart
}

func newThirdParty(name string, c *chart) func() tfprotov6.ProviderServer {
	return providerserver.NewProtocol6(thirdParty{name, c})
}

// chart is the deployment chart of a cluster.
type chart struct {
	sync.Mutex
	values map[string]string // by name, what the last helm_release with set arguments passed to it
}

func (c *chart) value(name string) string {
	c.Lock()
	defer c.Unlock()
	return c.values[name]
}

// release passes values to the chart as version 3.1.2 of the Helm provider does: those of set_wo only
// if the number in set_wo_revision is greater than in the state, and none of an earlier release.
func (c *chart) release(ctx context.Context, config tfsdk.Config, plan tfsdk.Plan, state tfsdk.State) diag.Diagnostics {
	var diags diag.Diagnostics
	var before, after types.Number
	if !state.Raw.IsNull() {
		diags.Append(state.GetAttribute(ctx, path.Root("set_wo_revision"), &before)...)
	}
	diags.Append(plan.GetAttribute(ctx, path.Root("set_wo_revision"), &after)...)
	arguments := []string{"set", "set_sensitive"}
	if !after.IsNull() && (before.IsNull() || after.ValueBigFloat().Cmp(before.ValueBigFloat()) > 0) {
		arguments = append(arguments, "set_wo")
	}
	values := map[string]string{}
	for _, name := range arguments {
		var list types.List
		diags.Append(config.GetAttribute(ctx, path.Root(name), &list)...)
		for _, element := range list.Elements() {
			if set, ok := element.(types.Object); ok {
				text := func(name string) string {
					value, _ := set.Attributes()[name].(types.String)
					return value.ValueString()
				}
				values[text("name")] = strings.ReplaceAll(text("value"), `\,`, ",")
			}
		}
	}
	c.Lock()
	defer c.Unlock()
	c.values = values
	return diags
}

func (p thirdParty) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = p.name
}

func (p thirdParty) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	if p.name == "helm" {
		resp.Schema.Attributes = map[string]providerschema.Attribute{"kubernetes": providerschema.SingleNestedAttribute{
			Optional: true, Attributes: map[string]providerschema.Attribute{"cluster_ca_certificate": providerschema.StringAttribute{Optional: true}},
		}}
	}
}

func (p thirdParty) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (p thirdParty) Resources(context.Context) []func() resource.Resource {
	var resources []func() resource.Resource
	for name, s := range thirdPartyResources[p.name] {
		resources = append(resources, func() resource.Resource { return thirdPartyResource{name, s, p.chart} })
	}
	return resources
}

func (p thirdParty) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return workspaceOutputs{} }}
}

type thirdPartyResource struct {
	name   string
	schema schema.Schema
	chart  *chart
}

func (r thirdPartyResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.name
}

func (r thirdPartyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema
}

func (r thirdPartyResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	if r.name == "helm_release" {
		resp.Diagnostics.Append(r.chart.release(ctx, req.Config, req.Plan, resp.State)...)
	}
	resp.State.Raw = known(req.Plan.Raw)
}

func (r thirdPartyResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (r thirdPartyResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	if r.name == "helm_release" {
		resp.Diagnostics.Append(r.chart.release(ctx, req.Config, req.Plan, req.State)...)
	}
	resp.State.Raw = known(req.Plan.Raw)
}

func (r thirdPartyResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// known replaces unknown strings by "computed".
func known(plan tftypes.Value) tftypes.Value {
	state, err := tftypes.Transform(plan, func(_ *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if !v.IsKnown() {
			v = tftypes.NewValue(tftypes.String, "computed")
		}
		return v, nil
	})
	if err != nil {
		panic(err)
	}
	return state
}

// workspaceOutputs is the data source tfe_outputs of a workspace that exported the site.
type workspaceOutputs struct{}

func (workspaceOutputs) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "tfe_outputs"
}

func (workspaceOutputs) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = datasourceschema.Schema{Attributes: map[string]datasourceschema.Attribute{
		"organization":        datasourceschema.StringAttribute{Optional: true},
		"workspace":           datasourceschema.StringAttribute{Required: true},
		"nonsensitive_values": datasourceschema.DynamicAttribute{Computed: true},
	}}
}

func (workspaceOutputs) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	resp.State.Raw = req.Config.Raw
	outputs := types.ObjectValueMust(map[string]attr.Type{"job_id": types.StringType}, map[string]attr.Value{"job_id": types.StringValue(exportedJob)})
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("nonsensitive_values"), types.DynamicValue(outputs))...)
}
