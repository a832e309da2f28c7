// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the constructor of what serves the provider over plugin
// protocol 6.
//
// It is the framework's server, but it stops only after the actions that run
// have told how they ended. Once it has stopped, terraform-plugin-go sends
// nothing more of an action, not even its error, and Terraform takes silence for
// success: an action that was interrupted would count as done.
func NewServer(options Options) func() tfprotov6.ProviderServer {
	newProvider := New(options)
	return func() tfprotov6.ProviderServer {
		inner := providerserver.NewProtocol6(newProvider())()
		actions, _ := inner.(tfprotov6.ActionServer)
		return &server{ProviderServer: inner, ActionServer: actions}
	}
}

type server struct {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
	// running is held for reading by each action that runs.
	running sync.RWMutex
}

// InvokeAction counts the action as running until its last event was taken.
// Who calls it has to take the events of the stream.
func (s *server) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	s.running.RLock()
	stream, err := s.ActionServer.InvokeAction(ctx, req)
	if err != nil {
		s.running.RUnlock()
		return nil, err
	}
	events := stream.Events
	stream.Events = func(yield func(tfprotov6.InvokeActionEvent) bool) {
		defer s.running.RUnlock()
		events(yield)
	}
	return stream, nil
}

// StopProvider ends what runs, and waits for the actions among it.
func (s *server) StopProvider(ctx context.Context, req *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	resp, err := s.ProviderServer.StopProvider(ctx, req)
	s.running.Lock()
	defer s.running.Unlock()
	return resp, err
}
