// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	datasourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// thirdParty stands in for the provider of another vendor. It checks the references and arguments of
// configurations against the schemas of thirdPartyResources, and stores what it is given.
type thirdParty struct{ name string }

func newThirdParty(name string) func() tfprotov6.ProviderServer {
	return providerserver.NewProtocol6(thirdParty{name})
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
		resources = append(resources, func() resource.Resource { return thirdPartyResource{name, s} })
	}
	return resources
}

func (p thirdParty) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return workspaceOutputs{} }}
}

type thirdPartyResource struct {
	name   string
	schema schema.Schema
}

func (r thirdPartyResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.name
}

func (r thirdPartyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema
}

func (r thirdPartyResource) Create(_ context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.State.Raw = known(req.Plan.Raw)
}

func (r thirdPartyResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (r thirdPartyResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
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
