package provider

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
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
	s := newExportServer(t, nil)
	results := s.attributes(isResult)
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
		"| a1 running missing":          {"a", results},
		"| a1 failed":                   {"a", results},
		"a1 completed unlimited |":      {"b", results},
		"a1 completed kept |":           {tftypes.UnknownValue, results},
	} {
		s.change(t, line, map[string]tftypes.Value{"triggers": s.triggers(test.revision)}).wantPlan(t, line, test.unknown, test.unknown != nil)
	}
	s.change(t, "a1 completed bundle-missing |", nil).wantPlan(t, "a missing bundle", results, true, summaryBundleMissing+": job a1")
}

// Arguments that are not part of the content start no job, so each plan of a change knows latest_job_id.
func TestChangeOfAnArgumentStartsAJobOnlyIfItIsContent(t *testing.T) {
	t.Parallel()
	s := newExportServer(t, nil)
	text := func(value string) tftypes.Value { return tftypes.NewValue(tftypes.String, value) }
	content := map[string]tftypes.Value{
		"domain": text("b.example.com"), "triggers": s.triggers("b"), "additional_parameters": text(`{"version":8}`),
	}
	other := map[string]tftypes.Value{
		"link_renewal": text(renewNever), "renew_before": text("1m"), "poll_interval": text("9s"), "timeouts": s.timeouts("2h", "2h"),
	}
	for _, name := range append(s.attributes(func(a *tfprotov6.SchemaAttribute) bool { return !isResult(a) }), "timeouts") {
		value, isContent := content[name]
		want := s.attributes(isResult)
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
		s.change(t, "a1 completed |", map[string]tftypes.Value{name: value}).wantPlan(t, name, want, true)
	}
}

// An export without a link is still the one that was created.
func TestTimeoutOfAnExportWithoutALinkIsThatOfACreate(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"": "2m (timeouts.create)", "| a1 running": "2m (timeouts.create)", "a1 completed |": "3m (timeouts.update)",
	} {
		s := newExportServer(t, answers{"job": running})
		c := s.change(t, line, map[string]tftypes.Value{"triggers": s.triggers("b"), "timeouts": s.timeouts("2m", "3m")})
		if said := c.apply(t).Diagnostics; len(said) != 1 || !strings.Contains(said[0].Detail, "did not finish within "+want) {
			t.Errorf("%q: said %v, want %s", line, said, want)
		}
	}
}

func TestRefreshReadsTheShownJobWithinItsTimeout(t *testing.T) {
	t.Parallel()
	s := newExportServer(t, answers{"job": `429 Retry-After: 300 then {"status":"completed"}`})
	said := s.change(t, "a1 | b1", nil).read(t)
	if len(said) != 1 || !strings.Contains(said[0].Detail, "/jobs/a1, ") || !strings.Contains(said[0].Detail, ", after the timeout of this operation") {
		t.Errorf("a refresh says %v", said)
	}
}

// Terraform withholds the private state of a tainted resource only.
func TestOnlyATaintedExportIsHandedOver(t *testing.T) {
	t.Parallel()
	for want, withheld := range map[string]bool{"b1": true, "se_2": false} {
		s := newExportServer(t, nil)
		old := s.change(t, "| b1 running", nil)
		if old.proposed = encode(t, s.kind, nil); withheld {
			old.private = nil
		}
		old.apply(t)
		created := s.change(t, "", map[string]tftypes.Value{"triggers": s.triggers("b")})
		if jobID := created.values(t, created.apply(t).NewState)["job_id"]; !jobID.Equal(tftypes.NewValue(tftypes.String, want)) {
			t.Errorf("the replacement has the job %s, want %s", jobID, want)
		}
	}
}

func TestRefreshSendsNoRequestThatChangesNothing(t *testing.T) {
	t.Parallel()
	s := newExportServer(t, answers{"job": "404"}) // for half a minute, and with a warning
	never := map[string]tftypes.Value{"link_renewal": tftypes.NewValue(tftypes.String, renewNever)}
	for line, changes := range map[string]map[string]tftypes.Value{"| a1 failed": nil, "a1 |": never} {
		c := s.change(t, line, nil)
		stored := c.values(t, c.prior)
		maps.Copy(stored, changes)
		c.prior = encode(t, s.kind, stored)
		if said := c.read(t); len(said) > 0 {
			t.Errorf("a refresh of %q says %v", line, said)
		}
	}
}

func TestApplyWarnsAboutANewLinkOnly(t *testing.T) {
	t.Parallel()
	s := newExportServer(t, nil) // whose links have no expiry
	for line, want := range map[string][]string{
		"": {summaryUnknownExpiry + ": job se_2"}, "b1 |": {summaryUnknownExpiry + ": job se_2"}, "a1 due |": {summaryUnknownExpiry + ": job a1"},
		"a1 unlimited |": nil,
	} {
		c := s.change(t, line, map[string]tftypes.Value{"triggers": s.triggers("a"), "poll_interval": tftypes.NewValue(tftypes.String, "9s")})
		if said := summaries(c.apply(t).Diagnostics); !slices.Equal(said, want) {
			t.Errorf("%q: said %q, want %q", line, said, want)
		}
	}
}

// exportServer plans and applies exports as the CLI does. Each needs no request, or has these answers.
type exportServer struct {
	*configured
	schema *tfprotov6.Schema
	kind   tftypes.Object
}

func newExportServer(t *testing.T, answers answers) *exportServer {
	t.Helper()
	s := configure(t, serverOn(answers.network(nil, nil), clocktest.NewVirtual(exporttest.Now)), nil)
	schema := s.schemas.ResourceSchemas["docs_static_export"]
	return &exportServer{s, schema, schema.ValueType().(tftypes.Object)}
}

// attributes returns the names of the attributes with a property, sorted.
func (s *exportServer) attributes(with func(*tfprotov6.SchemaAttribute) bool) (names []string) {
	for _, attribute := range s.schema.Block.Attributes {
		if with(attribute) {
			names = append(names, attribute.Name)
		}
	}
	slices.Sort(names)
	return names
}

func isResult(a *tfprotov6.SchemaAttribute) bool { return a.Computed && !a.Optional }

// triggers returns those of a content, which may be unknown.
func (s *exportServer) triggers(revision any) tftypes.Value {
	return tftypes.NewValue(s.kind.AttributeTypes["triggers"], map[string]tftypes.Value{"revision": tftypes.NewValue(tftypes.String, revision)})
}

// timeouts returns the block with two timeouts.
func (s *exportServer) timeouts(create, update string) tftypes.Value {
	return tftypes.NewValue(s.kind.AttributeTypes["timeouts"], map[string]tftypes.Value{
		"create": tftypes.NewValue(tftypes.String, create), "update": tftypes.NewValue(tftypes.String, update),
	})
}

// exportChange is a stored export, whose configuration has changed.
type exportChange struct {
	*exportServer
	prior, config, proposed *tfprotov6.DynamicValue
	identity                *tfprotov6.ResourceIdentityData
	private                 []byte
}

// change changes the arguments of a state, whose line is as in package exporttest, or "" for a create. The arguments are
// those of its shown job.
func (s *exportServer) change(t *testing.T, line string, changes map[string]tftypes.Value) *exportChange {
	t.Helper()
	stored := storedExport{State: *exporttest.State(cmp.Or(line, "| a1"))}
	stored.Domain = types.StringValue(exporttest.Domain)
	stored.LinkRenewal, stored.RenewBefore = types.StringValue(renewOnExpiry), types.StringValue("0s")
	stored.Timeouts = types.ObjectNull(map[string]attr.Type{"create": types.StringType, "update": types.StringType})
	stored.Triggers = types.MapNull(types.StringType)
	if job := stored.Shown(); !job.Imported {
		stored.Triggers = types.MapValueMust(types.StringType, map[string]attr.Value{"revision": types.StringValue(job.ID[:1])})
		stored.AdditionalParameters = types.StringValue(exporttest.Parameters)
	}
	model, private := stored.model()
	var described resource.SchemaResponse
	newStaticExportResource().Schema(t.Context(), resource.SchemaRequest{}, &described)
	state := tfsdk.State{Schema: described.Schema, Raw: tftypes.NewValue(s.kind, nil)}
	if diags := state.Set(t.Context(), &model); diags.HasError() {
		t.Fatal(diags)
	}
	prior := map[string]tftypes.Value{}
	err1 := state.Raw.As(&prior)
	written, err2 := json.Marshal(private)
	kept, err3 := json.Marshal(map[string][]byte{privateExportKey: written})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	proposed := maps.Clone(prior)
	maps.Copy(proposed, changes)
	config := maps.Clone(proposed)
	for _, name := range s.attributes(isResult) {
		delete(config, name)
	}
	named := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"job_id": tftypes.String, "domain": tftypes.String}}
	identity := encode(t, named, map[string]tftypes.Value{"job_id": prior["job_id"], "domain": prior["domain"]})
	if line == "" {
		prior, identity = nil, encode(t, named, nil)
	}
	return &exportChange{
		s, encode(t, s.kind, prior), encode(t, s.kind, config), encode(t, s.kind, proposed), &tfprotov6.ResourceIdentityData{IdentityData: identity}, kept,
	}
}

func (c *exportChange) read(t *testing.T) []*tfprotov6.Diagnostic {
	t.Helper()
	resp, err := c.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: "docs_static_export", CurrentState: c.prior, Private: c.private})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Diagnostics
}

func (c *exportChange) plan(t *testing.T) *tfprotov6.PlanResourceChangeResponse {
	t.Helper()
	resp, err := c.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: "docs_static_export", PriorState: c.prior, ProposedNewState: c.proposed, Config: c.config, PriorPrivate: c.private,
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (c *exportChange) apply(t *testing.T) *tfprotov6.ApplyResourceChangeResponse {
	t.Helper()
	resp, err := c.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: "docs_static_export", PriorState: c.prior, PlannedState: c.proposed, Config: c.config, PlannedPrivate: c.private,
		PlannedIdentity: c.identity,
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// values returns the attributes of a value.
func (c *exportChange) values(t *testing.T, encoded *tfprotov6.DynamicValue) map[string]tftypes.Value {
	t.Helper()
	values := map[string]tftypes.Value{}
	value, err := encoded.Unmarshal(c.kind)
	if err = errors.Join(err, value.As(&values)); err != nil {
		t.Fatal(err)
	}
	return values
}

// summaries returns the first lines of diagnostics.
func summaries(diags []*tfprotov6.Diagnostic) (lines []string) {
	for _, d := range diags {
		lines = append(lines, d.Summary)
	}
	return lines
}

// wantPlan checks what the plan of a change leaves unknown, whether it shows a change, and what it warns about.
func (c *exportChange) wantPlan(t *testing.T, name string, unknown []string, changes bool, warnings ...string) {
	t.Helper()
	plan, prior := c.plan(t), c.values(t, c.prior)
	planned := c.values(t, plan.PlannedState)
	got := c.attributes(func(a *tfprotov6.SchemaAttribute) bool { return a.Computed && !planned[a.Name].IsKnown() })
	changed := !reflect.DeepEqual(planned, prior)
	if !slices.Equal(got, unknown) || changed != changes || len(plan.RequiresReplace) > 0 || !slices.Equal(summaries(plan.Diagnostics), warnings) {
		t.Errorf("%s: unknown are %v (changed: %t, replaced: %v), want %v; said %v", name, got, changed, plan.RequiresReplace, unknown, plan.Diagnostics)
	}
}
