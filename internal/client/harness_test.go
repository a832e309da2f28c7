package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// proxy is the proxy of the whole test binary, because net/http reads the environment once. Nothing listens there.
const proxy = "http://127.0.0.1:1"

func TestMain(m *testing.M) {
	_ = os.Setenv("HTTP_PROXY", proxy)
	_ = os.Setenv("HTTPS_PROXY", proxy)
	os.Exit(m.Run())
}

// bubble runs a test in a bubble of testing/synctest, where waiting takes no time.
var bubble = synctest.Test

// inBubbles runs a test for each row of a table in a bubble of its own.
func inBubbles[Row any](t *testing.T, rows map[string]Row, test func(*testing.T, Row)) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) { bubble(t, func(t *testing.T) { test(t, row) }) })
	}
}

// service is the other end of a client under test. It listens on connections in memory, so it works in a bubble.
type service struct {
	began  time.Time
	logged *logbook
	dial   func(context.Context) error // runs before a connection is made, and may fail it; may be nil

	mu       sync.Mutex
	dials    int
	requests []received
	conns    chan net.Conn
	closed   chan struct{}
}

// received is a request that reached the service.
type received struct {
	*http.Request
	at   time.Duration // since the service began
	body string
}

// serve returns a client for http://docs.test/v1, and the service that it reaches, by any host. Call it in a bubble.
func serve(t *testing.T, handler http.HandlerFunc) (*Client, *service) {
	t.Helper()
	s := &service{began: time.Now(), logged: &logbook{}, conns: make(chan net.Conn), closed: make(chan struct{})}
	c := newClient(t, func(config *Config) { config.Log = s.logged.add })
	c.baseURL.Scheme = "http"
	connections := 0
	count := func(ctx context.Context, _ net.Conn) context.Context {
		connections++
		return context.WithValue(ctx, connectionKey{}, connections)
	}
	server := &http.Server{Handler: s.record(handler), ErrorLog: log.New(io.Discard, "", 0), ConnContext: count}
	for _, network := range []http.RoundTripper{c.config.RoundTripper, c.fresh} {
		transport := network.(*http.Transport)
		transport.DialContext, transport.Proxy = s.connect, nil
		t.Cleanup(transport.CloseIdleConnections)
	}
	go func() { _ = server.Serve(s) }()
	t.Cleanup(func() {
		_ = server.Close()
		checkShown(t, strings.Join(s.logged.lines, "\n"))
	})
	return c, s
}

// connectionKey is the key of the number of a connection, from 1, in the context of a request
// that the service received.
type connectionKey struct{}

// newClient returns a client of https://docs.test/v1 without jitter.
func newClient(t *testing.T, options ...func(*Config)) *Client {
	t.Helper()
	config := Config{BaseURL: "https://docs.test/v1", APIKey: testKey, UserAgent: "test/1", Random: func() float64 { return 0 }}
	for _, option := range options {
		option(&config)
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bounded returns a context with a deadline.
func bounded(t *testing.T, timeout time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return ctx
}

// asError returns the error of an attempt or a call, which may be none.
func asError(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

var (
	aRead  = request{method: http.MethodGet, path: []string{"jobs", "se_1"}}
	aStart = request{method: http.MethodPost, path: []string{"jobs"}, body: []byte(`{"domain":"d"}`), once: true}
)

func (s *service) connect(ctx context.Context, _, _ string) (net.Conn, error) {
	s.mu.Lock()
	s.dials++
	s.mu.Unlock()
	if s.dial != nil {
		if err := s.dial(ctx); err != nil {
			return nil, err
		}
	}
	here, there := net.Pipe()
	select {
	case s.conns <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close, and Addr make the service a net.Listener.
func (s *service) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *service) Close() error   { close(s.closed); return nil }
func (s *service) Addr() net.Addr { return &net.TCPAddr{} }

func (s *service) record(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.requests = append(s.requests, received{r, time.Since(s.began), string(body)})
		s.mu.Unlock()
		next(w, r)
	}
}

func (s *service) received() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received{}, s.requests...)
}

// reply returns a handler that sends a response. Headers are "Name: value".
func reply(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// inTurn calls each handler once and the last one from then on.
func inTurn(handlers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		handler := handlers[0]
		handlers = handlers[min(1, len(handlers)-1):]
		mu.Unlock()
		handler(w, r)
	}
}

// verbatim writes bytes as they are and closes the connection.
func verbatim(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}
}

// reset closes the connection without a response.
func reset(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// silent never responds.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// late responds after a delay.
func late(delay time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if (clock.System{}).Sleep(r.Context(), delay) == nil {
			next(w, r)
		}
	}
}

// checkShown checks that a text holds no secret.
func checkShown(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{testKey, strings.ReplaceAll(testKey, "/", `\/`), signature} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is shown in %q", secret, text)
		}
	}
}

const (
	second = time.Second

	testKey = "docs_4f1c/9a7e2b+d60"
	// signature is in the query of each link.
	signature = "c4a1d0signature"
)

// receiving returns a client that receives one response to every request.
func receiving(t *testing.T, status int, body string) *Client {
	t.Helper()
	return exchanging(t, func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
	})
}

// exchanging returns a client whose network is a function.
func exchanging(t *testing.T, exchange roundTripper) *Client {
	t.Helper()
	return newClient(t, func(config *Config) { config.RoundTripper = exchange })
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var emptyMember = regexp.MustCompile(`"\w+":(null|""),?|,"\w+":(null|"")`)

// show returns a value as JSON without the fields that are null or empty.
func show(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err.Error()
	}
	shown := emptyMember.ReplaceAllString(strings.TrimSpace(text.String()), "")
	return strings.ReplaceAll(shown, ",}", "}")
}

// logbook collects log records, each as one line.
type logbook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logbook) add(_ context.Context, level slog.Level, message string, fields map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprint(level, " ", message, " ", fields))
}

// above returns the lines above the level of debugging.
func (l *logbook) above() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := []string{}
	for _, line := range l.lines {
		if !strings.HasPrefix(line, slog.LevelDebug.String()) {
			lines = append(lines, line)
		}
	}
	return lines
}
