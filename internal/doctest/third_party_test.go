package doctest

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	datasourceschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// thirdParty stands in for the provider of another vendor. It checks the references and arguments of
// configurations against the schemas of thirdPartyResources, and stores what it is given.
type thirdParty struct{ name string }

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

var (
	requiredString  = schema.StringAttribute{Required: true}
	optionalString  = schema.StringAttribute{Optional: true}
	computedString  = schema.StringAttribute{Computed: true}
	writeOnlyString = schema.StringAttribute{Required: true, WriteOnly: true}
	requiredBool    = schema.BoolAttribute{Required: true}
	optionalBool    = schema.BoolAttribute{Optional: true}
	optionalNumber  = schema.NumberAttribute{Optional: true}
	requiredStrings = schema.SetAttribute{Required: true, ElementType: types.StringType}
	optionalStrings = schema.SetAttribute{Optional: true, ElementType: types.StringType}
)

// thirdPartyResources are the schemas of what the examples use, by provider and resource, reduced
// to the arguments in the examples. helm and tfe follow `terraform providers schema -json` of
// versions 3.1.2 and 0.78.0, which the guides name. aws follows the documentation
// of version 6. An argument that an example gains is added here.
var thirdPartyResources = map[string]map[string]schema.Schema{
	"aws": {
		"aws_s3_bucket":        {Attributes: object{"id": computedString, "arn": computedString, "bucket": optionalString, "bucket_regional_domain_name": computedString}},
		"aws_s3_bucket_policy": {Attributes: object{"bucket": requiredString, "policy": requiredString}},
		"aws_s3_object": {Attributes: object{
			"bucket": requiredString, "key": requiredString, "source": optionalString, "source_hash": optionalString,
			"content_type": optionalString,
		}},
		"aws_cloudfront_origin_access_control": {Attributes: object{
			"id": computedString, "name": requiredString, "origin_access_control_origin_type": requiredString,
			"signing_behavior": requiredString, "signing_protocol": requiredString,
		}},
		"aws_cloudfront_function": {Attributes: object{"arn": computedString, "name": requiredString, "runtime": requiredString, "code": requiredString}},
		"aws_cloudfront_distribution": {
			Attributes: object{
				"id": computedString, "arn": computedString, "domain_name": computedString,
				"enabled": requiredBool, "default_root_object": optionalString,
			},
			Blocks: map[string]schema.Block{
				"origin": block(object{"domain_name": requiredString, "origin_id": requiredString, "origin_access_control_id": optionalString}, nil),
				"default_cache_behavior": block(object{
					"target_origin_id": requiredString, "viewer_protocol_policy": requiredString, "allowed_methods": requiredStrings,
					"cached_methods": requiredStrings, "cache_policy_id": optionalString, "compress": optionalBool,
				}, map[string]schema.Block{"function_association": block(object{"event_type": requiredString, "function_arn": requiredString}, nil)}),
				"custom_error_response": block(object{
					"error_code": schema.NumberAttribute{Required: true}, "response_code": optionalNumber, "response_page_path": optionalString,
				}, nil),
				"restrictions":       block(nil, map[string]schema.Block{"geo_restriction": block(object{"restriction_type": requiredString}, nil)}),
				"viewer_certificate": block(object{"cloudfront_default_certificate": optionalBool}, nil),
			},
		},
	},
	"helm": {
		"helm_release": {Attributes: object{
			"name": requiredString, "namespace": optionalString, "create_namespace": optionalBool, "chart": requiredString, "version": optionalString,
			"values":          schema.ListAttribute{Optional: true, ElementType: types.StringType},
			"set":             nested(object{"name": requiredString, "value": optionalString, "type": optionalString}, false),
			"set_sensitive":   nested(object{"name": requiredString, "value": schema.StringAttribute{Required: true, Sensitive: true}}, false),
			"set_wo":          nested(object{"name": writeOnlyString, "value": writeOnlyString}, true),
			"set_wo_revision": optionalNumber,
		}},
	},
	"tfe": {
		"tfe_workspace": {Attributes: object{
			"id": computedString, "name": requiredString, "organization": optionalString, "auto_apply": optionalBool, "auto_apply_run_trigger": optionalBool,
		}},
		"tfe_workspace_settings":     {Attributes: object{"workspace_id": requiredString, "remote_state_consumer_ids": optionalStrings}},
		"tfe_run_trigger":            {Attributes: object{"workspace_id": requiredString, "sourceable_id": requiredString}},
		"tfe_variable_set":           {Attributes: object{"id": computedString, "name": requiredString, "organization": optionalString}},
		"tfe_workspace_variable_set": {Attributes: object{"workspace_id": requiredString, "variable_set_id": requiredString}},
		"tfe_variable": {Attributes: object{
			"id": computedString, "variable_set_id": optionalString, "workspace_id": optionalString, "category": requiredString, "key": requiredString, "value": optionalString, "sensitive": optionalBool,
			"value_wo": schema.StringAttribute{Optional: true, Sensitive: true, WriteOnly: true}, "value_wo_version": optionalNumber,
		}},
	},
}

type object = map[string]schema.Attribute

func block(attributes object, blocks map[string]schema.Block) schema.Block {
	return schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: attributes, Blocks: blocks}}
}

func nested(attributes object, writeOnly bool) schema.Attribute {
	return schema.ListNestedAttribute{Optional: true, WriteOnly: writeOnly, NestedObject: schema.NestedAttributeObject{Attributes: attributes}}
}
