// Package walk walks through the life of the provider's resources at random, in a
// simulation: a small Terraform (core_test.go) speaks protocol 6 to the provider, whose
// network leads to the simulated service (world_test.go). Time is virtual, and everything
// follows from one seed. After each step, the walk checks what the documentation promises.
package walk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

// core is a Terraform working directory with its state. It follows Terraform 1.12, in
// which resources have identities.
type core struct {
	mu     sync.Mutex
	state  map[string]object
	stored map[string]bool // by address: the command changed the state
}

// object is a resource in the state.
type object struct {
	value    tftypes.Value
	private  []byte // nil if the provider was killed while it updated the resource
	identity *tfprotov6.ResourceIdentityData
	tainted  bool
}

func (o object) text(name string) string { return text(attributes(o.value)[name]) }

// process is a provider server that was launched for one command.
type process struct {
	tfprotov6.ProviderServer
	ctx     context.Context
	kill    context.CancelFunc // nothing that the process does afterwards has an effect
	stopped atomic.Bool
	between bool // what Terraform does between the two parts of a replacement fails
}

// stop interrupts the command.
func (p *process) stop() {
	p.stopped.Store(true)
	_, _ = p.StopProvider(p.ctx, &tfprotov6.StopProviderRequest{})
}

func (p *process) killed() bool { return p.ctx.Err() != nil }

// block is an export in the configuration. In a plan, values may be unknown.
type block struct {
	address          string
	planned, applied tftypes.Value
}

// kind is the type of all resources.
const kind = "docs_static_export"

// said is a diagnostic.
type said struct {
	address string
	failed  bool   // it is an error
	broken  bool   // the provider broke Terraform's rules
	plan    bool   // a plan said it
	text    string // summary and detail
}

type action string

const (
	noop    action = "no-op"
	create  action = "create"
	update  action = "update"
	replace action = "replace"
	destroy action = "destroy"
)

// change is what a plan says about a resource.
type change struct {
	block
	action   action
	before   object // as refreshed; its value is null if there is none
	after    tftypes.Value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// plan is what a plan says.
type plan struct {
	changes   map[string]change
	refreshed map[string]object
	said      []said
}

// schema is that of a resource, or of the provider.
type schema struct {
	attributes []*tfprotov6.SchemaAttribute
	valueType  tftypes.Type
}

// schemas are those of the resources. The provider's has no name.
var schemas = sync.OnceValue(func() map[string]schema {
	server := provider.NewServer(provider.Options{})()
	got := must(server.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{}))
	got.ResourceSchemas[""] = got.Provider
	all := map[string]schema{}
	for name, s := range got.ResourceSchemas {
		all[name] = schema{s.Block.Attributes, s.ValueType()}
	}
	return all
})

func typeOf(kind string) tftypes.Type { return schemas()[kind].valueType }

func null() tftypes.Value { return tftypes.NewValue(typeOf(kind), nil) }

func attributes(v tftypes.Value) map[string]tftypes.Value {
	var values map[string]tftypes.Value
	if v.IsKnown() && !v.IsNull() {
		_ = v.As(&values) // of an object
	}
	return maps.Clone(values)
}

// text returns a string, or "" if the value is null or unknown.
func text(v tftypes.Value) string {
	var s string
	if v.Type() != nil && v.Type().Is(tftypes.String) && v.IsKnown() && !v.IsNull() {
		_ = v.As(&s)
	}
	return s
}

// must returns the response of a call of the protocol, which never fails.
func must[T any](response T, err error) T {
	if err != nil {
		panic(err)
	}
	return response
}

func encode(kind string, v tftypes.Value) *tfprotov6.DynamicValue {
	return new(must(tfprotov6.NewDynamicValue(typeOf(kind), v)))
}

func decode(kind string, v *tfprotov6.DynamicValue) tftypes.Value {
	return must(v.Unmarshal(typeOf(kind)))
}

// node is one resource in one command.
type node struct {
	block
	p        *process
	said     []said
	planning bool
}

func (n *node) failed() bool { return failure(n.said) }

// hear takes the diagnostics of a call, and reports whether none is an error.
func (n *node) hear(diags []*tfprotov6.Diagnostic) bool {
	for _, d := range diags {
		n.said = append(n.said, said{n.address, d.Severity == tfprotov6.DiagnosticSeverityError, false, n.planning, d.Summary + "\n" + d.Detail})
	}
	return !n.failed()
}

func (n *node) broken(format string, args ...any) bool {
	n.said = append(n.said, said{n.address, true, true, false, fmt.Sprintf(format, args...)})
	return false
}

// each runs a command's work for all blocks at the same time. Two that acted at the same instant would not be
// repeatable.
func each(p *process, blocks []block, do func(*node)) (all []said) {
	nodes := make([]*node, len(blocks))
	var running sync.WaitGroup
	for i, b := range blocks {
		nodes[i] = &node{block: b, p: p}
		running.Go(func() {
			defer func() {
				if problem := recover(); problem != nil {
					nodes[i].broken("panic: %v", problem)
				}
			}()
			pause(p.ctx, time.Duration(i)*137*time.Microsecond)
			do(nodes[i])
		})
	}
	running.Wait()
	for _, n := range nodes {
		all = append(all, n.said...)
	}
	return all
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// plan refreshes, if it is asked to, and plans.
func (c *core) plan(p *process, blocks []block, refresh bool, replaced string) *plan {
	result := &plan{changes: map[string]change{}, refreshed: maps.Clone(c.state)}
	var mu sync.Mutex
	result.said = each(p, blocks, func(n *node) {
		mu.Lock()
		prior, found := result.refreshed[n.address]
		mu.Unlock()
		if !found {
			prior.value = null()
		} else if refresh {
			prior = n.refresh(prior)
		}
		if n.failed() {
			return
		}
		planned := n.plan(prior, n.planned, replaced == n.address, nil)
		mu.Lock()
		defer mu.Unlock()
		if found {
			result.refreshed[n.address] = prior
		}
		if !n.failed() {
			result.changes[n.address] = planned
		}
	})
	return result
}

// refresh reads a resource.
func (n *node) refresh(prior object) object {
	n.planning = true
	defer func() { n.planning = false }()
	resp := must(n.p.ReadResource(n.p.ctx, &tfprotov6.ReadResourceRequest{
		TypeName: kind, CurrentState: encode(kind, prior.value), Private: prior.private, CurrentIdentity: prior.identity,
	}))
	if !n.hear(resp.Diagnostics) {
		return prior
	}
	prior.value, prior.private, prior.identity = decode(kind, resp.NewState), resp.Private, resp.NewIdentity
	if !prior.value.IsFullyKnown() {
		n.broken("the refreshed state has unknown values")
	}
	return prior
}

// plan plans a change. In an apply, earlier is the change as it was planned before.
func (n *node) plan(prior object, config tftypes.Value, forced bool, earlier *change) change {
	n.planning = true
	defer func() { n.planning = false }()
	none := null()
	result := change{block: n.block, before: prior}
	if prior.tainted || prior.value.IsNull() {
		prior = object{value: none}
	}
	valid := must(n.p.ValidateResourceConfig(n.p.ctx, &tfprotov6.ValidateResourceConfigRequest{TypeName: kind, Config: encode(kind, config)}))
	if !n.hear(valid.Diagnostics) {
		return result
	}
	propose := func(prior object) *tfprotov6.PlanResourceChangeResponse {
		proposed, before := attributes(config), attributes(prior.value)
		for _, a := range schemas()[kind].attributes {
			if old, found := before[a.Name]; found && a.Computed && proposed[a.Name].IsNull() {
				proposed[a.Name] = old
			}
		}
		resp := must(n.p.PlanResourceChange(n.p.ctx, &tfprotov6.PlanResourceChangeRequest{
			TypeName: kind, PriorState: encode(kind, prior.value), ProposedNewState: encode(kind, tftypes.NewValue(typeOf(kind), proposed)),
			Config: encode(kind, config), PriorPrivate: prior.private, PriorIdentity: prior.identity,
		}))
		result.after, result.private, result.identity = decode(kind, resp.PlannedState), resp.PlannedPrivate, resp.PlannedIdentity
		return resp
	}
	resp := propose(prior)
	if !n.hear(resp.Diagnostics) {
		return result
	}
	n.checkPlan(prior.value, config, result.after)
	for _, path := range resp.RequiresReplace {
		name := string(path.Steps()[0].(tftypes.AttributeName))
		forced = forced || !attributes(prior.value)[name].Equal(attributes(result.after)[name])
	}
	switch {
	case prior.value.IsNull():
		result.action = create
	case forced:
		result.action = replace
		// Terraform drops the warnings of the second plan.
		if !n.hear(errorsOf(propose(object{value: none, private: result.private}).Diagnostics)) {
			return result
		}
	case prior.value.Equal(result.after):
		result.action = noop
	default:
		result.action = update
	}
	if result.before.tainted || earlier != nil && earlier.action == replace && result.action == create {
		result.action = replace
	}
	if earlier != nil {
		if result.action != earlier.action && (earlier.action != update || result.action != noop) {
			n.broken("inconsistent final plan: %s after %s", result.action, earlier.action)
		}
		n.compatible("inconsistent final plan", earlier.after, result.after)
	}
	return result
}

func errorsOf(diags []*tfprotov6.Diagnostic) []*tfprotov6.Diagnostic {
	return slices.DeleteFunc(slices.Clone(diags), func(d *tfprotov6.Diagnostic) bool { return d.Severity != tfprotov6.DiagnosticSeverityError })
}

// checkPlan checks that a plan is one that the configuration allows.
func (n *node) checkPlan(prior, config, planned tftypes.Value) {
	old, wanted, now := attributes(prior), attributes(config), attributes(planned)
	for _, a := range schemas()[kind].attributes {
		got, want := now[a.Name], wanted[a.Name]
		kept := !want.IsNull() && old != nil && got.Equal(old[a.Name])
		if !got.Equal(want) && !kept && (!a.Computed || !want.IsNull()) {
			n.broken("invalid plan: %s is neither as configured nor as before", a.Name)
		}
	}
}

// compatible checks that every value that was known is still the same.
func (n *node) compatible(problem string, before, after tftypes.Value) {
	differences, err := before.Diff(after)
	if err != nil {
		n.broken("%s: %v", problem, err)
	}
	for _, d := range differences {
		unknown := d.Value1 == nil
		// The object that contains an unknown value differs, too.
		if !unknown && d.Value1.IsFullyKnown() {
			n.broken("%s: %s", problem, d.Path)
		}
	}
}

// apply applies a plan: it plans each change again, with values that are known by now. It
// reports what it changed, or may have changed.
func (c *core) apply(p *process, planned *plan) (all []said) {
	c.mu.Lock()
	c.state = maps.Clone(planned.refreshed)
	c.mu.Unlock()
	blocks := []block{}
	for _, address := range slices.Sorted(maps.Keys(planned.changes)) {
		blocks = append(blocks, planned.changes[address].block)
	}
	return each(p, blocks, func(n *node) {
		change := planned.changes[n.address]
		c.mu.Lock()
		prior, found := c.state[n.address]
		c.mu.Unlock()
		if !found {
			prior.value = null()
		}
		if change.action == noop || p.stopped.Load() || p.killed() {
			return
		}
		if change.action == destroy || change.action == replace {
			if prior = c.change(n, planChange(change, prior), null(), prior); n.failed() || change.action == destroy || p.killed() || p.stopped.Load() {
				return
			}
			if p.between {
				n.said = append(n.said, said{"between", true, false, false, "a resource that the export depends on failed"})
				return
			}
		}
		again := n.plan(prior, n.applied, false, &change)
		if n.failed() || again.action == noop {
			return
		}
		c.change(n, again, n.applied, prior)
	})
}

// planChange is the destruction that a replacement begins with. That of a tainted resource
// gets no private state.
func planChange(c change, prior object) change {
	if prior.tainted && c.action == replace {
		prior.private = nil
	}
	return change{block: c.block, action: destroy, before: prior, after: null(), private: prior.private, identity: prior.identity}
}

// change makes the provider change a resource, and stores the result.
func (c *core) change(n *node, planned change, config tftypes.Value, prior object) object {
	resp, err := n.p.ApplyResourceChange(n.p.ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: kind, PriorState: encode(kind, prior.value), PlannedState: encode(kind, planned.after), Config: encode(kind, config),
		PlannedPrivate: planned.private, PlannedIdentity: planned.identity,
	})
	if err != nil || n.p.killed() { // nobody received the result
		if planned.action == update {
			prior.private = nil
			c.mu.Lock()
			defer c.mu.Unlock()
			c.state[n.address] = prior
		}
		return prior
	}
	succeeded := n.hear(resp.Diagnostics)
	result := object{value: decode(kind, resp.NewState), private: resp.Private, identity: resp.NewIdentity, tainted: prior.tainted}
	if !result.value.IsFullyKnown() {
		n.broken("the result of the apply has unknown values")
	}
	if succeeded {
		n.compatible("inconsistent result after apply", planned.after, result.value)
		result.tainted = false
		if result.value.IsNull() != (planned.action == destroy) {
			n.broken("the apply returned a null object, or none where it should")
		}
	} else if planned.action == create || planned.action == replace {
		result.tainted = true
	}
	if n.failed() && result.value.IsNull() {
		return prior
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored[n.address] = true
	if c.state[n.address] = result; result.value.IsNull() {
		delete(c.state, n.address)
	}
	return result
}

// destroy destroys everything in the state.
func (c *core) destroy(p *process, blocks []block) []said {
	planned := &plan{changes: map[string]change{}, refreshed: maps.Clone(c.state)}
	for _, b := range blocks {
		if prior, found := c.state[b.address]; found {
			planned.changes[b.address] = planChange(change{block: b}, prior)
		}
	}
	return c.apply(p, planned)
}

// importState imports a resource by ID.
func (c *core) importState(p *process, b block, id string) []said {
	return each(p, []block{b}, func(n *node) {
		resp := must(p.ImportResourceState(p.ctx, &tfprotov6.ImportResourceStateRequest{TypeName: kind, ID: id}))
		if !n.hear(resp.Diagnostics) {
			return
		}
		got := resp.ImportedResources[0]
		imported := n.refresh(object{value: decode(kind, got.State), private: got.Private, identity: got.Identity})
		if n.failed() {
			return
		}
		c.state[n.address] = imported
	})
}
