package provider

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// NewServer returns the constructor of the provider's plugin protocol 6 server.
//
// It is the framework's server, except that StopProvider returns only after running actions have sent their last
// event. Without that, an interrupted action appears to succeed: once StopProvider has returned, InvokeAction in
// tfprotov6/tf6server/server.go of terraform-plugin-go v0.31.0 ends the stream without the remaining events, and
// Terraform treats a stream without a completed event as a success. Once TestErrorOfAnInterruptedActionIsSent fails for
// the framework's server, drainingServer can be removed.
func NewServer(options Options) func() tfprotov6.ProviderServer {
	newProvider := New(options)
	return func() tfprotov6.ProviderServer {
		inner := providerserver.NewProtocol6(newProvider())().(frameworkServer)
		return &drainingServer{frameworkServer: inner, running: &sync.WaitGroup{}}
	}
}

// frameworkServer is all that the framework's server implements.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
	tfprotov6.ListResourceServer
	tfprotov6.StateStoreServer
}

type drainingServer struct {
	frameworkServer

	// mu ensures that StopProvider sees every action that InvokeAction has registered.
	mu      sync.Mutex
	stopped bool            // until the provider is configured for another run
	running *sync.WaitGroup // actions of this run whose last event has not been read
}

// ConfigureProvider begins a run, in which actions may begin again.
func (s *drainingServer) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	s.mu.Lock()
	if s.stopped {
		s.stopped, s.running = false, &sync.WaitGroup{}
	}
	s.mu.Unlock()
	return s.frameworkServer.ConfigureProvider(ctx, req)
}

// InvokeAction counts the action as running until its last event has been read. After a stop, no action begins:
// nothing would cancel it.
func (s *drainingServer) InvokeAction(
	ctx context.Context, req *tfprotov6.InvokeActionRequest,
) (*tfprotov6.InvokeActionServerStream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, errors.New("the action did not run, because the run was interrupted: run Terraform again")
	}
	stream, err := s.frameworkServer.InvokeAction(ctx, req)
	if err != nil {
		return nil, err
	}
	running, events := s.running, stream.Events
	running.Add(1)
	stream.Events = func(yield func(tfprotov6.InvokeActionEvent) bool) {
		defer running.Done()
		events(yield)
	}
	return stream, nil
}

// StopProvider cancels running operations, and waits until running actions or ctx end.
func (s *drainingServer) StopProvider(
	ctx context.Context, req *tfprotov6.StopProviderRequest,
) (*tfprotov6.StopProviderResponse, error) {
	s.mu.Lock()
	s.stopped = true
	running := s.running
	resp, err := s.frameworkServer.StopProvider(ctx, req)
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return resp, err
}
