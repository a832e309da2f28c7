package provider

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
	"github.com/docs-hosting/terraform-provider-docs/internal/exporttest"
)

// stored is what Terraform stores about a resource. The files in testdata hold every value, so
// that a state that one version has written cannot become unreadable to the next unnoticed.
type stored struct {
	state    tfsdk.State
	identity tfsdk.ResourceIdentity
	private  memory
}

// memory is a private state.
type memory map[string]json.RawMessage

func (m memory) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) { return m[key], nil }

func (m memory) SetKey(_ context.Context, key string, value []byte) diag.Diagnostics {
	m[key] = value
	return nil
}

// readStored reads a file of testdata. It also returns an empty place to write to.
func readStored(t *testing.T, name string, r resource.Resource) (was, is stored) {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	var file struct {
		Attributes, Identity json.RawMessage
		Private              memory
	}
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	raw := func(text json.RawMessage, kind tftypes.Type) (value tftypes.Value) {
		if err == nil {
			value, err = tfprotov6.RawState{JSON: text}.Unmarshal(kind)
		}
		return value
	}
	var described resource.SchemaResponse
	r.Schema(t.Context(), resource.SchemaRequest{}, &described)
	was = stored{state: tfsdk.State{Schema: described.Schema}, private: file.Private}
	was.state.Raw = raw(file.Attributes, described.Schema.Type().TerraformType(t.Context()))
	if r, ok := r.(resource.ResourceWithIdentity); ok {
		var identified resource.IdentitySchemaResponse
		r.IdentitySchema(t.Context(), resource.IdentitySchemaRequest{}, &identified)
		was.identity.Schema = identified.IdentitySchema
		was.identity.Raw = raw(file.Identity, identified.IdentitySchema.Type().TerraformType(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	is = stored{tfsdk.State{Schema: was.state.Schema}, tfsdk.ResourceIdentity{Schema: was.identity.Schema}, memory{}}
	return was, is
}

// wantSame checks what was written, and that the file has each field of the given structs.
func (s *stored) wantSame(t *testing.T, was stored, diags diag.Diagnostics, fields ...any) {
	t.Helper()
	if !s.state.Raw.Equal(was.state.Raw) || !s.identity.Raw.Equal(was.identity.Raw) {
		t.Errorf("the state is\n%v\n%v\nwant\n%v\n%v", s.state.Raw, s.identity.Raw, was.state.Raw, was.identity.Raw)
	}
	var got, want any
	text, _ := json.Marshal(s.private)
	_ = json.Unmarshal(text, &got)
	text, _ = json.Marshal(was.private)
	_ = json.Unmarshal(text, &want)
	if !reflect.DeepEqual(got, want) || len(diags) > 0 {
		t.Errorf("the private state is\n%v\nwant\n%v\n%v", got, want, diags)
	}
	for _, value := range fields {
		for kind := range reflect.TypeOf(value).Fields() {
			if name, _, _ := strings.Cut(kind.Tag.Get("json"), ","); name != "-" && !kind.Anonymous && !strings.Contains(string(text), `"`+name+`":`) {
				t.Errorf("the file in testdata has no %s of %T", name, value)
			}
		}
	}
}

func TestExportIsStoredAsBefore(t *testing.T) {
	t.Parallel()
	was, is := readStored(t, "static_export.json", newStaticExportResource())
	var diags diag.Diagnostics
	got := readStoredExport(t.Context(), was.state, was.private, &diags)
	stored := func(revision, version string) export.Inputs {
		return export.Inputs{Domain: "docs.example.com", Triggers: `{"none":null,"revision":"` + revision + `"}`, Parameters: `{"version":` + version + `}`}
	}
	all := export.Marks{Imported: true, Missing: true, BundleMissing: true}
	want := export.State{
		Current: &export.Job{ID: "se_1", Inputs: stored("1", "7"), Status: "completed", PageCount: new(int64(6)), Marks: all},
		Link:    export.Link{URL: "https://storage.example.com/se_1?X-Amz-Signature=1f", ExpiresAt: startOfTime.Add(time.Hour), Size: new(int64(2048)), Kept: true},
		Next:    &export.Job{ID: "se_2", Inputs: stored("2", "8"), Status: "running", PageCount: new(int64(3)), Marks: all},
	}
	if !reflect.DeepEqual(got.State, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got.State, want)
	}
	got.store(t.Context(), &is.state, &is.identity, is.private, &diags)
	is.wantSame(t, was, diags, privateExport{}, privateJob{}, privateInputs{}, privateMarks{})
}

func TestDownloadIsStoredAsBefore(t *testing.T) {
	t.Parallel()
	was, is := readStored(t, "bundle_download.json", newBundleDownloadResource())
	var model bundleDownloadModel
	diags := was.state.Get(t.Context(), &model)
	owned := readOwned(t.Context(), was.private, model, &diags)
	if want := (bundle.Owned{strings.Repeat("3", 64), strings.Repeat("4", 64)}); !reflect.DeepEqual(owned, want) {
		t.Errorf("read %v, want %v", owned, want)
	}
	diags.Append(is.state.Set(t.Context(), &model)...)
	writePrivate(t.Context(), is.private, writtenKey, owned, &diags)
	is.wantSame(t, was, diags)
}

func TestLinkWithoutAnExpiryIsStoredWithoutOne(t *testing.T) {
	t.Parallel()
	state, diags := exporttest.State("a1 unlimited"), diag.Diagnostics{}
	model, private := (&storedExport{State: *state}).model()
	if !model.ExpiresAt.IsNull() || !model.BundleSizeBytes.IsNull() {
		t.Errorf("stored %+v", model)
	}
	if got := model.stored(private, &diags).Link; !reflect.DeepEqual(got, state.Link) {
		t.Errorf("read %+v, want %+v", got, state.Link)
	}
}

func TestExportWithAnUnreadablePrivateStateIsNeitherReadNorPlannedNorUpdated(t *testing.T) {
	t.Parallel()
	const name = "docs_static_export"
	s := configure(t, serverOn(nil), nil)
	was, _ := readStored(t, "static_export.json", newStaticExportResource())
	value, err := tfprotov6.NewDynamicValue(was.state.Raw.Type(), was.state.Raw)
	if err != nil {
		t.Fatal(err)
	}
	private, _ := json.Marshal(map[string][]byte{privateExportKey: []byte(`{"new_field": 1}`)})
	read, err1 := s.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: name, CurrentState: &value, Private: private})
	planned, err2 := s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: name, PriorState: &value, ProposedNewState: &value, Config: &value, PriorPrivate: private,
	})
	applied, err3 := s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: name, PriorState: &value, PlannedState: &value, Config: &value, PlannedPrivate: private,
	})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, said := range [][]*tfprotov6.Diagnostic{read.Diagnostics, planned.Diagnostics, applied.Diagnostics} {
		if len(said) != 1 || said[0].Summary != summaryPrivateUnreadable+": job se_1" {
			t.Errorf("said %v", said)
		}
	}
}

func TestUpdateThatFailsRecordsOnlyArgumentsOfTheShownJob(t *testing.T) {
	t.Parallel()
	was, _ := readStored(t, "static_export.json", newStaticExportResource())
	kind, err := was.state.Raw.Type(), error(nil)
	if was.state.Raw, err = withText(was.state.Raw, "latest_job_id", "se_1"); err != nil { // without a private state
		t.Fatal(err)
	}
	s := configure(t, serverOn(answers{"bundle": "403", "start": "403"}.network(nil, nil)), nil)
	for argument, test := range map[string]struct {
		value    string
		recorded bool
	}{
		"renew_before": {"2000000h", true}, // so the link is due
		"domain":       {"other.example.com", false},
	} {
		planned, err1 := withText(was.state.Raw, argument, test.value)
		prior, err2 := tfprotov6.NewDynamicValue(kind, was.state.Raw)
		plan, err3 := tfprotov6.NewDynamicValue(kind, planned)
		applied, err4 := s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
			TypeName: "docs_static_export", PriorState: &prior, PlannedState: &plan, Config: &plan,
		})
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		state, err := applied.NewState.Unmarshal(kind)
		want := was.state.Raw
		if test.recorded {
			want = planned
		}
		if err != nil || len(applied.Diagnostics) != 1 || !state.Equal(want) {
			t.Errorf("%s: the state is\n%v, %v\nwant\n%v\nsaid %v", argument, state, err, want, applied.Diagnostics)
		}
	}
}

// withText returns an object with another text in one attribute.
func withText(object tftypes.Value, attribute, text string) (tftypes.Value, error) {
	at := tftypes.NewAttributePath().WithAttributeName(attribute)
	return tftypes.Transform(object, func(path *tftypes.AttributePath, value tftypes.Value) (tftypes.Value, error) {
		if path.Equal(at) {
			value = tftypes.NewValue(tftypes.String, text)
		}
		return value, nil
	})
}
