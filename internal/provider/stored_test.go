package provider

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
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

// wantSame checks what was written, that the file has each field of the given structs, which are empty, and that older
// versions read them.
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
		zero, _ := json.Marshal(value)
		for name := range object(t, string(zero)) {
			if !slices.Contains([]string{"job_id", "inputs", "domain", "triggers", "request"}, name) { // that every version reads
				t.Errorf("%s of %T is always written, and older versions refuse it: add omitempty", name, value)
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
		return export.Inputs{
			Domain: "docs.example.com", Triggers: `{"none":null,"revision":"` + revision + `"}`,
			Request: client.StartRequest(`{"domain":"docs.example.com","version":` + version + `}`),
		}
	}
	all := export.Marks{Imported: true, Missing: true, BundleMissing: true}
	want := export.State{
		Current: &export.Job{ID: "se_1", Inputs: stored("1", "7"), Status: "completed", PageCount: new(int64(6)), Marks: all},
		Link: export.Link{
			URL: "https://storage.example.com/se_1?X-Amz-Signature=1f", ExpiresAt: startOfTime.Add(time.Hour), Size: new(int64(2048)), Kept: true,
		},
		Next: &export.Job{ID: "se_2", Inputs: stored("2", "8"), Status: "running", PageCount: new(int64(3)), Marks: all},
	}
	if !reflect.DeepEqual(got.State, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got.State, want)
	}
	for _, part := range []any{*want.Current, want.Link, *want.Next} {
		for field, value := range reflect.ValueOf(part).Fields() {
			if value.IsZero() {
				t.Errorf("the test does not store %s of %T: store it in static_export_stored.go, and set it here and in testdata", field.Name, part)
			}
		}
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

func TestImportIsStoredAsOne(t *testing.T) {
	t.Parallel()
	imported, err := newExportServer(t, nil).ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: "docs_static_export", ID: "docs.example.com,se_1",
	})
	if err != nil {
		t.Fatal(err)
	}
	var private map[string][]byte
	err = json.Unmarshal(imported.ImportedResources[0].Private, &private)
	if got := string(private[privateExportKey]); err != nil || got != `{"imported":true}` {
		t.Errorf("the private state is %s, %v", got, err)
	}
}

func TestExportWithAnUnreadablePrivateStateIsOnlyDestroyed(t *testing.T) {
	t.Parallel()
	c := newExportServer(t, nil).change(t, "a1 |", nil)
	c.private, _ = json.Marshal(map[string][]byte{privateExportKey: []byte(`{"new_field": 1}`)})
	for _, said := range [][]*tfprotov6.Diagnostic{c.read(t), c.plan(t).Diagnostics, c.apply(t).Diagnostics} {
		if !slices.Equal(summaries(said), []string{summaryPrivateUnreadable + ": job a1"}) {
			t.Errorf("said %v", said)
		}
	}
	c.proposed = encode(t, c.kind, nil)
	if said := c.apply(t).Diagnostics; len(said) > 0 {
		t.Errorf("a destroy says %v", said)
	}
}

func TestUpdateThatFailsRecordsOnlyArgumentsOfTheShownJob(t *testing.T) {
	t.Parallel()
	s := newExportServer(t, answers{"bundle": "403", "start": "403"})
	for argument, test := range map[string]struct {
		value    string
		recorded bool
	}{
		"renew_before": {"2h", true}, // so the link is due
		"domain":       {"other.example.com", false},
	} {
		c := s.change(t, "a1 |", map[string]tftypes.Value{argument: tftypes.NewValue(tftypes.String, test.value)})
		applied, want := c.apply(t), c.prior
		if test.recorded {
			want = c.proposed
		}
		if got := c.values(t, applied.NewState); len(applied.Diagnostics) != 1 || !reflect.DeepEqual(got, c.values(t, want)) {
			t.Errorf("%s: the state is\n%v\nsaid %v", argument, got, applied.Diagnostics)
		}
	}
}
