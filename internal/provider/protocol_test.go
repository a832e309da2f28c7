// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"bytes"
	"context"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflogtest"
)

// protocol drives the provider of a harness as Terraform does, but without
// Terraform: for tables that would take too long with it, and for what some of
// its versions cannot do. Arguments and results are plain values: string, bool,
// float64, []any, map[string]any and nil.
type protocol struct {
	*harness
	ctx     context.Context
	server  tfprotov6.ProviderServer
	schemas *tfprotov6.GetProviderSchemaResponse
	logs    *logBuffer
}

// newProtocol configures the provider by the harness's environment.
func (h *harness) newProtocol(t *testing.T) *protocol {
	t.Helper()
	return h.newProtocolWith(t, h.options(), nil)
}

// newProtocolWith configures a provider that differs from the harness's own,
// by its options or by the arguments of its configuration.
func (h *harness) newProtocolWith(t *testing.T, options Options, arguments map[string]any) *protocol {
	t.Helper()
	p := &protocol{harness: h, server: NewServer(options)(), logs: &logBuffer{}}
	p.ctx = tflogtest.RootLogger(t.Context(), p.logs)
	var err error
	if p.schemas, err = p.server.GetProviderSchema(p.ctx, &tfprotov6.GetProviderSchemaRequest{}); err != nil {
		t.Fatal(err)
	}
	configured, err := p.server.ConfigureProvider(p.ctx, &tfprotov6.ConfigureProviderRequest{
		Config: encode(t, p.schemas.Provider, arguments),
	})
	if err != nil || len(configured.Diagnostics) > 0 {
		t.Fatalf("%v %s", err, said6(configured.Diagnostics))
	}
	return p
}

// read validates and reads a data source. There is no state with an error.
func (p *protocol) read(t *testing.T, name string, arguments map[string]any) (state map[string]any, diagnostics string) {
	t.Helper()
	config := encode(t, p.schemas.DataSourceSchemas[name], arguments)
	validated, err := p.server.ValidateDataResourceConfig(p.ctx, &tfprotov6.ValidateDataResourceConfigRequest{TypeName: name, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if len(validated.Diagnostics) > 0 {
		return nil, said6(validated.Diagnostics)
	}
	resp, err := p.server.ReadDataSource(p.ctx, &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if state = decode(t, p.schemas.DataSourceSchemas[name], resp.State); hasError(resp.Diagnostics) {
		state = nil
	}
	return state, said6(resp.Diagnostics)
}

// create applies the creation of a resource.
func (p *protocol) create(ctx context.Context, t *testing.T, name string, arguments map[string]any) (state map[string]any, diagnostics string) {
	t.Helper()
	schema := p.schemas.ResourceSchemas[name]
	none, err := tfprotov6.NewDynamicValue(schema.ValueType(), tftypes.NewValue(schema.ValueType(), nil))
	if err != nil {
		t.Fatal(err)
	}
	config := encode(t, schema, arguments)
	plan, err := p.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: name, PriorState: &none, ProposedNewState: config, Config: config,
	})
	if err != nil || len(plan.Diagnostics) > 0 {
		t.Fatalf("%v %s", err, said6(plan.Diagnostics))
	}
	resp, err := p.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: name, PriorState: &none, PlannedState: plan.PlannedState, Config: config,
	})
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, schema, resp.NewState), said6(resp.Diagnostics)
}

// open opens an ephemeral resource.
func (p *protocol) open(t *testing.T, name string, arguments map[string]any) (result map[string]any, resp *tfprotov6.OpenEphemeralResourceResponse) {
	t.Helper()
	schema := p.schemas.EphemeralResourceSchemas[name]
	resp, err := p.server.OpenEphemeralResource(p.ctx, &tfprotov6.OpenEphemeralResourceRequest{TypeName: name, Config: encode(t, schema, arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, schema, resp.Result), resp
}

// invoke invokes an action and returns what it told on the way.
func (p *protocol) invoke(ctx context.Context, t *testing.T, name string, arguments map[string]any) (messages []string, diagnostics string) {
	t.Helper()
	server, ok := p.server.(tfprotov6.ActionServer)
	if !ok {
		t.Fatal("the provider's server knows no actions")
	}
	config := encode(t, p.schemas.ActionSchemas[name].Schema, arguments)
	validated, err := server.ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{ActionType: name, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if len(validated.Diagnostics) > 0 {
		return nil, said6(validated.Diagnostics)
	}
	stream, err := server.InvokeAction(ctx, &tfprotov6.InvokeActionRequest{ActionType: name, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	for event := range stream.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			messages = append(messages, event.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			return messages, said6(event.Diagnostics)
		}
	}
	t.Fatal("the action did not complete")
	return nil, ""
}

func hasError(diagnostics []*tfprotov6.Diagnostic) bool {
	return slices.ContainsFunc(diagnostics, func(d *tfprotov6.Diagnostic) bool {
		return d.Severity == tfprotov6.DiagnosticSeverityError
	})
}

// said6 is the text of diagnostics, empty if there are none.
func said6(diagnostics []*tfprotov6.Diagnostic) string {
	texts := make([]string, len(diagnostics))
	for i, d := range diagnostics {
		texts[i] = d.Severity.String() + ": " + d.Summary + "\n\n" + d.Detail
	}
	return strings.Join(texts, "\n\n")
}

func encode(t *testing.T, schema *tfprotov6.Schema, arguments map[string]any) *tfprotov6.DynamicValue {
	t.Helper()
	value, err := tfprotov6.NewDynamicValue(schema.ValueType(), typed(schema.ValueType(), arguments))
	if err != nil {
		t.Fatal(err)
	}
	return &value
}

// typed gives a plain value its type. What an object leaves out is null.
func typed(kind tftypes.Type, plain any) tftypes.Value {
	values, _ := plain.(map[string]any)
	members := map[string]tftypes.Value{}
	switch kind := kind.(type) {
	case tftypes.Object:
		if plain == nil {
			return tftypes.NewValue(kind, nil)
		}
		for name, attribute := range kind.AttributeTypes {
			members[name] = typed(attribute, values[name])
		}
		return tftypes.NewValue(kind, members)
	case tftypes.Map:
		if plain == nil {
			return tftypes.NewValue(kind, nil)
		}
		for name, value := range values {
			members[name] = typed(kind.ElementType, value)
		}
		return tftypes.NewValue(kind, members)
	default:
		return tftypes.NewValue(kind, plain)
	}
}

func decode(t *testing.T, schema *tfprotov6.Schema, encoded *tfprotov6.DynamicValue) map[string]any {
	t.Helper()
	if encoded == nil {
		return nil
	}
	value, err := encoded.Unmarshal(schema.ValueType())
	if err != nil {
		t.Fatal(err)
	}
	object, _ := untyped(t, value).(map[string]any)
	return object
}

// untyped is the reverse of typed.
func untyped(t *testing.T, value tftypes.Value) any {
	t.Helper()
	as := func(target any) {
		if err := value.As(target); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case !value.IsKnown():
		t.Fatal("a value is unknown")
	case value.IsNull():
		return nil
	case value.Type().Is(tftypes.String):
		var text string
		as(&text)
		return text
	case value.Type().Is(tftypes.Bool):
		var truth bool
		as(&truth)
		return truth
	case value.Type().Is(tftypes.Number):
		number := new(big.Float)
		as(&number)
		float, _ := number.Float64()
		return float
	case value.Type().Is(tftypes.List{}):
		var items []tftypes.Value
		as(&items)
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = untyped(t, item)
		}
		return list
	}
	var members map[string]tftypes.Value
	as(&members)
	object := map[string]any{}
	for name, member := range members {
		object[name] = untyped(t, member)
	}
	return object
}

// logBuffer collects the provider's log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
