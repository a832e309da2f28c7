// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a Service on listeners of its own: one for the API and, since a
// real object store is another host, a second one for the storage.
type Server struct {
	*Service
	BaseURL    string // of the API: http://127.0.0.1:PORT/v1
	StorageURL string // of the object store: http://127.0.0.1:PORT

	api, storage *http.Server
	serving      sync.WaitGroup
	connections  atomic.Int64
	resets       atomic.Int64
}

// Listen serves a new Service on loopback until Close is called. It refuses
// any other address.
func Listen(options Options) (*Server, error) {
	address := options.ListenAddr
	if address == "" {
		address = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the address to listen on: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the address to listen on: %q is not a loopback address", address)
	}
	var listen net.ListenConfig
	api, err := listen.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	storage, err := listen.Listen(context.Background(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, errors.Join(err, api.Close())
	}
	s := &Server{
		Service:    New(options),
		BaseURL:    "http://" + api.Addr().String() + apiBase,
		StorageURL: "http://" + storage.Addr().String(),
	}
	s.store.base = s.StorageURL
	s.api = &http.Server{Handler: s.Service, ReadHeaderTimeout: time.Minute, ConnState: s.connState}
	s.storage = &http.Server{Handler: s.Service, ReadHeaderTimeout: time.Minute}
	s.serving.Go(func() { _ = s.api.Serve(api) }) // ends with ErrServerClosed
	s.serving.Go(func() { _ = s.storage.Serve(storage) })
	return s, nil
}

// Close stops listening and closes all connections.
func (s *Server) Close() error {
	err := errors.Join(s.api.Close(), s.storage.Close())
	s.serving.Wait()
	return err
}

// Connections returns how many TCP connections the API has accepted.
func (s *Server) Connections() int {
	return int(s.connections.Load())
}

// ResetConnections resets the next n connections to the API as soon as they
// are made, before a request can be read from them.
func (s *Server) ResetConnections(n int) {
	s.resets.Store(int64(n))
}

func (s *Server) connState(conn net.Conn, state http.ConnState) {
	if state != http.StateNew {
		return
	}
	s.connections.Add(1)
	if s.resets.Add(-1) >= 0 {
		resetConn(conn)
	}
}
