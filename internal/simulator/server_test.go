// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestListenRefusesWhatIsNotLoopback(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "example.com:0", "127.0.0.1", "127.0.0.1:none"} {
		server, err := simulator.Listen(simulator.Options{ListenAddr: address})
		if err == nil {
			_ = server.Close()
			t.Errorf("Listen took the address %q", address)
		}
	}
}

func TestListenOnAnAddressThatIsTaken(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	address := strings.TrimSuffix(strings.TrimPrefix(s.BaseURL, "http://"), "/v1")
	server, err := simulator.Listen(simulator.Options{ListenAddr: address})
	if err == nil {
		_ = server.Close()
		t.Error("two servers listen on one address")
	}
}

func TestListenHasTwoHosts(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{ListenAddr: "localhost:0"})
	for _, u := range []string{s.BaseURL, s.StorageURL} {
		if !strings.HasPrefix(u, "http://127.0.0.1:") && !strings.HasPrefix(u, "http://[::1]:") {
			t.Errorf("%s is not on loopback", u)
		}
	}
	if strings.HasPrefix(s.BaseURL, s.StorageURL) {
		t.Error("API and storage are on one host")
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	path := "/static-export/jobs/" + s.doneJob()
	for range 5 {
		s.get(path)
	}
	s.get(s.StorageURL + "/storage/x")
	if got := s.Connections(); got != 1 {
		t.Errorf("%d connections for five requests in a row, want 1", got)
	}
	s.client.CloseIdleConnections()
	s.get(path)
	if got := s.Connections(); got != 2 {
		t.Errorf("%d connections, want 2", got)
	}
}

func TestResetConnections(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	path := "/static-export/jobs/" + s.doneJob()
	s.ResetConnections(2)
	for range 2 {
		if a, err := s.tryCall(http.MethodPost, path+"/bundle", "", nil); err == nil {
			t.Errorf("a reset connection answered %d", a.status)
		}
	}
	if a := s.get(path); a.status != 200 {
		t.Errorf("the third connection answered %d", a.status)
	}
	if got := s.Count(simulator.EndpointBundle); got != 0 {
		t.Errorf("%d requests came through the reset connections", got)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	server, err := simulator.Listen(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server.AddFault(simulator.Fault{Hang: true})
	ended := make(chan error)
	go func() {
		response, err := http.Get(server.BaseURL)
		if err == nil {
			_ = response.Body.Close()
		}
		ended <- err
	}()
	for server.Count(simulator.EndpointUnknown) == 0 {
		runtime.Gosched()
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("a hanging request was answered")
	}
	for _, u := range []string{server.BaseURL, server.StorageURL} {
		host := strings.TrimSuffix(strings.TrimPrefix(u, "http://"), "/v1")
		if conn, err := net.DialTimeout("tcp", host, time.Second); err == nil {
			_ = conn.Close()
			t.Errorf("%s still takes connections", u)
		}
	}
}
