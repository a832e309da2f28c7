// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package s3test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

var bundleContent, otherContent = noise(600_000, 1), noise(600_000, 2)

// noise returns n bytes that do not repeat.
func noise(n int, seed byte) []byte {
	content := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(content) // never fails
	return content
}

func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func TestDownloadSucceeds(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	for name, tc := range map[string]struct {
		behind  time.Duration // of the service's clock, until a link is renewed
		faults  []fault
		asked   []string
		links   int
		content []byte // bundleContent if nil
	}{
		"in one answer": {
			asked: []string{"GET: 200"},
			links: 1,
		},
		"after cuts, from there on": {
			faults: []fault{{cutAfter: 400_000}, {cutAfter: 100_000}},
			asked:  []string{"GET: 200", "GET bytes=400000-: 206", "GET bytes=500000-: 206"},
			links:  1,
		},
		// The gateway does not heed If-Range, where S3 would answer 200.
		"anew where the bundle was replaced on the way": {
			faults:  []fault{{cutAfter: 400_000}, {before: replace(otherContent)}},
			asked:   []string{"GET: 200", "GET bytes=400000-: 206", "GET: 200"},
			links:   1,
			content: otherContent,
		},
		"with a new link for an expired one": {
			behind: time.Hour,
			asked:  []string{"GET: 403", "GET: 200"},
			links:  2,
		},
		"with a new link where the first expires on the way": {
			faults: []fault{{cutAfter: 400_000}, {before: expire}},
			asked:  []string{"GET: 200", "GET bytes=400000-: 403", "GET bytes=400000-: 206"},
			links:  2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := tc.content
			if want == nil {
				want = bundleContent
			}
			s := newService(t, g, tc.behind, tc.faults...)
			d := newDownload(t, s)
			d.request.SHA256 = checksum(want)
			d.renewing = func() { s.clock.Advance(tc.behind) }
			result, err := d.run(t)
			if err != nil {
				t.Fatal(err)
			}
			if *result != (client.Download{SHA256: checksum(want), SizeBytes: int64(len(want))}) {
				t.Errorf("the result is %+v", *result)
			}
			if got, err := os.ReadFile(d.request.Path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the file has %d bytes, which are not the bundle's; error %v", len(got), err)
			}
			s.wantAsked(t, tc.asked...)
			if links := s.Count(simulator.EndpointBundle); links != tc.links {
				t.Errorf("%d links were made, want %d", links, tc.links)
			}
		})
	}
}

func TestDownloadFails(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	for name, tc := range map[string]struct {
		behind time.Duration
		sha256 string
		change func(link *url.URL)
		want   string // in the error
		asked  []string
		links  int
	}{
		"where the checksum is another": {
			sha256: checksum(otherContent),
			want:   "checksum is " + checksum(bundleContent),
			asked:  []string{"GET: 200"},
			links:  1,
		},
		"where the new link has expired too": {
			behind: time.Hour,
			want:   "HTTP 403 Forbidden: AccessDenied: Request has expired",
			asked:  []string{"GET: 403", "GET: 403"},
			links:  2,
		},
		"where the signature is wrong": {
			change: func(link *url.URL) { link.RawQuery += "&more=1" },
			want:   "HTTP 403 Forbidden: SignatureDoesNotMatch: ",
			asked:  []string{"GET: 403", "GET: 403"},
			links:  2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, g, tc.behind)
			d := newDownload(t, s)
			d.request.SHA256, d.change = tc.sha256, tc.change
			_, err := d.run(t)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want %q in it", err, tc.want)
			}
			s.wantAsked(t, tc.asked...)
			if links := s.Count(simulator.EndpointBundle); links != tc.links {
				t.Errorf("%d links were made, want %d", links, tc.links)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(d.request.Path), "*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q (%v)", left, err)
			}
		})
	}
}

func TestDownloadFailsWhereTheBundleIsGone(t *testing.T) {
	t.Parallel()
	s := newService(t, startGateway(t), 0)
	d := newDownload(t, s)
	d.change = func(link *url.URL) {
		gone, err := s.storage.Link(t.Context(), "exports/gone", linkLifetime)
		if err != nil {
			t.Error(err)
		}
		*link = *mustParse(t, gone)
	}
	_, err := d.run(t)
	var storageError *client.StorageError
	if !errors.As(err, &storageError) || storageError.Answer.StatusCode != http.StatusNotFound || client.IsGone(err) {
		t.Errorf("the error is %v", err)
	}
	s.wantAsked(t, "GET: 404", "GET: 404")
}

// download runs DownloadBundle for a job of the service.
type download struct {
	request client.DownloadRequest
	client  *client.Client
	// renewing, unless nil, runs before a new link is made.
	renewing func()
	// change, unless nil, makes another link of each that the service made.
	change func(link *url.URL)
	links  []*url.URL // handed out
	log    *lines
}

func newDownload(t *testing.T, s *service) *download {
	t.Helper()
	d := &download{log: &lines{}}
	d.client = newClient(t, s, d.log)
	jobID := s.AddJob(simulator.JobSpec{Archive: bundleContent})
	d.request.Path = filepath.Join(t.TempDir(), "bundle.tar.gz")
	d.request.Link = func(ctx context.Context, renew bool) (*client.Bundle, error) {
		if renew && d.renewing != nil {
			d.renewing()
		}
		bundle, err := d.client.GenerateBundle(ctx, jobID)
		if err != nil {
			return nil, err
		}
		link := mustParse(t, bundle.URL)
		if d.change != nil {
			d.change(link)
		}
		d.links = append(d.links, link)
		bundle.URL = link.String()
		return bundle, nil
	}
	return d
}

func newClient(t *testing.T, s *service, log client.Logger) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{
		BaseURL:    s.BaseURL,
		APIKey:     simulator.DefaultAPIKey,
		HTTPClient: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
		Clock:      s.clock,
		Logger:     log,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run downloads, and checks that neither the error nor the log tells what makes
// the links credentials.
func (d *download) run(t *testing.T) (*client.Download, error) {
	t.Helper()
	result, err := d.client.DownloadBundle(t.Context(), d.request)
	told := d.log.String() + fmt.Sprint(err)
	if !strings.Contains(told, d.links[0].Path) {
		t.Error("nothing was logged of the download")
	}
	for _, link := range d.links {
		for _, name := range []string{"X-Amz-Signature", "X-Amz-Credential"} {
			if value := link.Query().Get(name); value == "" || strings.Contains(told, value) {
				t.Errorf("the %s %q was told: %s", name, value, told)
			}
		}
	}
	return result, err
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Debug(_ context.Context, message string, fields map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, message, fields)
}

func (l *lines) Info(ctx context.Context, message string, f map[string]any) { l.Debug(ctx, message, f) }

func (l *lines) Warn(ctx context.Context, message string, f map[string]any) { l.Debug(ctx, message, f) }

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
