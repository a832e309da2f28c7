package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// The tests of this file go through all schemas, and name what a new argument, attribute, or object still lacks.

// block is a kind of block in a configuration.
type block struct {
	kind, name string
	schema     *tfprotov6.SchemaBlock
	object     tftypes.Object
}

func (b block) String() string { return b.kind + " " + b.name }

// blocks returns the block of the provider, and those of all that it has.
func (s *configured) blocks() (blocks []block) {
	actions := map[string]*tfprotov6.Schema{}
	for name, schema := range s.schemas.ActionSchemas {
		actions[name] = schema.Schema
	}
	for kind, schemas := range map[string]map[string]*tfprotov6.Schema{
		"provider": {"docs": s.schemas.Provider}, "resource": s.schemas.ResourceSchemas, "data": s.schemas.DataSourceSchemas,
		"ephemeral": s.schemas.EphemeralResourceSchemas, "action": actions,
	} {
		for name, schema := range schemas {
			blocks = append(blocks, block{kind, name, schema.Block, schema.ValueType().(tftypes.Object)})
		}
	}
	return blocks
}

// validate returns what the validation of a block says.
func (s *configured) validate(t *testing.T, b block, values map[string]tftypes.Value) []*tfprotov6.Diagnostic {
	t.Helper()
	ctx, config, actions := t.Context(), encode(t, b.object, values), s.ProviderServer.(tfprotov6.ActionServer)
	switch b.kind {
	case "provider":
		return must(s.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{Config: config})).Diagnostics
	case "resource":
		return must(s.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: b.name, Config: config})).Diagnostics
	case "data":
		return must(s.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: b.name, Config: config})).Diagnostics
	case "ephemeral":
		request := &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: b.name, Config: config}
		return must(s.ValidateEphemeralResourceConfig(ctx, request)).Diagnostics
	}
	return must(actions.ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{ActionType: b.name, Config: config})).Diagnostics
}

// run does what the timeout of a block is for: it creates, reads, opens, or invokes. Only of a resource, it returns a state.
func (s *configured) run(t *testing.T, b block, values map[string]tftypes.Value) (operation string, result *resourceState) {
	t.Helper()
	ctx, config, said := t.Context(), encode(t, b.object, values), []*tfprotov6.Diagnostic{}
	switch b.kind {
	case "resource":
		return "create", s.change(t, b, &resourceState{}, values)
	case "data":
		operation = "read"
		said = must(s.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: b.name, Config: config})).Diagnostics
	case "ephemeral":
		operation = "open"
		said = must(s.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{TypeName: b.name, Config: config})).Diagnostics
	case "action":
		operation = "invoke"
		request := &tfprotov6.InvokeActionRequest{ActionType: b.name, Config: config}
		for event := range must(s.ProviderServer.(tfprotov6.ActionServer).InvokeAction(ctx, request)).Events {
			if end, ok := event.Type.(tfprotov6.CompletedInvokeActionEventType); ok {
				said = end.Diagnostics
			}
		}
	}
	return operation, &resourceState{failure: errorsIn(said)}
}

// resourceState is what Terraform keeps of a resource, and how it came about. The zero value is none.
type resourceState struct {
	state    map[string]tftypes.Value
	private  []byte
	planned  map[string]tftypes.Value
	replaced bool
	failure  string
}

// change plans and applies arguments, unless Terraform would destroy the resource first. Without any, it destroys it.
func (s *configured) change(t *testing.T, b block, prior *resourceState, arguments map[string]tftypes.Value) *resourceState {
	t.Helper()
	config, proposed, was := encode(t, b.object, arguments), maps.Clone(arguments), encode(t, b.object, prior.state)
	for _, a := range b.schema.Attributes {
		if _, configured := arguments[a.Name]; a.Computed && !configured && arguments != nil && prior.state != nil {
			proposed[a.Name] = prior.state[a.Name]
		}
	}
	plan := must(s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: b.name, PriorState: was, ProposedNewState: encode(t, b.object, proposed), Config: config, PriorPrivate: prior.private,
	}))
	changed := *prior
	changed.planned, changed.replaced, changed.failure = decode(t, b.object, plan.PlannedState), len(plan.RequiresReplace) > 0, errorsIn(plan.Diagnostics)
	if changed.failure != "" || changed.replaced && prior.state != nil && arguments != nil {
		return &changed
	}
	applied := must(s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: b.name, PriorState: was, PlannedState: plan.PlannedState, Config: config, PlannedPrivate: plan.PlannedPrivate,
		PlannedIdentity: plan.PlannedIdentity,
	}))
	changed.state, changed.private, changed.failure = decode(t, b.object, applied.NewState), applied.Private, errorsIn(applied.Diagnostics)
	return &changed
}

// errorsIn returns the errors among diagnostics.
func errorsIn(diags []*tfprotov6.Diagnostic) (text string) {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			text += d.Summary + "\n" + d.Detail + "\n"
		}
	}
	return text
}

// must is for calls of a server, which fail only if a test is wrong.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// decode returns the attributes of an object, which may be null.
func decode(t *testing.T, object tftypes.Object, encoded *tfprotov6.DynamicValue) (values map[string]tftypes.Value) {
	t.Helper()
	value, err := encoded.Unmarshal(object)
	if err = errors.Join(err, value.As(&values)); err != nil {
		t.Fatal(err)
	}
	return values
}

func text(value any) tftypes.Value { return tftypes.NewValue(tftypes.String, value) }

// identifying has two values of each argument that says what a block is about, and of each other one that is required.
func identifying(t *testing.T) map[string][2]string {
	folder := t.TempDir()
	return map[string][2]string{
		"domain": {"docs.example.com", "www.example.com"}, "job_id": {"se_1", "se_3"}, "status_id": {"upd_1", "upd_3"},
		"path": {filepath.Join(folder, "1"), filepath.Join(folder, "2")},
	}
}

// arguments returns the required arguments of a block.
func (b block) arguments(t *testing.T, values map[string][2]string) map[string]tftypes.Value {
	t.Helper()
	arguments := map[string]tftypes.Value{}
	for _, a := range b.schema.Attributes {
		if value, ok := values[a.Name]; a.Required && !ok {
			t.Fatalf("%s: no test sets the argument %s: add two values to identifying", b, a.Name)
		} else if a.Required {
			arguments[a.Name] = text(value[0])
		}
	}
	return arguments
}

// setTimeouts sets each timeout of a block, if it has any, and returns them by their operations.
func (b block) setTimeouts(arguments map[string]tftypes.Value, format string) map[string]string {
	timeouts, values := map[string]string{}, map[string]tftypes.Value{}
	if fields, ok := b.object.AttributeTypes["timeouts"].(tftypes.Object); ok {
		for i, operation := range slices.Sorted(maps.Keys(fields.AttributeTypes)) {
			timeouts[operation] = fmt.Sprintf(format, i+2)
			values[operation] = text(timeouts[operation])
		}
		arguments["timeouts"] = tftypes.NewValue(fields, values)
	}
	return timeouts
}

func TestEachTextIsChecked(t *testing.T) {
	t.Parallel()
	s := configure(t, serverOn(nil, nil), nil)
	for _, b := range s.blocks() {
		for _, value := range []string{" ", "", "null", "undefined"} {
			values, refused := map[string]tftypes.Value{}, map[string]bool{}
			for operation := range b.setTimeouts(values, value+"%.0d") {
				refused[operation] = value == " "
			}
			for _, a := range b.schema.Attributes {
				if b.object.AttributeTypes[a.Name].Is(tftypes.String) && (a.Required || a.Optional) {
					values[a.Name] = text(value)
					refused[a.Name] = value == " " || a.Name == "domain" || strings.HasSuffix(a.Name, "_id")
				}
			}
			said := s.validate(t, b, values)
			for name, want := range refused {
				isOf := func(d *tfprotov6.Diagnostic) bool { return strings.HasSuffix(d.Attribute.String(), `("`+name+`")`) }
				if want && !slices.ContainsFunc(said, isOf) {
					t.Errorf("%s: %s may be %q: give it Validators, such as idRules or timeoutRules of validators.go", b, name, value)
				}
			}
		}
	}
}

func TestEachAttributeIsDescribedAndNoSecretIsShown(t *testing.T) {
	t.Parallel()
	public := map[string]string{ // and why
		"base_url": "has no query", "avatar_url": "on the site", "screenshot": "on the site", "screenshot_light": "on the site",
		"screenshot_dark": "on the site", "link_renewal": "no link",
	}
	named, described := regexp.MustCompile(`key|token|secret|password|header|url|link`), regexp.MustCompile(`[Pp]resigned|URL`)
	var check func(at string, attributes []*tfprotov6.SchemaAttribute)
	check = func(at string, attributes []*tfprotov6.SchemaAttribute) {
		for _, a := range attributes {
			if a.Description == "" {
				t.Errorf("%s.%s has no MarkdownDescription", at, a.Name)
			}
			if (named.MatchString(a.Name) || described.MatchString(a.Description)) && !a.Sensitive && public[a.Name] == "" {
				t.Errorf("%s.%s may be a secret, or a link that is one: set Sensitive, or add it to public with the reason", at, a.Name)
			}
			if a.NestedType != nil {
				check(at+"."+a.Name, a.NestedType.Attributes)
			}
		}
	}
	for _, b := range configure(t, serverOn(nil, nil), nil).blocks() {
		check(b.String(), b.schema.Attributes)
		for _, nested := range b.schema.BlockTypes {
			check(b.String()+"."+nested.TypeName, nested.Block.Attributes)
		}
	}
}

// well are the answers of a service where everything has succeeded.
func well() answers { return answers{"update": `{"status":"success"}`, "store": "200 \x00archive"} }

// What waits must end with its timeout: so do its requests. What a resource has computed must stay after a change of its
// timeouts, and must not outlive what it was computed of.
func TestEachObjectIsComplete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const unlimited = 10 * time.Hour
		var began time.Time
		var limit time.Duration // of the requests since then; 0 without any
		network := well().network(nil, nil)
		s := configure(t, serverOn(roundTrip(func(r *http.Request) (*http.Response, error) {
			left := unlimited
			if deadline, ok := r.Context().Deadline(); ok {
				left = deadline.Sub(began)
			}
			limit = min(left, cmp.Or(limit, left))
			return network.RoundTrip(r)
		}), nil), map[string]any{"request_timeout": unlimited.String()})
		unknown := unknownProvider(t, "api_key")
		for _, b := range s.blocks() {
			if b.kind == "provider" {
				continue
			}
			values := identifying(t)
			arguments := b.arguments(t, values)
			timeouts := b.setTimeouts(arguments, "%dm0s")
			wantLimit := func(operation string) {
				if want := cmp.Or(timeouts[operation], "0s"); limit.String() != want {
					t.Errorf("%s: its %s ends after %s, and its timeout is %s (0s is none): call withTimeout with %[2]q, and declare it in its "+
						"timeouts block if and only if it waits", b, operation, limit, want)
				}
			}
			began, limit = time.Now(), 0
			operation, created := s.run(t, b, arguments)
			if wantLimit(operation); created.failure != "" {
				t.Errorf("%s: its %s fails: %s", b, operation, created.failure)
			}
			if b.kind != "resource" || created.failure != "" {
				continue
			}

			changed, want := maps.Clone(arguments), maps.Clone(created.state)
			b.setTimeouts(changed, "%dh")
			maps.Copy(want, changed)
			if got := s.change(t, b, created, changed); got.replaced || got.failure != "" || !reflect.DeepEqual(got.state, want) {
				t.Errorf("%s: a change of its timeouts replaces it (%t), or changes more: let Update store the plan, and give computed attributes "+
					"UseStateForUnknown. It says %s, and leaves\n%v\nwant\n%v", b, got.replaced, got.failure, got.state, want)
			}
			wantReady := func(operation string, run func() string) {
				if said := attempt(run); said != "" && !strings.HasPrefix(said, summaryUnknownProvider) {
					t.Errorf("%s: does its %s call ready? With an unknown api_key, it says %s", b, operation, said)
				}
			}
			longest := time.Duration(0)
			for name := range b.arguments(t, values) {
				other := maps.Clone(arguments)
				other[name] = text(values[name][1])
				began, limit = time.Now(), 0
				got := s.change(t, b, created, other)
				longest = max(longest, limit)
				if got.failure != "" {
					t.Errorf("%s: a change of %s fails: %s", b, name, got.failure)
				}
				wantReady("update", func() string { return unknown.change(t, b, created, other).failure })
				for _, a := range b.schema.Attributes {
					if !got.replaced && !created.planned[a.Name].IsKnown() && got.planned[a.Name].IsKnown() {
						t.Errorf("%s: a change of %s keeps %s: plan that as unknown, or give the argument RequiresReplace", b, name, a.Name)
					}
				}
			}
			limit = longest
			wantLimit("update")

			for operation, run := range map[string]func(*configured) string{
				"read": func(s *configured) string {
					return errorsIn(must(s.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
						TypeName: b.name, CurrentState: encode(t, b.object, created.state), Private: created.private,
					})).Diagnostics)
				},
				"destroy": func(s *configured) string { return s.change(t, b, created, nil).failure },
			} {
				wantReady(operation, func() string { return run(unknown) })
				began, limit = time.Now(), 0
				if said := run(s); said != "" || limit >= unlimited {
					t.Errorf("%s: its %s has no limit, or fails: call withTimeout. It says %s", b, operation, said)
				}
			}
		}
	})
}

// A destroy reads the data sources first.
func TestEachDataSourceSaysHowToDestroyWithoutIt(t *testing.T) {
	t.Parallel()
	s := configure(t, serverOn(answers{"job": "403", "update": "403"}.network(nil, nil), nil), nil)
	for _, b := range s.blocks() {
		if b.kind != "data" {
			continue
		}
		if _, result := s.run(t, b, b.arguments(t, identifying(t))); !strings.Contains(result.failure, destroyWithoutRead) {
			t.Errorf("%s: add destroyWithoutRead to the error of its read, which says %s", b, result.failure)
		}
	}
}

func TestEachTimeoutIsLongerThanItTakesToFindNothing(t *testing.T) {
	t.Parallel()
	if client.NotFoundLimit > leastTimeout/2 {
		t.Errorf("a timeout of %s may end before %s of 404 do: raise leastTimeout", leastTimeout, client.NotFoundLimit)
	}
}

// unknownProvider configures a provider with an argument that is not known, for a CLI that does not defer.
func unknownProvider(t *testing.T, argument string) *configured {
	t.Helper()
	s := configure(t, serverOn(nil, nil), nil)
	object := s.schemas.Provider.ValueType().(tftypes.Object)
	config := encode(t, object, map[string]tftypes.Value{argument: tftypes.NewValue(object.AttributeTypes[argument], tftypes.UnknownValue)})
	must(s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config}))
	return s
}

// attempt returns what a function returns, or panics with.
func attempt(run func() string) (failure string) {
	defer func() {
		if cause := recover(); cause != nil {
			failure = fmt.Sprint("panic: ", cause)
		}
	}()
	return run()
}

// Otherwise, it fails what needs it.
func TestUnknownProviderConfigurationDefersWhatNeedsItIfTheCLIAllows(t *testing.T) {
	t.Parallel()
	for _, argument := range configure(t, serverOn(nil, nil), nil).schemas.Provider.Block.Attributes {
		s, deferring := unknownProvider(t, argument.Name), configure(t, serverOn(nil, nil), map[string]any{argument.Name: tftypes.UnknownValue})
		for _, b := range s.blocks() {
			if b.kind == "provider" {
				continue
			}
			said := attempt(func() string {
				_, result := s.run(t, b, b.arguments(t, identifying(t)))
				return result.failure
			})
			want := summaryUnknownProvider + "\nThe provider must call the service now, but these arguments are not known yet: " + argument.Name + ".\n"
			if !strings.HasPrefix(said, want) || strings.Count(said, summaryUnknownProvider) != 1 || deferring.said != "" {
				t.Errorf("%s: does it call ready? With an unknown %s, it says %s%s", b, argument.Name, said, deferring.said)
			}
			if b.kind == "resource" {
				deferring.wantDeferred(t, b)
			}
		}
	}
}

// wantDeferred checks the plan of a new resource. What refers to a computed attribute of it is deferred, too, only if
// the plan has the attribute as unknown.
func (s *configured) wantDeferred(t *testing.T, b block) {
	t.Helper()
	arguments := b.arguments(t, identifying(t))
	for name := range arguments {
		arguments[name] = text(tftypes.UnknownValue)
	}
	config := encode(t, b.object, arguments)
	plan := must(s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: b.name, PriorState: encode(t, b.object, nil), ProposedNewState: config, Config: config,
		ClientCapabilities: &tfprotov6.PlanResourceChangeClientCapabilities{DeferralAllowed: true},
	}))
	if len(plan.Diagnostics) > 0 || plan.Deferred == nil || plan.Deferred.Reason != tfprotov6.DeferredReasonProviderConfigUnknown {
		t.Fatalf("%s is not deferred: %+v", b, plan)
	}
	planned := decode(t, b.object, plan.PlannedState)
	for _, attribute := range b.schema.Attributes {
		if attribute.Computed && planned[attribute.Name].IsNull() {
			t.Errorf("%s: %s is planned as null: set planWhenDeferred", b, attribute.Name)
		}
	}
}
