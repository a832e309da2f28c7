// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// faultyWire sends requests of one endpoint by a faulty transport, one or all
// until it is healed.
type faultyWire struct {
	http.RoundTripper
	faulty   http.RoundTripper
	endpoint string
	lasts    bool

	mu     sync.Mutex
	healed bool
}

func (w *faultyWire) RoundTrip(req *http.Request) (*http.Response, error) {
	if endpointOf(req) == w.endpoint && w.take() {
		return w.faulty.RoundTrip(req)
	}
	return w.RoundTripper.RoundTrip(req)
}

func (w *faultyWire) take() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := !w.healed
	w.healed = w.healed || !w.lasts
	return taken
}

func (w *faultyWire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.healed = true
}

func endpointOf(req *http.Request) string {
	switch {
	case strings.HasPrefix(req.URL.Path, "/storage/"):
		return simulator.EndpointDownload
	case strings.Contains(req.URL.Path, "/update-status/"):
		return simulator.EndpointUpdate
	case strings.HasSuffix(req.URL.Path, "/bundle"):
		return simulator.EndpointBundle
	case req.Method == http.MethodPost:
		return simulator.EndpointStart
	}
	return simulator.EndpointJob
}

// dialing is a transport that makes each of its connections by dial and uses
// it once.
func dialing(dial func(ctx context.Context) (net.Conn, error)) http.RoundTripper {
	return &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}
}

// refusingWire leads to a port that nobody listens on.
func refusingWire(t *testing.T, _ *harness) http.RoundTripper {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return dialing(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	})
}

// resettingWire makes connections that are reset before anything is written.
func resettingWire(_ *testing.T, h *harness) http.RoundTripper {
	return dialing(func(ctx context.Context) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(h.StorageURL, "http://"))
		return resetConn{conn}, err
	})
}

type resetConn struct{ net.Conn }

func (resetConn) Write([]byte) (int, error) {
	return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}
}

// sayingWire leads to a server that answers whatever it is asked with the same
// bytes, which need not be HTTP.
func sayingWire(answer string) func(*testing.T, *harness) http.RoundTripper {
	return func(*testing.T, *harness) http.RoundTripper {
		return dialing(func(context.Context) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				_, _ = io.CopyN(io.Discard, there, 1) // what the client gets to see is what matters
				go func() { _, _ = io.Copy(io.Discard, there) }()
				_, _ = io.WriteString(there, answer)
				_ = there.Close()
			}()
			return here, nil
		})
	}
}

// stallingWire lets half of an answer's body through, and then nothing for as
// long as the client waits.
func stallingWire(_ *testing.T, h *harness) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(resp.Body, resp.ContentLength/2), &stalled{h, req.Context()}), resp.Body}
		return resp, nil
	})
}

// stalled is a reader that has nothing to read until its context ends.
type stalled struct {
	*harness
	ctx context.Context
}

func (s *stalled) Read([]byte) (int, error) {
	s.clock.Advance(client.DefaultRequestTimeout)
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
