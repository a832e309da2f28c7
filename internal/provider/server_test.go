// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The race detector finds what goes wrong once in thousands of stops.
func TestActionThatBeginsDuringAStopEndsOrIsRefused(t *testing.T) {
	t.Parallel()
	s := NewServer(Options{Version: "test"})()
	actions := s.(tfprotov6.ActionServer)
	schemas, err := s.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	configuration := &tfprotov6.ConfigureProviderRequest{Config: encode(t, schemas.Provider.ValueType().(tftypes.Object), nil)}
	for range 500 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				stream, err := actions.InvokeAction(t.Context(), &tfprotov6.InvokeActionRequest{ActionType: "unknown"})
				if err != nil {
					return
				}
				events := 0
				for range stream.Events {
					events++
				}
				if events != 1 {
					t.Errorf("%d events, want 1", events)
				}
			})
			all.Go(func() {
				if _, err := s.StopProvider(t.Context(), &tfprotov6.StopProviderRequest{}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if _, err := actions.InvokeAction(t.Context(), &tfprotov6.InvokeActionRequest{ActionType: "unknown"}); err == nil {
			t.Fatal("an action began after a stop")
		}
		if _, err := s.ConfigureProvider(t.Context(), configuration); err != nil { // of the next run
			t.Fatal(err)
		}
	}
}

func TestUnexpectedProviderDataIsReported(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		passed any
		errors int
	}{"before the provider is configured": {nil, 0}, "what Configure passes": {&providerData{}, 0}, "something else": {"text", 1}} {
		var diags diag.Diagnostics
		if data := dataFrom(test.passed, &diags); (data != nil) != (name == "what Configure passes") || diags.ErrorsCount() != test.errors {
			t.Errorf("%s: %v, %v", name, data, diags)
		}
	}
}
