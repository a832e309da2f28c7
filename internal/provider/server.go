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
		return &server{frameworkServer: providerserver.NewProtocol6(newProvider())().(frameworkServer)}
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

	// mu lets a stop find each action that has begun registered by the framework.
	mu      sync.Mutex
	running sync.WaitGroup // actions whose last event has not been read
}

// InvokeAction counts the action as running until its last event has been read.
func (s *server) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, err := s.frameworkServer.InvokeAction(ctx, req)
	if err != nil {
		return nil, err
	}
	s.running.Add(1)
	events := stream.Events
	stream.Events = func(yield func(tfprotov6.InvokeActionEvent) bool) {
		defer s.running.Done()
		events(yield)
	}
	return stream, nil
}

// StopProvider cancels running operations, and waits until running actions or ctx end.
func (s *server) StopProvider(ctx context.Context, req *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	s.mu.Lock()
	resp, err := s.frameworkServer.StopProvider(ctx, req)
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return resp, err
}
