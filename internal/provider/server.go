// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the constructor of the provider's plugin protocol 6 server.
//
// It is the framework's server, except that StopProvider returns only after running
// actions have sent their last event. Without that, an interrupted action appears to
// succeed: once StopProvider has returned, InvokeAction of terraform-plugin-go ends the
// stream without the remaining events, and Terraform treats a stream without a
// completed event as a success. To reproduce it, interrupt an action whose Invoke
// waits for its context to end and then adds an error, served by providerserver.
func NewServer(options Options) func() tfprotov6.ProviderServer {
	newProvider := New(options)
	return func() tfprotov6.ProviderServer {
		return newServer(providerserver.NewProtocol6(newProvider())().(frameworkServer))
	}
}

// frameworkServer is all that the framework's server implements.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
	tfprotov6.ListResourceServer
	tfprotov6.StateStoreServer
}

type server struct {
	frameworkServer

	mu      sync.Mutex
	running int        // actions
	change  *sync.Cond // of what StopProvider waits for
	// stopping ends when the provider stops, also for an action that the framework does
	// not know yet. stop ends it.
	stopping context.Context
	stop     context.CancelFunc
}

func newServer(inner frameworkServer) *server {
	s := &server{frameworkServer: inner}
	s.change = sync.NewCond(&s.mu)
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// InvokeAction counts the action as running until its last event has been read.
func (s *server) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.running++
	forget := context.AfterFunc(s.stopping, cancel)
	s.mu.Unlock()
	end := func() {
		forget()
		cancel()
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
		s.changed()
	}
	stream, err := s.frameworkServer.InvokeAction(ctx, req)
	if err != nil {
		end()
		return nil, err
	}
	events := stream.Events
	stream.Events = func(yield func(tfprotov6.InvokeActionEvent) bool) {
		defer end()
		events(yield)
	}
	return stream, nil
}

// StopProvider cancels running operations, and waits until running actions or ctx end.
func (s *server) StopProvider(ctx context.Context, req *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	resp, err := s.frameworkServer.StopProvider(ctx, req)
	defer context.AfterFunc(ctx, s.changed)()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	for s.running > 0 && ctx.Err() == nil {
		s.change.Wait()
	}
	s.stopping, s.stop = context.WithCancel(context.Background()) // a debugger's provider outlives its stop
	return resp, err
}

// changed wakes StopProvider.
func (s *server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change.Broadcast()
}
