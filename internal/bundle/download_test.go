// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

// store is an object store without a network. It answers with one step for each
// request; the last step answers all that follow.
type store struct {
	steps    []step
	asked    []string // the link of each request, and the range if there is one
	links    int      // given so far
	size     *int64
	failures []int // as counted at each Retry
}

type step func(r *http.Request) (*http.Response, error)

// maxFailures is how many consecutive failures the store's Retry allows.
const maxFailures = 3

func (s *store) Fetch(ctx context.Context, link string, header http.Header) (*http.Response, error) {
	asked := link
	if header.Get("Range") != "" {
		asked += " " + header.Get("Range") + " if " + header.Get("If-Range")
	}
	if s.asked = append(s.asked, asked); len(s.asked) > 100 {
		panic("the download does not end")
	}
	next := s.steps[0]
	if len(s.steps) > 1 {
		s.steps = s.steps[1:]
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	r.Header = header
	response, err := next(r)
	if err == nil {
		response.Request = r
	}
	return response, err
}

func (s *store) Retry(ctx context.Context, failures int, err error) error {
	s.failures = append(s.failures, failures)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var connection *transport.ConnectionError
	if failures < maxFailures && errors.As(err, &connection) {
		return nil
	}
	return err
}

func (s *store) link(context.Context) (Link, error) {
	s.links++
	if s.links > 1 {
		return Link{"second", s.size}, nil
	}
	return Link{"first", s.size}, nil
}

// object answers with an object, or the range that is asked for.
func object(content []byte, etag string) step {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		return w.Result(), nil
	}
}

// answer answers with a status and headers, and a body of unknown length.
func answer(status int, body []byte, header ...string) step {
	return func(*http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
		return w.Result(), nil
	}
}

// cutAfter cuts the connection after n bytes of the body.
func cutAfter(n int, next step) step {
	return func(r *http.Request) (*http.Response, error) {
		response, err := next(r)
		if err == nil {
			cut := io.MultiReader(io.LimitReader(response.Body, int64(n)), errReader{&transport.ConnectionError{Err: io.ErrUnexpectedEOF}})
			response.Body = io.NopCloser(cut)
		}
		return response, err
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// refuse answers with an error status.
func refuse(status int) step {
	return func(*http.Request) (*http.Response, error) { return nil, &transport.StorageError{StatusCode: status} }
}

const objectSize = 600_000 // more than two buffers

var objectContent, otherContent = noise(objectSize, 1), noise(objectSize, 2)

// noise returns n bytes that do not repeat.
func noise(n int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	content := make([]byte, n)
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	return content
}

func TestDownloadSucceeds(t *testing.T) {
	t.Parallel()
	whole := object(objectContent, `"v1"`)
	noRanges := answer(200, objectContent, "ETag", `"v1"`)
	resumed := `first bytes=400000- if "v1"`
	for name, tc := range map[string]struct {
		steps    []step
		asked    []string
		failures []int
		content  []byte // objectContent if nil
		unknown  bool   // the service does not announce a size
	}{
		"in one answer":                     {steps: []step{whole}, asked: []string{"first"}},
		"in one answer of unknown size":     {steps: []step{noRanges}, asked: []string{"first"}, unknown: true},
		"of nothing":                        {steps: []step{object(nil, `"v1"`)}, asked: []string{"first"}, content: []byte{}},
		"resuming after a cut":              {steps: []step{cutAfter(400_000, whole), whole}, asked: []string{"first", resumed}, failures: []int{0}},
		"after a cut before the first byte": {steps: []step{cutAfter(0, whole), whole}, asked: []string{"first", "first"}, failures: []int{0}},
		"after more cuts than retries, with progress": {
			steps: []step{cutAfter(1, whole), cutAfter(1, whole), cutAfter(1, whole), cutAfter(1, whole), cutAfter(1, whole), whole},
			asked: []string{
				"first", `first bytes=1- if "v1"`, `first bytes=2- if "v1"`, `first bytes=3- if "v1"`,
				`first bytes=4- if "v1"`, `first bytes=5- if "v1"`,
			},
			failures: []int{0, 0, 0, 0, 0},
		},
		"from the start without an ETag":        {steps: []step{cutAfter(400_000, object(objectContent, "")), whole}, asked: []string{"first", "first"}, failures: []int{0}},
		"from the start with a weak ETag":       {steps: []step{cutAfter(400_000, object(objectContent, `W/"v1"`)), whole}, asked: []string{"first", "first"}, failures: []int{0}},
		"from the start without ranges":         {steps: []step{cutAfter(400_000, noRanges), noRanges}, asked: []string{"first", resumed}, failures: []int{0}},
		"from the start if the object changed":  {steps: []step{cutAfter(400_000, whole), object(otherContent, `"v2"`)}, asked: []string{"first", resumed}, failures: []int{0}, content: otherContent},
		"from the start if the object is short": {steps: []step{cutAfter(400_000, whole), object(otherContent[:1000], `"v2"`)}, asked: []string{"first", resumed}, failures: []int{0}, content: otherContent[:1000], unknown: true},
		"again if a part is of another object": {
			steps: []step{cutAfter(400_000, whole), answer(206, otherContent[400_000:], "Content-Range", "bytes 400000-599999/600000", "ETag", `"v2"`), whole},
			asked: []string{"first", resumed, "first"}, failures: []int{0, 1},
		},
		"again after a part that is too short": {
			steps: []step{cutAfter(400_000, whole), answer(206, objectContent[400_000:400_100], "Content-Range", "bytes 400000-400099/600000", "ETag", `"v1"`), whole},
			asked: []string{"first", resumed, `first bytes=400100- if "v1"`}, failures: []int{0, 0}, unknown: true,
		},
		"again if another part comes": {
			steps: []step{cutAfter(400_000, whole), answer(206, []byte("x"), "Content-Range", "bytes 40000-40000/600000"), whole},
			asked: []string{"first", resumed, "first"}, failures: []int{0, 1},
		},
		"again if a part comes unasked": {
			steps: []step{answer(206, []byte("x"), "Content-Range", "bytes 0-0/600000"), whole},
			asked: []string{"first", "first"}, failures: []int{0}, unknown: true,
		},
		"again if there is no such part": {
			steps: []step{cutAfter(400_000, whole), answer(416, nil, "Content-Range", "bytes */1000"), whole},
			asked: []string{"first", resumed, "first"}, failures: []int{0, 1},
		},
		"with a part that does not repeat the ETag": {
			steps: []step{cutAfter(400_000, whole), answer(206, objectContent[400_000:], "Content-Range", "bytes 400000-599999/600000")},
			asked: []string{"first", resumed}, failures: []int{0},
		},
		"after an answer that ends early": {
			steps: []step{answer(200, objectContent[:1000], "ETag", `"v1"`), whole},
			asked: []string{"first", `first bytes=1000- if "v1"`}, failures: []int{0},
		},
		"with a new link for an expired one": {steps: []step{refuse(403), whole}, asked: []string{"first", "second"}},
		"with a new link if the first expires halfway": {
			steps: []step{cutAfter(400_000, whole), refuse(404), cutAfter(100_000, whole), whole},
			asked: []string{"first", resumed, `second bytes=400000- if "v1"`, `second bytes=500000- if "v1"`}, failures: []int{0, 0},
		},
		"with a new link that does not count as a failure": {
			steps: []step{cutAfter(0, whole), cutAfter(0, whole), refuse(404), cutAfter(0, whole), whole},
			asked: []string{"first", "first", "first", "second", "second"}, failures: []int{0, 1, 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := tc.content
			if want == nil {
				want = objectContent
			}
			s, size := &store{steps: tc.steps}, int64(len(want))
			if !tc.unknown {
				s.size = &size
			}
			file, err := os.Create(filepath.Join(t.TempDir(), "bundle"))
			must(t, err)
			checksum, got, err := download(t.Context(), s, file, s.link)
			must(t, err)
			must(t, file.Close())
			if checksum != sumOf(want) || got != size {
				t.Errorf("it has checksum %s and %d bytes, want %s and %d", checksum, got, sumOf(want), size)
			}
			if content, err := os.ReadFile(file.Name()); err != nil || !bytes.Equal(content, want) {
				t.Errorf("the file has %d bytes, which are not the object's; error %v", len(content), err)
			}
			if !slices.Equal(s.asked, tc.asked) || !slices.Equal(s.failures, tc.failures) {
				t.Errorf("requests %q after failures %v, want %q after %v", s.asked, s.failures, tc.asked, tc.failures)
			}
		})
	}
}

func TestDownloadFails(t *testing.T) {
	t.Parallel()
	whole := object(objectContent, `"v1"`)
	for name, tc := range map[string]struct {
		steps []step
		size  int64 // objectSize if zero
		asked int
		err   string
	}{
		"if a new link is refused as well":           {[]step{refuse(403)}, 0, 2, "403"},
		"if a new link cannot help":                  {[]step{refuse(405)}, 0, 1, "405"},
		"if there is no progress":                    {[]step{cutAfter(1000, whole), cutAfter(0, whole)}, 0, 4, "unexpected EOF"},
		"if the same first half comes again":         {[]step{cutAfter(300_000, answer(200, objectContent))}, 0, 4, "unexpected EOF"},
		"if the answer always ends early":            {[]step{answer(200, objectContent[:1000])}, 0, 4, "the bundle was cut off after 1000 of 600000 bytes"},
		"if the parts are always wrong":              {[]step{answer(206, []byte("x"))}, 0, 4, "did not send the requested part"},
		"before the body if its length is wrong":     {[]step{cutAfter(0, whole)}, objectSize + 1, 1, "the bundle has 600000 bytes, but the service announced 600001"},
		"if the answer is empty":                     {[]step{object(nil, `"v1"`)}, 0, 1, "the bundle has 0 bytes, but the service announced 600000"},
		"if an answer of unknown length is too long": {[]step{answer(200, slices.Repeat(objectContent, 20))}, 0, 1, "but the service announced 600000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.size == 0 {
				tc.size = objectSize
			}
			s := &store{steps: tc.steps, size: &tc.size}
			target := Target{Path: filepath.Join(t.TempDir(), "bundle")}
			_, err := Stage(t.Context(), s, target, Request{Link: s.link})
			if err == nil || !strings.Contains(err.Error(), tc.err) || len(s.asked) != tc.asked {
				t.Errorf("error %v after %d requests, want %q after %d", err, len(s.asked), tc.err, tc.asked)
			}
			if left := listing(t, filepath.Dir(target.Path)); len(left) > 0 {
				t.Errorf("it left %q", left)
			}
		})
	}
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &store{steps: []step{func(r *http.Request) (*http.Response, error) {
		cancel(cause)
		return cutAfter(1000, object(objectContent, `"v1"`))(r)
	}}}
	target := Target{Path: filepath.Join(t.TempDir(), "bundle")}
	if _, err := Stage(ctx, s, target, Request{Link: s.link}); !errors.Is(err, cause) || len(s.asked) != 1 {
		t.Errorf("error %v after %d requests, want %v after 1", err, len(s.asked), cause)
	}
}

func TestDownloadReturnsTheErrorsOfItsLinks(t *testing.T) {
	t.Parallel()
	failure := errors.New("no link")
	for name, failing := range map[string]int{"the first": 0, "the second": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &store{steps: []step{refuse(403)}}
			link := func(ctx context.Context) (Link, error) {
				if s.links == failing {
					return Link{}, failure
				}
				return s.link(ctx)
			}
			if _, err := Stage(t.Context(), s, Target{Path: filepath.Join(t.TempDir(), "bundle")}, Request{Link: link}); !errors.Is(err, failure) {
				t.Errorf("error %v, want %v", err, failure)
			}
		})
	}
}

func sumOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }
