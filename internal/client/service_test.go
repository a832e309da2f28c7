// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const (
	testKey = "docs_4f1c9a7e2b8d60"
	// marked stands in whatever no text may show.
	marked = "marked-as-secret"
)

// network is one of pipes, so that a real transport and a real server can talk
// inside a bubble of synctest, in virtual time.
type network struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once

	mu    sync.Mutex
	dials int
	// fault, if set, gets the number of a dial, from 1; its error fails it.
	fault func(dial int) error
	// wrap, if set, changes the client's end of a connection.
	wrap func(net.Conn) net.Conn
}

func newNetwork() *network {
	return &network{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	n.dials++
	dial := n.dials
	n.mu.Unlock()
	if n.fault != nil {
		if err := n.fault(dial); err != nil {
			return nil, err
		}
	}
	here, there := net.Pipe()
	select {
	case n.accepted <- there:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if n.wrap != nil {
		here = n.wrap(here)
	}
	return here, nil
}

func (n *network) dialed() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.accepted:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// received is a request as the service got it.
type received struct {
	proto  string
	method string
	host   string
	path   string // escaped
	header http.Header
	body   string
	after  time.Duration // since the service began
}

// service is the other side of a client under test.
type service struct {
	*network
	transport *http.Transport
	tls       *tls.Config // nil: plain HTTP
	log       *logbook
	began     time.Time

	mu       sync.Mutex
	requests []received
}

// option changes the configuration of the client or the transport before use.
type option func(*Config, *service)

func retries(n int) option {
	return func(config *Config, _ *service) { config.MaxRetries = &n }
}

// failingDials fails the first dials with the errors given.
func failingDials(errs ...error) option {
	return func(_ *Config, s *service) {
		s.fault = func(dial int) error {
			if dial <= len(errs) {
				return errs[dial-1]
			}
			return nil
		}
	}
}

// serve returns a client and the service that it talks to. Call it inside a
// bubble. When the test ends it checks that no timer is left over and that
// nothing secret was logged.
func serve(t *testing.T, handler http.HandlerFunc, options ...option) (*Client, *service) {
	t.Helper()
	transport, err := newTransport(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{network: newNetwork(), transport: transport, log: &logbook{}, began: time.Now()}
	transport.Proxy = nil
	transport.DialContext = s.dial
	clock := &timerClock{}
	config := Config{
		BaseURL:    "http://localhost/v1",
		APIKey:     testKey,
		UserAgent:  "test/1",
		HTTPClient: &http.Client{Transport: transport},
		Clock:      clock,
		Logger:     s.log,
		Random:     func() float64 { return 0 },
	}
	for _, change := range options {
		change(&config, s)
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s.record(handler), ErrorLog: log.New(io.Discard, "", 0)}
	if server.TLSConfig = s.tls; s.tls == nil {
		go func() { _ = server.Serve(s.network) }()
	} else {
		go func() { _ = server.ServeTLS(s.network, "", "") }()
	}
	t.Cleanup(func() {
		c.api.CloseIdleConnections()
		c.once.CloseIdleConnections()
		_ = server.Close()
		synctest.Wait()
		if left := clock.running(); left > 0 {
			t.Errorf("%d timers were left over", left)
		}
		s.log.checkSecrets(t)
	})
	return c, s
}

func (s *service) record(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, received{
			proto: r.Proto, method: r.Method, host: r.Host, path: r.URL.EscapedPath(), header: r.Header, body: string(body), after: time.Since(s.began),
		})
		s.mu.Unlock()
		next(w, r)
	})
}

func (s *service) got() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.requests...)
}

// times are when the requests came, since the service began.
func (s *service) times() []time.Duration {
	var times []time.Duration
	for _, request := range s.got() {
		times = append(times, request.after)
	}
	return times
}

// reply is a handler that always says the same. Headers are "Name: value".
func reply(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			w.Header().Add(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// inTurn answers with one handler after the other, and with the last one for good.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		handler := handlers[0]
		if len(handlers) > 1 {
			handlers = handlers[1:]
		}
		mu.Unlock()
		handler(w, r)
	}
}

// verbatim writes an answer as it stands and closes the connection.
func verbatim(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
}

// cut202 sends the head of an answer with a longer body than follows.
func cut202(body string) http.HandlerFunc {
	return verbatim(fmt.Sprintf("HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body)+100, body))
}

// reset closes the connection instead of answering.
func reset(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// silence never answers.
func silence(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// after answers late.
func after(d time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if (systemClock{}).Sleep(r.Context(), d) == nil {
			next(w, r)
		}
	}
}

// logbook keeps what the client logs.
type logbook struct {
	mu    sync.Mutex
	lines []line
}

type line struct {
	level, message string
	fields         map[string]any
}

func (l *logbook) add(level, message string, fields map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line{level, message, fields})
}

func (l *logbook) Debug(_ context.Context, message string, fields map[string]any) {
	l.add("debug", message, fields)
}

func (l *logbook) Info(_ context.Context, message string, fields map[string]any) {
	l.add("info", message, fields)
}

func (l *logbook) Warn(_ context.Context, message string, fields map[string]any) {
	l.add("warn", message, fields)
}

// at returns the lines of a level.
func (l *logbook) at(level string) []line {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []line
	for _, line := range l.lines {
		if line.level == level {
			lines = append(lines, line)
		}
	}
	return lines
}

func (l *logbook) checkSecrets(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		checkShown(t, fmt.Sprintf("%s %v", line.message, line.fields))
	}
}

// checkShown checks a text that a user may read.
func checkShown(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{testKey, marked} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is shown in %q", secret, text)
		}
	}
}

// timerClock is the bubble's clock, and counts the timers that run.
type timerClock struct {
	systemClock
	mu     sync.Mutex
	timers int
}

func (c *timerClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.count(1)
	stop := c.systemClock.AfterFunc(d, func() { c.count(-1); f() })
	return func() bool {
		stopped := stop()
		if stopped {
			c.count(-1)
		}
		return stopped
	}
}

func (c *timerClock) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers += n
}

func (c *timerClock) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timers
}
