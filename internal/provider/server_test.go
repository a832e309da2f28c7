package provider

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// Without this, an interrupted action may count as successful: see NewServer.
func TestProviderStopsOnlyAfterTheErrorOfAnInterruptedActionIsRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read := make(chan struct{}, 1000)
		network := answers{"update": `{"status":"queued"}`}.network(nil, nil)
		s := configure(t, serverOn(roundTrip(func(req *http.Request) (*http.Response, error) {
			read <- struct{}{}
			return network.RoundTrip(req)
		})), nil)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			<-read
			if _, err := s.StopProvider(context.Background(), &tfprotov6.StopProviderRequest{}); err != nil {
				t.Error(err)
			}
		}()
		_, said := s.invoke(t, func() {
			synctest.Wait()
			select {
			case <-stopped:
				t.Error("StopProvider returned before the last event was read")
			default:
			}
		})
		wantPhrases(t, said, "Interrupted while waiting for the update\nTerraform was interrupted.\n")
		<-stopped
	})
}

// serverOn returns a provider that uses a network.
func serverOn(network http.RoundTripper) tfprotov6.ProviderServer {
	environment := map[string]string{baseURLVariable: "https://docs.test/v1", apiKeyVariable: simulator.DefaultAPIKey}
	return NewServer(Options{
		Version: "test", Getenv: func(name string) string { return environment[name] },
		Client: func(config *client.Config) { config.RoundTripper = network },
	})()
}

// The framework's server implements every part of the protocol, and plugin-go looks for each.
func TestServerHidesNothingOfTheFrameworks(t *testing.T) {
	t.Parallel()
	inner, outer := reflect.TypeOf(providerserver.NewProtocol6(New(Options{})())()), reflect.TypeFor[*drainingServer]()
	for i := range inner.NumMethod() {
		if _, found := outer.MethodByName(inner.Method(i).Name); !found {
			t.Errorf("%s is hidden", inner.Method(i).Name)
		}
	}
}

func TestProviderStopsInTimeAlthoughNobodyReadsTheEventsOfAnAction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := configure(t, serverOn(answers{"update": `{"status":"queued"}`}.network(nil, nil)), nil)
		config := encode(t, s.schemas.ActionSchemas[awaitUpdate].Schema.ValueType().(tftypes.Object), map[string]tftypes.Value{"status_id": tftypes.NewValue(tftypes.String, "upd_1")})
		stream, err := s.ProviderServer.(tfprotov6.ActionServer).InvokeAction(t.Context(), &tfprotov6.InvokeActionRequest{ActionType: awaitUpdate, Config: config})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := s.StopProvider(ctx, &tfprotov6.StopProviderRequest{}); err != nil || ctx.Err() == nil {
			t.Errorf("StopProvider did not wait for its context, error %v", err)
		}
		for range stream.Events { // lets the goroutine end that waits for them
		}
	})
}

// The race detector finds what goes wrong once in thousands of stops.
func TestActionThatBeginsDuringAStopEndsOrIsRefused(t *testing.T) {
	t.Parallel()
	s := NewServer(Options{Version: "test"})()
	actions := s.(tfprotov6.ActionServer)
	invoke := func() (begun bool) {
		stream, err := actions.InvokeAction(t.Context(), &tfprotov6.InvokeActionRequest{ActionType: "unknown"})
		if err != nil {
			return false
		}
		events := 0
		for range stream.Events {
			events++
		}
		if events != 1 {
			t.Errorf("%d events, want 1", events)
		}
		return true
	}
	for range 500 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { invoke() })
			all.Go(func() {
				if _, err := s.StopProvider(t.Context(), &tfprotov6.StopProviderRequest{}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if invoke() {
			t.Fatal("an action began after a stop")
		}
		configure(t, s, nil)
		if !invoke() { // a provider that is debugged serves many runs
			t.Fatal("no action began in the next run")
		}
	}
}
