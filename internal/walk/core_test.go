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

// core is a Terraform working directory. It follows Terraform 1.12, in which resources have identities.
type core struct {
	state map[string]object // by address; a command replaces the map, and does not change it
}

// object is a resource in the state.
type object struct {
	value    tftypes.Value // null if there is none
	private  []byte        // nil if the provider was killed while it updated the resource
	identity *tfprotov6.ResourceIdentityData
	tainted  bool
}

func (o object) exists() bool { return !o.value.IsNull() }

// text returns a string, or "" if the attribute is null or unknown.
func (o object) text(name string) (text string) {
	_ = attributes(o.value)[name].As(&text)
	return text
}

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

// said is a diagnostic.
type said struct {
	address string
	failed  bool   // it is an error
	broken  bool   // the provider broke Terraform's rules
	text    string // summary and detail
}

func failure(all []said) bool { return slices.ContainsFunc(all, func(s said) bool { return s.failed }) }

type action string

const (
	noop    action = "no-op"
	create  action = "create"
	update  action = "update"
	replace action = "replace"
	destroy action = "destroy"
)

// change is a resource in the configuration, and what a plan says about it.
type change struct {
	address string
	config  tftypes.Value // in the plan, where values may be unknown
	known   tftypes.Value // the configuration in the apply
	forced  bool          // with -replace

	action   action
	before   object // as refreshed
	after    tftypes.Value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
}

// plan is what a plan says.
type plan struct {
	changes   []change
	refreshed map[string]object
	said      []said
}

// kind is the type of all resources.
const kind = "docs_static_export"

var (
	schema = must(provider.NewServer(provider.Options{})().
		GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})).ResourceSchemas[kind]
	schemaType = schema.ValueType()
	null       = tftypes.NewValue(schemaType, nil)
)

// attributes returns those of an object, which may be null.
func attributes(v tftypes.Value) map[string]tftypes.Value {
	var values map[string]tftypes.Value
	_ = v.As(&values)
	return maps.Clone(values)
}

// must returns the response of a call of the protocol, which never fails.
func must[T any](response T, err error) T {
	if err != nil {
		panic(err)
	}
	return response
}

func encode(v tftypes.Value) *tfprotov6.DynamicValue {
	return new(must(tfprotov6.NewDynamicValue(schemaType, v)))
}

func decode(v *tfprotov6.DynamicValue) tftypes.Value { return must(v.Unmarshal(schemaType)) }

// node is one resource in one command.
type node struct {
	change
	object // as it is now
	p      *process
	said   []said
}

func (n *node) failed() bool { return failure(n.said) }

// halted reports whether Terraform does no more.
func (n *node) halted() bool { return n.failed() || n.p.stopped.Load() || n.p.killed() }

// hear takes the diagnostics of a call, and reports whether none is an error.
func (n *node) hear(diags []*tfprotov6.Diagnostic) bool {
	for _, d := range diags {
		failed := d.Severity == tfprotov6.DiagnosticSeverityError
		n.said = append(n.said, said{n.address, failed, false, d.Summary + "\n" + d.Detail})
	}
	return !n.failed()
}

func (n *node) broken(format string, args ...any) {
	n.said = append(n.said, said{n.address, true, true, fmt.Sprintf(format, args...)})
}

// each runs a command's work for all resources at the same time, and stores the results. Two that acted at the same
// instant would not be repeatable.
func (c *core) each(p *process, changes []change, do func(*node)) (all []said) {
	var nodes []*node
	var running sync.WaitGroup
	for i, planned := range changes {
		n := &node{change: planned, object: object{value: null}, p: p}
		if stored, found := c.state[n.address]; found {
			n.object = stored
		}
		nodes = append(nodes, n)
		running.Go(func() {
			defer func() {
				if problem := recover(); problem != nil {
					n.broken("panic: %v", problem)
				}
			}()
			pause(p.ctx, time.Duration(i)*137*time.Microsecond)
			do(n)
		})
	}
	running.Wait()
	state := maps.Clone(c.state)
	for i, n := range nodes {
		changes[i] = n.change
		all = append(all, n.said...)
		if state[n.address] = n.object; !n.exists() {
			delete(state, n.address)
		}
	}
	c.state = state
	return all
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// plan refreshes, if it is asked to, and plans the changes.
func (c *core) plan(p *process, changes []change, refresh bool) *plan {
	refreshed := &core{c.state}
	all := refreshed.each(p, changes, func(n *node) {
		if n.exists() && refresh {
			n.refresh()
		}
		if !n.failed() {
			n.change = n.plan(n.config)
		}
	})
	return &plan{changes, refreshed.state, all}
}

// refresh reads a resource.
func (n *node) refresh() {
	resp := must(n.p.ReadResource(n.p.ctx, &tfprotov6.ReadResourceRequest{
		TypeName: kind, CurrentState: encode(n.value), Private: n.object.private, CurrentIdentity: n.object.identity,
	}))
	if !n.hear(resp.Diagnostics) {
		return
	}
	n.object = object{decode(resp.NewState), resp.Private, resp.NewIdentity, n.tainted}
	if !n.exists() || !n.value.IsFullyKnown() {
		n.broken("the refresh removed the resource, or left values unknown")
	}
}

// plan plans a change. Terraform withholds a tainted resource from the provider.
func (n *node) plan(config tftypes.Value) change {
	result, prior := n.change, n.object
	if result.before = prior; prior.tainted {
		prior = object{value: null}
	}
	propose := func(prior object) *tfprotov6.PlanResourceChangeResponse {
		proposed, before := attributes(config), attributes(prior.value)
		for _, a := range schema.Block.Attributes {
			if old, found := before[a.Name]; found && a.Computed && proposed[a.Name].IsNull() {
				proposed[a.Name] = old
			}
		}
		resp := must(n.p.PlanResourceChange(n.p.ctx, &tfprotov6.PlanResourceChangeRequest{
			TypeName: kind, PriorState: encode(prior.value), ProposedNewState: encode(tftypes.NewValue(schemaType, proposed)),
			Config: encode(config), PriorPrivate: prior.private, PriorIdentity: prior.identity,
		}))
		result.after, result.private, result.identity = decode(resp.PlannedState), resp.PlannedPrivate, resp.PlannedIdentity
		return resp
	}
	if !n.hear(propose(prior).Diagnostics) {
		return result
	}
	n.checkPlan(prior.value, config, result.after)
	switch {
	case n.tainted:
		result.action = replace
	case !prior.exists():
		result.action = create
	case n.forced:
		result.action = replace
		again := propose(object{value: null, private: result.private})
		n.hear(slices.DeleteFunc(again.Diagnostics, func(d *tfprotov6.Diagnostic) bool {
			return d.Severity != tfprotov6.DiagnosticSeverityError // Terraform drops the warnings
		}))
	case prior.value.Equal(result.after):
		result.action = noop
	default:
		result.action = update
	}
	return result
}

// checkPlan checks that a plan is one that the configuration allows.
func (n *node) checkPlan(prior, config, planned tftypes.Value) {
	old, wanted, now := attributes(prior), attributes(config), attributes(planned)
	for _, a := range schema.Block.Attributes {
		got, want := now[a.Name], wanted[a.Name]
		kept := !want.IsNull() && got.Equal(old[a.Name])
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
	for _, d := range differences { // the object that contains an unknown value differs, too
		if d.Value1 != nil && d.Value1.IsFullyKnown() {
			n.broken("%s: %s", problem, d.Path)
		}
	}
}

// apply applies a plan: it plans each change again, with values that are known by now.
func (c *core) apply(p *process, planned *plan) []said {
	c.state = planned.refreshed
	return c.each(p, planned.changes, func(n *node) {
		if n.action == noop || n.halted() {
			return
		}
		if n.action == destroy || n.action == replace {
			gone := change{action: destroy, after: null, private: n.object.private, identity: n.object.identity}
			if n.tainted && n.action == replace {
				gone.private = nil
			}
			if n.execute(gone, null); n.action == destroy || n.halted() {
				return
			}
			if p.between {
				n.said = append(n.said, said{"between", true, false, "a resource that the export depends on failed"})
				return
			}
		}
		again := n.plan(n.known)
		if n.failed() {
			return
		}
		if n.action == replace && again.action == create {
			again.action = replace
		}
		if again.action != n.action && (n.action != update || again.action != noop) {
			n.broken("inconsistent final plan: %s after %s", again.action, n.action)
		}
		n.compatible("inconsistent final plan", n.after, again.after)
		if !n.failed() && again.action != noop {
			n.execute(again, n.known)
		}
	})
}

// execute makes the provider change a resource.
func (n *node) execute(planned change, config tftypes.Value) {
	resp, err := n.p.ApplyResourceChange(n.p.ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: kind, PriorState: encode(n.value), PlannedState: encode(planned.after), Config: encode(config),
		PlannedPrivate: planned.private, PlannedIdentity: planned.identity,
	})
	if err != nil || n.p.killed() { // nobody received the result
		if planned.action == update {
			n.object.private = nil
		}
		return
	}
	succeeded := n.hear(resp.Diagnostics)
	result := object{decode(resp.NewState), resp.Private, resp.NewIdentity, n.tainted}
	if !result.value.IsFullyKnown() {
		n.broken("the result of the apply has unknown values")
	}
	if succeeded {
		n.compatible("inconsistent result after apply", planned.after, result.value)
		result.tainted = false
		if result.exists() == (planned.action == destroy) {
			n.broken("the apply returned a null object, or none where it should")
		}
	} else if planned.action == create || planned.action == replace {
		result.tainted = true
	}
	if !n.failed() || result.exists() {
		n.object = result
	}
}

// destroy destroys everything in the state.
func (c *core) destroy(p *process, changes []change) []said {
	for i, planned := range changes {
		if changes[i].action = noop; c.state[planned.address].exists() {
			changes[i].action = destroy
		}
	}
	return c.apply(p, &plan{changes: changes, refreshed: c.state})
}

// importState imports a resource by ID.
func (c *core) importState(p *process, into change, id string) []said {
	return c.each(p, []change{into}, func(n *node) {
		resp := must(p.ImportResourceState(p.ctx, &tfprotov6.ImportResourceStateRequest{TypeName: kind, ID: id}))
		if !n.hear(resp.Diagnostics) {
			return
		}
		got := resp.ImportedResources[0]
		n.object = object{value: decode(got.State), private: got.Private, identity: got.Identity}
		if n.refresh(); n.failed() {
			n.object = object{value: null}
		}
	})
}
