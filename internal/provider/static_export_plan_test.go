package provider

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/exporttest"
)

// In a plan, the link is always unknown if there is a change, unless it is never renewed.
var linkAttributes = []string{"bundle_size_bytes", "bundle_url", "expires_at"}

func TestPlanKnowsWhatItsApplyKeeps(t *testing.T) {
	t.Parallel()
	p := newExportPlanner(t)
	results := p.attributes(func(a *tfprotov6.SchemaAttribute) bool { return a.Computed && !a.Optional })
	allButLatest := slices.DeleteFunc(slices.Clone(results), func(name string) bool { return name == "latest_job_id" })
	for line, test := range map[string]struct {
		revision any // that the configuration has
		unknown  []string
	}{
		"a1 completed |":                {"a", nil},
		"a1 completed | b1 running":     {"a", nil},
		"a1 completed due |":            {"a", linkAttributes},
		"a1 completed due | b1 running": {"a", linkAttributes},
		"a1 completed | b2 running":     {"b", allButLatest},
		"a1 missing | a2 running":       {"a", allButLatest},
		"| a1 running":                  {"a", allButLatest},
		"| a1 completed imported":       {"b", allButLatest},
		"a1 completed missing |":        {"a", results},
		"a1 completed bundle-missing |": {"a", results},
		"| a1 running missing":          {"a", results},
		"| a1 failed":                   {"a", results},
		"a1 completed unlimited |":      {"b", results},
		"a1 completed kept |":           {tftypes.UnknownValue, results},
	} {
		unknown, changed := p.plan(t, line, map[string]tftypes.Value{"triggers": p.triggers(test.revision)})
		if !slices.Equal(unknown, test.unknown) || changed != (test.unknown != nil) {
			t.Errorf("%s, revision %v: unknown are %v (changed: %t), want %v", line, test.revision, unknown, changed, test.unknown)
		}
	}
}

// Arguments that are not part of the content start no job, so each plan of a change knows latest_job_id.
func TestChangeOfAnArgumentStartsAJobOnlyIfItIsContent(t *testing.T) {
	t.Parallel()
	p := newExportPlanner(t)
	text := func(value string) tftypes.Value { return tftypes.NewValue(tftypes.String, value) }
	content := map[string]tftypes.Value{
		"domain": text("b.example.com"), "triggers": p.triggers("b"), "additional_parameters": text(`{"version":8}`),
	}
	other := map[string]tftypes.Value{
		"link_renewal": text(renewNever), "renew_before": text("1m"), "poll_interval": text("9s"),
		"timeouts": tftypes.NewValue(p.kind.AttributeTypes["timeouts"], map[string]tftypes.Value{"create": text("2h"), "update": text("2h")}),
	}
	for _, name := range append(p.attributes(func(a *tfprotov6.SchemaAttribute) bool { return a.Optional || a.Required }), "timeouts") {
		value, isContent := content[name]
		want := p.attributes(func(a *tfprotov6.SchemaAttribute) bool { return a.Computed && !a.Optional })
		if !isContent {
			value, want = other[name], linkAttributes
		}
		if name == "link_renewal" {
			want = nil
		}
		if value.Type() == nil {
			t.Errorf("the test has no change of %s: add it to content or to other", name)
			continue
		}
		if unknown, changed := p.plan(t, "a1 completed |", map[string]tftypes.Value{name: value}); !slices.Equal(unknown, want) || !changed {
			t.Errorf("a change of %s leaves %v unknown (changed: %t), want %v", name, unknown, changed, want)
		}
	}
}

// exportPlanner plans exports as the CLI does.
type exportPlanner struct {
	*configured
	schema *tfprotov6.Schema
	kind   tftypes.Object
}

func newExportPlanner(t *testing.T) *exportPlanner {
	t.Helper()
	environment := map[string]string{baseURLVariable: "https://docs.test/v1", apiKeyVariable: "key"}
	s := configure(t, NewServer(Options{
		Getenv: func(name string) string { return environment[name] }, Clock: clocktest.NewVirtual(exporttest.Now),
	})(), nil)
	schema := s.schemas.ResourceSchemas["docs_static_export"]
	return &exportPlanner{s, schema, schema.ValueType().(tftypes.Object)}
}

// attributes returns the names of the attributes with a property, sorted.
func (p *exportPlanner) attributes(with func(*tfprotov6.SchemaAttribute) bool) (names []string) {
	for _, attribute := range p.schema.Block.Attributes {
		if with(attribute) {
			names = append(names, attribute.Name)
		}
	}
	slices.Sort(names)
	return names
}

// triggers returns those of a content, which may be unknown.
func (p *exportPlanner) triggers(revision any) tftypes.Value {
	return tftypes.NewValue(p.kind.AttributeTypes["triggers"], map[string]tftypes.Value{"revision": tftypes.NewValue(tftypes.String, revision)})
}

// plan plans a state, whose line is as in package exporttest. The configuration is that of its shown job, with changes.
// It returns what is unknown in the plan, sorted, and whether the plan differs from the state.
func (p *exportPlanner) plan(t *testing.T, line string, changes map[string]tftypes.Value) (unknown []string, changed bool) {
	t.Helper()
	stored := storedExport{State: *exporttest.State(line)}
	stored.Domain = types.StringValue(exporttest.Domain)
	stored.LinkRenewal, stored.RenewBefore = types.StringValue(renewOnExpiry), types.StringValue("0s")
	stored.Timeouts = types.ObjectNull(map[string]attr.Type{"create": types.StringType, "update": types.StringType})
	stored.Triggers = types.MapNull(types.StringType)
	config := map[string]tftypes.Value{"domain": tftypes.NewValue(tftypes.String, exporttest.Domain)}
	if job := stored.Shown(); !job.Imported {
		stored.Triggers = types.MapValueMust(types.StringType, map[string]attr.Value{"revision": types.StringValue(job.ID[:1])})
		stored.AdditionalParameters = types.StringValue(job.Inputs.Parameters)
		config["triggers"], config["additional_parameters"] = p.triggers(job.ID[:1]), tftypes.NewValue(tftypes.String, job.Inputs.Parameters)
	}
	model, private := stored.model()
	var described resource.SchemaResponse
	newStaticExportResource().Schema(t.Context(), resource.SchemaRequest{}, &described)
	state := tfsdk.State{Schema: described.Schema, Raw: tftypes.NewValue(p.kind, nil)}
	if diags := state.Set(t.Context(), &model); diags.HasError() {
		t.Fatal(diags)
	}
	prior := map[string]tftypes.Value{}
	err := state.Raw.As(&prior)
	maps.Copy(config, changes)
	proposed := maps.Clone(prior)
	maps.Copy(proposed, config)
	written, err2 := json.Marshal(private)
	kept, err3 := json.Marshal(map[string][]byte{privateExportKey: written})
	resp, err4 := p.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: "docs_static_export", PriorState: encode(t, p.kind, prior), ProposedNewState: encode(t, p.kind, proposed),
		Config: encode(t, p.kind, config), PriorPrivate: kept,
	})
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	planned, err := resp.PlannedState.Unmarshal(p.kind)
	values := map[string]tftypes.Value{}
	if err = errors.Join(err, planned.As(&values)); err != nil || len(resp.RequiresReplace) > 0 {
		t.Fatal(err, resp.RequiresReplace)
	}
	unknown = p.attributes(func(a *tfprotov6.SchemaAttribute) bool { return a.Computed && !values[a.Name].IsKnown() })
	return unknown, !planned.Equal(state.Raw)
}
