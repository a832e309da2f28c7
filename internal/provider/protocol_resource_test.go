// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// instance is a resource instance from run to run, as Terraform's state has it.
type instance struct {
	*protocol
	name     string        // of its type
	state    tftypes.Value // null: there is none
	private  []byte
	identity *tfprotov6.ResourceIdentityData
	// tainted is what Terraform makes of an instance whose creation failed. It
	// would be replaced; a test that goes on with it has untainted it.
	tainted bool
}

func (p *protocol) newInstance(name string) *instance {
	return &instance{protocol: p, name: name, state: tftypes.NewValue(p.schemas.ResourceSchemas[name].ValueType(), nil)}
}

// exists reports whether the state holds the instance.
func (i *instance) exists() bool { return !i.state.IsNull() }

// attributes are those in the state, nil if there is none.
func (i *instance) attributes(t *testing.T) map[string]any {
	t.Helper()
	attributes, _ := untyped(t, i.state).(map[string]any)
	return attributes
}

// plan is what Terraform would show of an instance before it applies it.
type plan struct {
	config, planned tftypes.Value
	private         []byte
	identity        *tfprotov6.ResourceIdentityData
	replace, failed bool
}

// empty reports whether there is nothing to do.
func (p *plan) empty(i *instance) bool { return p.planned.Equal(i.state) }

// plan plans the instance for a configuration, without refreshing it.
func (i *instance) plan(t *testing.T, arguments map[string]any) (*plan, string) {
	t.Helper()
	planned := &plan{config: typed(i.kind(), arguments)}
	config := i.encoded(t, planned.config)
	validated, err := i.server.ValidateResourceConfig(i.ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: i.name, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if failed(validated.Diagnostics) {
		planned.failed = true
		return planned, said6(validated.Diagnostics)
	}
	resp, err := i.server.PlanResourceChange(i.ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName:         i.name,
		PriorState:       i.encoded(t, i.state),
		ProposedNewState: i.encoded(t, i.proposed(t, planned.config)),
		Config:           config,
		PriorPrivate:     i.private,
		PriorIdentity:    i.identity,
	})
	if err != nil {
		t.Fatal(err)
	}
	planned.private, planned.identity, planned.replace = resp.PlannedPrivate, resp.PlannedIdentity, len(resp.RequiresReplace) > 0
	planned.planned, planned.failed = i.decoded(t, resp.PlannedState), failed(resp.Diagnostics)
	return planned, said6(resp.Diagnostics)
}

// proposed merges the configuration with what the state has of computed
// attributes, as Terraform does before it asks for a plan.
func (i *instance) proposed(t *testing.T, config tftypes.Value) tftypes.Value {
	t.Helper()
	if !i.exists() {
		return config
	}
	members, prior := i.members(t, config), i.members(t, i.state)
	for _, attribute := range i.schemas.ResourceSchemas[i.name].Block.Attributes {
		if attribute.Computed && members[attribute.Name].IsNull() {
			members[attribute.Name] = prior[attribute.Name]
		}
	}
	return tftypes.NewValue(i.kind(), members)
}

// apply plans and applies a configuration. It fails the test where Terraform
// would call the result inconsistent with the plan.
func (i *instance) apply(t *testing.T, arguments map[string]any) string {
	t.Helper()
	planned, said := i.plan(t, arguments)
	if planned.failed || planned.empty(i) {
		return said
	}
	return said + i.applyPlan(t, planned)
}

func (i *instance) applyPlan(t *testing.T, planned *plan) string {
	t.Helper()
	if planned.replace || i.tainted {
		t.Fatal("the instance would be replaced")
	}
	creates := !i.exists()
	resp, err := i.server.ApplyResourceChange(i.ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName:        i.name,
		PriorState:      i.encoded(t, i.state),
		PlannedState:    i.encoded(t, planned.planned),
		Config:          i.encoded(t, planned.config),
		PlannedPrivate:  planned.private,
		PlannedIdentity: planned.identity,
	})
	if err != nil {
		t.Fatal(err)
	}
	i.state, i.private, i.identity = i.decoded(t, resp.NewState), resp.Private, resp.NewIdentity
	if !i.state.IsFullyKnown() {
		t.Errorf("the new state has unknown values: %s", i.state)
	}
	if failed(resp.Diagnostics) {
		i.tainted = creates && i.exists()
	} else {
		i.wantConsistent(t, planned.planned)
	}
	return said6(resp.Diagnostics)
}

// wantConsistent checks that whatever the plan knew came true.
func (i *instance) wantConsistent(t *testing.T, planned tftypes.Value) {
	t.Helper()
	got := i.members(t, i.state)
	for name, want := range i.members(t, planned) {
		if want.IsFullyKnown() && !want.Equal(got[name]) {
			t.Errorf("inconsistent result after apply: %s is %s, but %s was planned", name, got[name], want)
		}
	}
}

// refresh reads the instance, which leaves the state if it is gone.
func (i *instance) refresh(t *testing.T) string {
	t.Helper()
	resp, err := i.server.ReadResource(i.ctx, &tfprotov6.ReadResourceRequest{
		TypeName: i.name, CurrentState: i.encoded(t, i.state), Private: i.private, CurrentIdentity: i.identity,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !failed(resp.Diagnostics) {
		i.state, i.private, i.identity = i.decoded(t, resp.NewState), resp.Private, resp.NewIdentity
	}
	return said6(resp.Diagnostics)
}

// destroy plans and applies the end of the instance.
func (i *instance) destroy(t *testing.T) string {
	t.Helper()
	none := i.encoded(t, tftypes.NewValue(i.kind(), nil))
	planned, err := i.server.PlanResourceChange(i.ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: i.name, PriorState: i.encoded(t, i.state), ProposedNewState: none, Config: none,
		PriorPrivate: i.private, PriorIdentity: i.identity,
	})
	if err != nil {
		t.Fatal(err)
	}
	if failed(planned.Diagnostics) {
		return said6(planned.Diagnostics)
	}
	resp, err := i.server.ApplyResourceChange(i.ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: i.name, PriorState: i.encoded(t, i.state), PlannedState: none, Config: none, PlannedPrivate: planned.PlannedPrivate,
	})
	if err != nil {
		t.Fatal(err)
	}
	i.state, i.private, i.identity, i.tainted = i.decoded(t, resp.NewState), resp.Private, nil, false
	return said6(resp.Diagnostics)
}

// importID imports the instance and refreshes it, as "terraform import" does.
func (i *instance) importID(t *testing.T, id string) string {
	t.Helper()
	resp, err := i.server.ImportResourceState(i.ctx, &tfprotov6.ImportResourceStateRequest{TypeName: i.name, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if failed(resp.Diagnostics) {
		return said6(resp.Diagnostics)
	}
	imported := resp.ImportedResources[0]
	i.state, i.private, i.identity = i.decoded(t, imported.State), imported.Private, imported.Identity
	return said6(resp.Diagnostics) + i.refresh(t)
}

func failed(diagnostics []*tfprotov6.Diagnostic) bool {
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return true
		}
	}
	return false
}

func (i *instance) kind() tftypes.Type { return i.schemas.ResourceSchemas[i.name].ValueType() }

func (i *instance) encoded(t *testing.T, value tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	encoded, err := tfprotov6.NewDynamicValue(i.kind(), value)
	if err != nil {
		t.Fatal(err)
	}
	return &encoded
}

func (i *instance) decoded(t *testing.T, encoded *tfprotov6.DynamicValue) tftypes.Value {
	t.Helper()
	if encoded == nil {
		return tftypes.NewValue(i.kind(), nil)
	}
	value, err := encoded.Unmarshal(i.kind())
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func (i *instance) members(t *testing.T, value tftypes.Value) map[string]tftypes.Value {
	t.Helper()
	members := map[string]tftypes.Value{}
	if err := value.As(&members); err != nil {
		t.Fatal(err)
	}
	return members
}
