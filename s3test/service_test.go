// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package s3test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const linkLifetime = 15 * time.Minute

// service is a simulated service whose bundles are in a gateway. It does not
// say when its links expire, so that the links have to.
//
// The links name a server on loopback that passes everything on to the gateway
// unchanged. It keeps a log of what comes by a link, and lets it go wrong.
type service struct {
	*simulator.Server
	t *testing.T
	// clock is that of the service and dates the links. The gateway's is the wall
	// clock.
	clock   *simulator.VirtualClock
	gateway *gateway
	front   *httptest.Server
	bucket  string
	storage *Storage

	mu     sync.Mutex
	faults []fault
	log    []string
}

// fault is what happens to one request that comes by a link.
type fault struct {
	// before, unless nil, runs before the gateway sees the request, and may
	// change it.
	before func(s *service, r *http.Request)
	// cutAfter, unless zero, cuts the connection after so many bytes of the body.
	cutAfter int
}

// newService starts a service whose clock is behind. The faults are for its first
// requests by a link, in their order.
func newService(t *testing.T, g *gateway, behind time.Duration, faults ...fault) *service {
	t.Helper()
	s := &service{
		t:       t,
		clock:   simulator.NewVirtualClock(time.Now().Add(-behind)),
		gateway: g,
		bucket:  "bundles-" + strings.ToLower(rand.Text()),
		faults:  faults,
	}
	target := &url.URL{Scheme: "http", Host: "gateway"}
	s.front = httptest.NewServer(s.handler(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // the signature is over it
		},
		Transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return g.dial(ctx) },
			DisableCompression: true,
		},
	}))
	t.Cleanup(s.front.Close)
	s.storage = s.open(s.clock.Now)
	if err := s.storage.CreateBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	s.Server, err = simulator.Listen(simulator.Options{
		Clock:        s.clock,
		Queue:        -1,
		Run:          -1,
		Pages:        100,
		LinkLifetime: linkLifetime,
		ExpiresAt:    func(time.Time) any { return simulator.Omit },
		Storage:      s.storage,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// open returns the service's storage, with links dated by another clock.
func (s *service) open(now func() time.Time) *Storage {
	return New(Options{
		Endpoint: s.front.URL, Bucket: s.bucket,
		AccessKeyID: s.gateway.accessKeyID, SecretAccessKey: s.gateway.secretAccessKey,
		Now: now,
	})
}

func (s *service) handler(gateway http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("X-Amz-Signature") {
			gateway.ServeHTTP(w, r) // by the SDK
			return
		}
		asked := strings.TrimSpace(r.Method + " " + r.Header.Get("Range"))
		noted := &notingWriter{ResponseWriter: w, note: func(status int) { s.note(fmt.Sprint(asked, ": ", status)) }}
		// S3 takes one credential alone. The gateway would not mind.
		if r.Header.Get("Authorization") != "" {
			http.Error(noted, "<Error><Code>InvalidArgument</Code></Error>", http.StatusBadRequest)
			return
		}
		f := s.nextFault()
		if f.before != nil {
			f.before(s, r)
		}
		noted.cutAfter = f.cutAfter
		gateway.ServeHTTP(noted, r)
	})
}

func (s *service) nextFault() (f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		f, s.faults = s.faults[0], s.faults[1:]
	}
	return f
}

func (s *service) note(exchange string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, exchange)
}

// wantAsked checks what came by links, as in "GET bytes=100-: 206", and forgets
// it.
func (s *service) wantAsked(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.log, want) {
		t.Errorf("the object store was asked %q, want %q", s.log, want)
	}
	s.log = nil
}

// notingWriter tells the status of an answer before it is sent, and cuts the
// connection in the middle.
type notingWriter struct {
	http.ResponseWriter
	note     func(status int)
	cutAfter int
}

func (w *notingWriter) WriteHeader(status int) {
	w.note(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *notingWriter) Write(p []byte) (int, error) {
	if w.cutAfter == 0 {
		return w.ResponseWriter.Write(p)
	}
	n, err := w.ResponseWriter.Write(p[:min(w.cutAfter, len(p))])
	if w.cutAfter -= n; w.cutAfter == 0 {
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// expire makes the link one that was signed too long ago.
func expire(s *service, r *http.Request) {
	then := s.clock.Now().Add(-2 * linkLifetime)
	link, err := s.open(func() time.Time { return then }).Link(r.Context(), s.objectName(r.URL), linkLifetime)
	if err != nil {
		s.t.Error(err)
	}
	_, r.URL.RawQuery, _ = strings.Cut(link, "?")
}

// replace puts other content in the place of the bundle.
func replace(content []byte) func(*service, *http.Request) {
	return func(s *service, r *http.Request) {
		if err := s.storage.Put(r.Context(), s.objectName(r.URL), content); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *service) objectName(link *url.URL) string {
	return strings.TrimPrefix(link.Path, "/"+s.bucket+"/")
}

// send sends a request, and returns the status and
// the body of the answer.
func (s *service) send(t *testing.T, method, link string, header http.Header) (status int, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header.Clone()
	resp, err := s.front.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}
