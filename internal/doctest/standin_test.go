package doctest

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// standIn takes the place of any other provider, so that a configuration can be applied. Its resources
// have the arguments and attributes that the configuration names, and store what they are given.
type standIn struct{ name, configuration string }

func (p standIn) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = p.name
}

func (standIn) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (standIn) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (standIn) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (p standIn) Resources(context.Context) []func() resource.Resource {
	file, diags := hclsyntax.ParseConfig([]byte(p.configuration), "", hcl.InitialPos)
	if diags.HasErrors() {
		panic(diags)
	}
	schemas := map[string]schema.NestedBlockObject{}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		if block.Type != "resource" || !strings.HasPrefix(block.Labels[0], p.name+"_") {
			continue
		}
		name := block.Labels[0]
		if _, found := schemas[name]; !found {
			schemas[name] = newObject()
			references := regexp.MustCompile(`\b`+name+`\.\w+\.(\w+)`).FindAllStringSubmatch(p.configuration, -1)
			for _, match := range references {
				schemas[name].Attributes[match[1]] = schema.StringAttribute{Computed: true}
			}
		}
		addArguments(schemas[name], block.Body)
	}
	var resources []func() resource.Resource
	for name, s := range schemas {
		resources = append(resources, func() resource.Resource {
			return standInResource{name, schema.Schema{Attributes: s.Attributes, Blocks: s.Blocks}}
		})
	}
	return resources
}

func newObject() schema.NestedBlockObject {
	return schema.NestedBlockObject{Attributes: map[string]schema.Attribute{}, Blocks: map[string]schema.Block{}}
}

// addArguments adds what is set in a block. As in the real providers, an argument whose name ends in
// _wo is write-only.
func addArguments(object schema.NestedBlockObject, body *hclsyntax.Body) {
	for name := range body.Attributes {
		if !slices.Contains([]string{"for_each", "depends_on"}, name) {
			object.Attributes[name] = schema.DynamicAttribute{Optional: true, WriteOnly: strings.HasSuffix(name, "_wo")}
		}
	}
	for _, block := range body.Blocks {
		if block.Type != "lifecycle" {
			nested := newObject()
			addArguments(nested, block.Body)
			object.Blocks[block.Type] = schema.SingleNestedBlock{Attributes: nested.Attributes, Blocks: nested.Blocks}
		}
	}
}

type standInResource struct {
	name   string
	schema schema.Schema
}

func (r standInResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.name
}

func (r standInResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema
}

func (standInResource) Create(_ context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.State.Raw = known(req.Plan.Raw)
}

func (standInResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (standInResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = known(req.Plan.Raw)
}

func (standInResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// known replaces unknown values by "computed".
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
