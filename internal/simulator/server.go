package simulator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a Service with listeners of its own: one for the API and another
// for the built-in store, which is on another host in reality.
type Server struct {
	*Service
	BaseURL string // of the API: http://127.0.0.1:PORT/v1

	api, storage *http.Server
	serving      sync.WaitGroup
}

// Listen serves a new Service until Close is called.
func Listen(options Options) (*Server, error) {
	address := cmp.Or(options.ListenAddr, "127.0.0.1:0")
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", address, err)
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
	s := &Server{Service: New(options), BaseURL: "http://" + api.Addr().String() + apiBase}
	s.store.base = "http://" + storage.Addr().String()
	s.api = &http.Server{Handler: s.Service, ReadHeaderTimeout: time.Minute}
	s.storage = &http.Server{Handler: s.Service, ReadHeaderTimeout: time.Minute}
	s.serving.Go(func() { _ = s.api.Serve(api) }) // returns ErrServerClosed
	s.serving.Go(func() { _ = s.storage.Serve(storage) })
	return s, nil
}

// Close stops listening and closes all connections.
func (s *Server) Close() error {
	err := errors.Join(s.api.Close(), s.storage.Close())
	s.serving.Wait()
	return err
}
