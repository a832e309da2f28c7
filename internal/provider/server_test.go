package provider

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"google.golang.org/grpc"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Without the last event, Terraform takes the action for a success: see NewServer. An action needs a while to end.
func TestErrorOfAnInterruptedActionIsSent(t *testing.T) {
	t.Parallel()
	network := roundTrip(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		<-time.After(time.Second)
		return nil, context.Cause(req.Context())
	})
	for name, sent := range map[string]bool{"this server": true, "the framework's server": false} {
		synctest.Test(t, func(t *testing.T) {
			server := serverOn(network, nil).(*drainingServer)
			invoked := &invokedServer{server, configure(t, server, nil).invocation(t)}
			if !sent {
				invoked.frameworkServer = server.frameworkServer
			}
			served, events := tf6server.New("docs", invoked, tf6server.WithLoggingSink(t)), make(chan string)
			go func() { events <- eventsOf(t, served.InvokeAction) }()
			synctest.Wait()
			if _, err := served.StopProvider(t.Context(), nil); err != nil {
				t.Error(err)
			}
			if said := <-events; strings.Contains(said, summaryUpdateInterrupted) != sent {
				t.Errorf("%s sends %q; want the error: %t", name, said, sent)
			}
		})
	}
}

// invokedServer replaces a request to run an action, whose type terraform-plugin-go does not export.
type invokedServer struct {
	frameworkServer
	request *tfprotov6.InvokeActionRequest
}

func (s *invokedServer) InvokeAction(
	ctx context.Context, _ *tfprotov6.InvokeActionRequest,
) (*tfprotov6.InvokeActionServerStream, error) {
	return s.frameworkServer.InvokeAction(ctx, s.request)
}

// eventsOf calls InvokeAction of a server of terraform-plugin-go, and returns the events that it sends to Terraform.
func eventsOf[Request, Event any](
	t *testing.T, invoke func(*Request, grpc.ServerStreamingServer[Event]) error,
) string {
	events := &sentEvents[Event]{ctx: t.Context()}
	if err := invoke(new(Request), events); err != nil {
		t.Error(err)
	}
	return events.text
}

type sentEvents[Event any] struct {
	grpc.ServerStreamingServer[Event]
	ctx  context.Context
	text string
}

func (s *sentEvents[Event]) Context() context.Context { return s.ctx }

func (s *sentEvents[Event]) Send(event *Event) error {
	s.text += fmt.Sprintln(event)
	return nil
}

// serverOn returns a provider that uses a network, and a clock unless that is nil.
func serverOn(network http.RoundTripper, clock clock.Clock) tfprotov6.ProviderServer {
	return NewServer(Options{
		Version: "test", Getenv: environment("https://docs.test/v1"), Clock: clock,
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
		s := configure(t, serverOn(answers{"update": `{"status":"queued"}`}.network(nil, nil), nil), nil)
		stream, err := s.ProviderServer.(tfprotov6.ActionServer).InvokeAction(t.Context(), s.invocation(t))
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
