// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// storage is an object store that answers as it is told, one step for each
// request; the last step answers all that follow.
type storage struct {
	*httptest.Server
	clock *simulator.VirtualClock

	mu       sync.Mutex
	steps    []storageStep
	requests []*http.Request
}

type storageStep func(s *storage, w http.ResponseWriter, r *http.Request)

func newStorage(t *testing.T, steps ...storageStep) *storage {
	t.Helper()
	s := &storage{steps: steps, clock: simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *storage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	step := s.steps[0]
	if len(s.steps) > 1 {
		s.steps = s.steps[1:]
	}
	s.requests = append(s.requests, r.Clone(context.Background()))
	s.mu.Unlock()
	w.Header()["Date"] = nil // the wall clock's
	step(s, w, r)
}

// asked tells of each request which bytes it asked for, and by which link.
func (s *storage) asked() (ranges []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		asked := r.URL.Path
		if r.Header.Get("Range") != "" {
			asked += " " + r.Header.Get("Range") + " if " + r.Header.Get("If-Range")
		}
		ranges = append(ranges, asked)
	}
	return ranges
}

// object answers with an object, or the range that is asked for.
func object(content []byte, etag string) storageStep {
	return func(_ *storage, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// noRanges answers with an object, whatever range is asked for.
func noRanges(content []byte) storageStep {
	return func(_ *storage, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content)
	}
}

// unsized answers with an object whose length it does not say.
func unsized(content []byte) storageStep {
	return func(_ *storage, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.(http.Flusher).Flush()
		_, _ = w.Write(content)
	}
}

// cutAfter cuts the connection after n bytes of the body.
func cutAfter(n int, step storageStep) storageStep {
	return func(s *storage, w http.ResponseWriter, r *http.Request) {
		step(s, &endingWriter{w, n, func() { panic(http.ErrAbortHandler) }}, r)
	}
}

// stallAfter sends nothing more after n bytes of the body, until the client
// has left.
func stallAfter(n int, step storageStep) storageStep {
	return func(s *storage, w http.ResponseWriter, r *http.Request) {
		step(s, &endingWriter{w, n, func() { s.hang(r) }}, r)
	}
}

func stall(s *storage, _ http.ResponseWriter, r *http.Request) { s.hang(r) }

// hang lets time go by until the client has left. It does not know when the
// client begins to wait, so it goes on.
func (s *storage) hang(r *http.Request) {
	for {
		select {
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		case <-time.After(time.Millisecond):
			s.clock.Advance(time.Second)
		}
	}
}

// endingWriter ends the answer after left bytes of the body.
type endingWriter struct {
	http.ResponseWriter
	left int
	end  func()
}

func (w *endingWriter) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w *endingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:min(w.left, len(p))])
	w.left -= n
	w.Flush()
	if err == nil && w.left == 0 {
		w.end()
	}
	return n, err
}

func answer(status int, body string, header ...string) storageStep {
	return func(_ *storage, w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// mark is in the query of every link, and so must be in no error and no log.
const mark = "c4a1d0secret"

// download runs DownloadBundle with links /first and /second to the store.
type download struct {
	store   *storage
	client  *Client
	request DownloadRequest
	renewed int
	logged  *logLines
}

func newDownload(t *testing.T, store *storage, size *int64) *download {
	t.Helper()
	d := &download{store: store, logged: &logLines{}}
	retries := 3
	var err error
	d.client, err = New(Config{
		BaseURL: "https://api.example/v1", APIKey: "test_0123456789", UserAgent: "test/1",
		HTTPClient: store.Client(), Clock: store.clock, Logger: d.logged, MaxRetries: &retries,
		Random: func() float64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.request.Path = filepath.Join(t.TempDir(), "out", "bundle.tar.gz")
	d.request.Link = func(_ context.Context, renew bool) (*Bundle, error) {
		name := "/first"
		if renew {
			d.renewed++
			name = "/second"
		}
		link := strings.Replace(store.URL, "://", "://user:"+mark+"@", 1) + name + "?X-Amz-Signature=" + mark + "&other=" + mark
		return &Bundle{URL: link, SizeBytes: size}, nil
	}
	return d
}

// run downloads, and checks what holds of every download: nothing is left
// beside the file, no secret is told, and the object store gets no credential
// but the link.
func (d *download) run(t *testing.T) (*Download, error) {
	t.Helper()
	result, err := d.client.DownloadBundle(t.Context(), d.request)
	d.checkFiles(t, err == nil)
	if err != nil && strings.Contains(err.Error(), mark) {
		t.Errorf("the error tells the link: %s", err)
	}
	if text := d.logged.String(); strings.Contains(text, mark) {
		t.Errorf("the log tells the link: %s", text)
	}
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	for _, r := range d.store.requests {
		for _, name := range []string{"Authorization", "Cookie", "Referer"} {
			if r.Header.Get(name) != "" {
				t.Errorf("the object store got %s: %s", name, r.Header.Get(name))
			}
		}
		if r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("User-Agent") != "test/1" {
			t.Errorf("the object store got the headers %v", r.Header)
		}
	}
	return result, err
}

func (d *download) checkFiles(t *testing.T, made bool) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(d.request.Path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 1 || len(entries) == 0 && made || len(entries) == 1 && entries[0].Name() != filepath.Base(d.request.Path) {
		t.Errorf("the directory holds %v", entries)
	}
}

// logLines keeps what is logged.
type logLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logLines) add(_ context.Context, message string, fields map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, message, fields)
}

func (l *logLines) Debug(ctx context.Context, m string, f map[string]any) { l.add(ctx, m, f) }
func (l *logLines) Info(ctx context.Context, m string, f map[string]any)  { l.add(ctx, m, f) }
func (l *logLines) Warn(ctx context.Context, m string, f map[string]any)  { l.add(ctx, m, f) }

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// noise returns n bytes that do not repeat.
func noise(n int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	content := make([]byte, n)
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	return content
}
