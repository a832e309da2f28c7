// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const bundleSize = 600_000 // more than two buffers

var bundleContent, otherContent = noise(bundleSize, 1), noise(bundleSize, 2)

func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func TestDownloadSucceeds(t *testing.T) {
	t.Parallel()
	whole := object(bundleContent, `"v1"`)
	expired := answer(http.StatusForbidden, "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
	for name, tc := range map[string]struct {
		steps   []storageStep
		asked   []string
		renewed int
		content []byte // bundleContent if nil
		unknown bool   // the service does not say the size
	}{
		"in one answer": {
			steps: []storageStep{whole},
			asked: []string{"/first"},
		},
		"in one answer of unknown size": {
			steps:   []storageStep{unsized(bundleContent)},
			asked:   []string{"/first"},
			unknown: true,
		},
		"of nothing": {
			steps:   []storageStep{object(nil, `"v1"`)},
			asked:   []string{"/first"},
			content: []byte{},
		},
		"after a cut, from there on": {
			steps: []storageStep{cutAfter(400_000, whole), whole},
			asked: []string{"/first", `/first bytes=400000- if "v1"`},
		},
		"after a cut before the first byte": {
			steps: []storageStep{cutAfter(0, whole), whole},
			asked: []string{"/first", "/first"},
		},
		"after more cuts than retries, each further on": {
			steps: []storageStep{cutAfter(100_000, whole), cutAfter(100_000, whole), cutAfter(100_000, whole), cutAfter(100_000, whole), cutAfter(100_000, whole), whole},
			asked: []string{
				"/first", `/first bytes=100000- if "v1"`, `/first bytes=200000- if "v1"`, `/first bytes=300000- if "v1"`,
				`/first bytes=400000- if "v1"`, `/first bytes=500000- if "v1"`,
			},
		},
		"after a stall in the middle": {
			// How much has come by then is a matter of how busy the machine is.
			steps: []storageStep{stallAfter(400_000, whole), whole},
			asked: []string{"/first", `/first bytes=*- if "v1"`},
		},
		"after a stall before the answer": {
			steps: []storageStep{stall, whole},
			asked: []string{"/first", "/first"},
		},
		"after errors of the object store": {
			steps: []storageStep{answer(503, ""), answer(500, ""), answer(429, ""), whole},
			asked: []string{"/first", "/first", "/first", "/first"},
		},
		"anew where there is no ETag": {
			steps: []storageStep{cutAfter(400_000, object(bundleContent, "")), object(bundleContent, "")},
			asked: []string{"/first", "/first"},
		},
		"anew where the ETag is weak": {
			steps: []storageStep{cutAfter(400_000, object(bundleContent, `W/"v1"`)), object(bundleContent, `W/"v1"`)},
			asked: []string{"/first", "/first"},
		},
		"anew where there are no ranges": {
			steps: []storageStep{cutAfter(400_000, noRanges(bundleContent)), noRanges(bundleContent)},
			asked: []string{"/first", `/first bytes=400000- if "v1"`},
		},
		"anew where the object is another": {
			steps:   []storageStep{cutAfter(400_000, whole), object(otherContent, `"v2"`)},
			asked:   []string{"/first", `/first bytes=400000- if "v1"`},
			content: otherContent,
		},
		"anew where the object is another, shorter one": {
			steps:   []storageStep{cutAfter(400_000, whole), object(otherContent[:1000], `"v2"`)},
			asked:   []string{"/first", `/first bytes=400000- if "v1"`},
			content: otherContent[:1000],
			unknown: true,
		},
		"anew where the part is of another object": {
			steps: []storageStep{cutAfter(400_000, whole), func(s *storage, w http.ResponseWriter, r *http.Request) {
				r.Header.Del("If-Range")
				object(otherContent, `"v2"`)(s, w, r)
			}, whole},
			asked: []string{"/first", `/first bytes=400000- if "v1"`, "/first"},
		},
		"anew where the part is another": {
			steps: []storageStep{cutAfter(400_000, whole), answer(206, "x", "Content-Range", "bytes 40000-40000/600000"), whole},
			asked: []string{"/first", `/first bytes=400000- if "v1"`, "/first"},
		},
		"anew where a part comes unasked": {
			steps: []storageStep{answer(206, "x", "Content-Range", "bytes 0-0/600000", "ETag", `"v1"`), whole},
			asked: []string{"/first", "/first"},
		},
		"anew where there is no such part": {
			steps: []storageStep{cutAfter(400_000, whole), answer(416, "", "Content-Range", "bytes */1000"), whole},
			asked: []string{"/first", `/first bytes=400000- if "v1"`, "/first"},
		},
		"where the cut was after the last byte": {
			steps:   []storageStep{cutAfter(bundleSize, unsized(bundleContent)), answer(416, "", "Content-Range", "bytes */600000")},
			asked:   []string{"/first", `/first bytes=600000- if "v1"`},
			unknown: true,
		},
		"after an answer that ends early without a length": {
			steps: []storageStep{unsized(bundleContent[:1000]), whole},
			asked: []string{"/first", `/first bytes=1000- if "v1"`},
		},
		"with a new link for an expired one": {
			steps:   []storageStep{expired, whole},
			asked:   []string{"/first", "/second"},
			renewed: 1,
		},
		"with a new link where the first expires on the way": {
			steps:   []storageStep{cutAfter(400_000, whole), expired, cutAfter(100_000, whole), whole},
			asked:   []string{"/first", `/first bytes=400000- if "v1"`, `/second bytes=400000- if "v1"`, `/second bytes=500000- if "v1"`},
			renewed: 1,
		},
		"with a new link that costs no retry": {
			steps:   []storageStep{answer(503, ""), answer(503, ""), expired, answer(503, ""), whole},
			asked:   []string{"/first", "/first", "/first", "/second", "/second"},
			renewed: 1,
		},
		"with a new link for an expired credential": {
			steps:   []storageStep{answer(400, "<Error><Code>ExpiredToken</Code></Error>"), whole},
			asked:   []string{"/first", "/second"},
			renewed: 1,
		},
		"with a new link for an unauthorized one": {
			steps:   []storageStep{answer(401, ""), whole},
			asked:   []string{"/first", "/second"},
			renewed: 1,
		},
		"with a new link for an archive that was cleaned away": {
			steps:   []storageStep{answer(404, ""), whole},
			asked:   []string{"/first", "/second"},
			renewed: 1,
		},
		"with a new link for one that is gone": {
			steps:   []storageStep{answer(410, ""), whole},
			asked:   []string{"/first", "/second"},
			renewed: 1,
		},
		"behind a redirect": {
			steps: []storageStep{answer(307, "", "Location", "/moved?sig="+mark), cutAfter(1000, whole), answer(307, "", "Location", "/moved"), whole},
			asked: []string{"/first", "/moved", `/first bytes=1000- if "v1"`, `/moved bytes=1000- if "v1"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := tc.content
			if want == nil {
				want = bundleContent
			}
			size := int64(len(want))
			announced := &size
			if tc.unknown {
				announced = nil
			}
			d := newDownload(t, newStorage(t, tc.steps...), announced)
			d.request.SHA256 = strings.ToUpper(checksum(want))
			result, err := d.run(t)
			if err != nil {
				t.Fatal(err)
			}
			if *result != (Download{SHA256: checksum(want), SizeBytes: size}) {
				t.Errorf("the result is %+v", *result)
			}
			if got, err := os.ReadFile(d.request.Path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the file has %d bytes, which are not the object's; error %v", len(got), err)
			}
			if asked := d.store.asked(); !slices.EqualFunc(asked, tc.asked, matches) || d.renewed != tc.renewed {
				t.Errorf("requests %q and %d new links, want %q and %d", asked, d.renewed, tc.asked, tc.renewed)
			}
		})
	}
}

// matches compares a request with a pattern, as path.Match has it.
func matches(request, pattern string) bool {
	ok, err := path.Match(pattern, request)
	return err == nil && ok
}

func TestDownloadFails(t *testing.T) {
	t.Parallel()
	whole := object(bundleContent, `"v1"`)
	telling := "<?xml version=\"1.0\"?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>The signature does not match.</Message><SignatureProvided>" + mark + "</SignatureProvided></Error>"
	for name, tc := range map[string]struct {
		steps    []storageStep
		size     int64 // bundleSize if zero
		sha256   string
		requests int
		renewed  int
		text     string // of the error
	}{
		"where a new link is refused as well": {
			steps:    []storageStep{answer(403, telling)},
			requests: 2,
			renewed:  1,
			text:     "GET /second: HTTP 403 Forbidden: SignatureDoesNotMatch: The signature does not match.",
		},
		"where the object store has errors for ever": {
			steps:    []storageStep{answer(500, "<html><title>Oops</title></html>")},
			requests: 4,
			text:     "GET /first: HTTP 500 Internal Server Error: Oops",
		},
		"at once where a request is not understood": {
			steps:    []storageStep{answer(405, "")},
			requests: 1,
			text:     "HTTP 405 Method Not Allowed",
		},
		"where nothing comes for ever": {
			steps:    []storageStep{stall},
			requests: 4,
			text:     "no data for 30s",
		},
		"where no byte comes after the first for ever": {
			steps:    []storageStep{cutAfter(1000, whole), cutAfter(0, whole)},
			requests: 4,
			text:     "cut off after 1000 bytes: unexpected EOF",
		},
		"where the same first half comes for ever": {
			steps:    []storageStep{cutAfter(300_000, noRanges(bundleContent))},
			requests: 4,
			text:     "cut off after 300000 bytes: unexpected EOF",
		},
		"where an answer without a length is too short for ever": {
			steps:    []storageStep{unsized(bundleContent[:1000])},
			requests: 4,
			text:     "cut off after 1000 of 600000 bytes",
		},
		"where the parts are wrong for ever": {
			steps:    []storageStep{answer(206, "x")},
			requests: 4,
			text:     "another part of the bundle than was asked for",
		},
		"before the body where its length is wrong": {
			steps:    []storageStep{whole},
			size:     bundleSize + 1,
			requests: 1,
			text:     "the bundle has 600000 bytes, but the service said 600001",
		},
		"where an answer without a length is too long": {
			steps:    []storageStep{unsized(bytes.Repeat(bundleContent, 20))},
			requests: 1,
			text:     "but the service said 600000",
		},
		"where an object that is whole has the wrong size": {
			steps:    []storageStep{unsized(bundleContent[:1000]), answer(416, "", "Content-Range", "bytes */1000")},
			requests: 2,
			text:     "the bundle has 1000 bytes, but the service said 600000",
		},
		"where the checksum is wrong": {
			steps:    []storageStep{whole},
			sha256:   checksum(otherContent),
			requests: 1,
			text:     "the bundle's SHA-256 checksum is " + checksum(bundleContent) + ", not " + checksum(otherContent),
		},
		"where redirects have no end": {
			steps:    []storageStep{answer(302, "", "Location", "/again?sig="+mark)},
			requests: 6,
			text:     "HTTP 302 Found to http://",
		},
		"where a redirect leads nowhere": {
			steps:    []storageStep{answer(302, "", "Location", "http://[broken?sig="+mark)},
			requests: 4,
			text:     "failed to parse Location header",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := tc.size
			if size == 0 {
				size = bundleSize
			}
			d := newDownload(t, newStorage(t, tc.steps...), &size)
			d.request.SHA256 = tc.sha256
			_, err := d.run(t)
			if err == nil || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %v, want one with %q", err, tc.text)
			}
			if asked := d.store.asked(); len(asked) != tc.requests || d.renewed != tc.renewed {
				t.Errorf("requests %q and %d new links, want %d and %d", asked, d.renewed, tc.requests, tc.renewed)
			}
			if _, err := os.Stat(d.request.Path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file: %v, want none", err)
			}
		})
	}
}

func TestDownloadErrorsHaveTypes(t *testing.T) {
	t.Parallel()
	size := int64(bundleSize)
	fail := func(t *testing.T, sha256 string, size int64, step storageStep) error {
		t.Helper()
		d := newDownload(t, newStorage(t, step), &size)
		d.request.SHA256 = sha256
		_, err := d.run(t)
		return err
	}
	whole := object(bundleContent, `"v1"`)
	var checksumError *ChecksumError
	if err := fail(t, strings.ToUpper(checksum(otherContent)), size, whole); !errors.As(err, &checksumError) ||
		*checksumError != (ChecksumError{Want: checksum(otherContent), Got: checksum(bundleContent)}) {
		t.Errorf("a wrong checksum: %#v", err)
	}
	var sizeError *SizeError
	if err := fail(t, "", 7, whole); !errors.As(err, &sizeError) || *sizeError != (SizeError{Want: 7, Got: size}) {
		t.Errorf("a wrong size: %#v", err)
	}
	var connectionError *ConnectionError
	if err := fail(t, "", size, cutAfter(0, whole)); !errors.As(err, &connectionError) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut connection: %#v", err)
	}
	var storageError *StorageError
	err := fail(t, "", size, answer(404, "", "X-Amz-Request-Id", "r-1"))
	if !errors.As(err, &storageError) || storageError.Host == "" || storageError.Answer.StatusCode != 404 {
		t.Errorf("an answer of 404: %#v", err)
	}
	if IsGone(err) {
		t.Error("a 404 of the object store passes for one of the API")
	}
}

func TestDownloadReplacesAFileOnlyWithAWholeBundle(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sha256 string
		want   []byte
	}{
		"after a success": {checksum(bundleContent), bundleContent},
		"after an error":  {checksum(otherContent), []byte("before")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDownload(t, newStorage(t, object(bundleContent, `"v1"`)), nil)
			d.request.SHA256 = tc.sha256
			directory := filepath.Dir(d.request.Path)
			like := filepath.Join(t.TempDir(), "like")
			if err := errors.Join(os.MkdirAll(directory, 0o755), os.WriteFile(d.request.Path, []byte("before"), 0o600), os.WriteFile(like, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
			_, err := d.run(t)
			if got, readErr := os.ReadFile(d.request.Path); readErr != nil || !bytes.Equal(got, tc.want) {
				t.Errorf("the file has %d bytes, want %d; error %v", len(got), len(tc.want), readErr)
			}
			if err != nil {
				return
			}
			got, want := fileMode(t, d.request.Path), fileMode(t, like)
			if got != want {
				t.Errorf("its mode is %s, want that of any new file, %s", got, want)
			}
		})
	}
}

func fileMode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestDownloadOntoADirectoryFailsBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	d := newDownload(t, newStorage(t, object(bundleContent, `"v1"`)), nil)
	d.request.Path = t.TempDir()
	if _, err := d.client.DownloadBundle(t.Context(), d.request); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("error %v, want one of the directory", err)
	}
	if asked := d.store.asked(); len(asked) != 0 {
		t.Errorf("requests %q, want none", asked)
	}
}

func TestDownloadPassesOnTheErrorsOfItsLinks(t *testing.T) {
	t.Parallel()
	failure := errors.New("no link")
	for name, failing := range map[string]bool{"the first": false, "the second": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDownload(t, newStorage(t, answer(403, "")), nil)
			link := d.request.Link
			d.request.Link = func(ctx context.Context, renew bool) (*Bundle, error) {
				if renew == failing {
					return nil, failure
				}
				return link(ctx, renew)
			}
			if _, err := d.run(t); !errors.Is(err, failure) {
				t.Errorf("error %v, want %v", err, failure)
			}
		})
	}
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	whole := object(bundleContent, `"v1"`)
	cause := errors.New("interrupted")
	for name, step := range map[string]func(cancel func()) storageStep{
		"before the answer": func(cancel func()) storageStep {
			return func(s *storage, _ http.ResponseWriter, r *http.Request) { cancel(); s.hang(r) }
		},
		"in the middle": func(cancel func()) storageStep {
			return func(s *storage, w http.ResponseWriter, r *http.Request) {
				whole(s, &endingWriter{w, 400_000, func() { cancel(); s.hang(r) }}, r)
			}
		},
		"while waiting for the next attempt": func(cancel func()) storageStep {
			return func(s *storage, w http.ResponseWriter, r *http.Request) {
				s.clock.AfterFunc(3*time.Second, cancel)
				answer(503, "", "Retry-After", "10")(s, w, r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			d := newDownload(t, newStorage(t, step(func() { cancel(cause) })), nil)
			if _, err := d.client.DownloadBundle(ctx, d.request); !errors.Is(err, cause) {
				t.Errorf("error %v, want %v", err, cause)
			}
			if asked := d.store.asked(); len(asked) != 1 {
				t.Errorf("requests %q, want one", asked)
			}
			d.checkFiles(t, false)
		})
	}
}

func TestDownloadEndsWithItsTimeout(t *testing.T) {
	t.Parallel()
	d := newDownload(t, newStorage(t, stallAfter(400_000, object(bundleContent, `"v1"`))), nil)
	ctx, cancel := d.client.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := d.client.DownloadBundle(ctx, d.request)
	if !errors.Is(err, ErrTimeout) || err.Error() != ErrTimeout.Error() {
		t.Errorf("error %v, want no more than %v", err, ErrTimeout)
	}
	d.checkFiles(t, false)
}

func TestDownloadWaitsAsLongAsTheObjectStoreAsks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		retryAfter string
		timeout    time.Duration
		waited     time.Duration
		err        string
	}{
		"within its timeout":            {"120", 10 * time.Minute, 2 * time.Minute, ""},
		"but not beyond it":             {"120", time.Minute, 0, "asked to wait until 2026-03-01T12:02:00Z"},
		"or a while, but not beyond it": {"", 100 * time.Millisecond, 0, "HTTP 503 Service Unavailable: the next attempt would come after the timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDownload(t, newStorage(t, answer(503, "", "Retry-After", tc.retryAfter), object(bundleContent, `"v1"`)), nil)
			began := d.store.clock.Now()
			ctx, cancel := d.client.WithTimeout(t.Context(), tc.timeout)
			defer cancel()
			_, err := d.client.DownloadBundle(ctx, d.request)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if waited := d.store.clock.Now().Sub(began); waited != tc.waited {
				t.Errorf("it waited %s, want %s", waited, tc.waited)
			}
		})
	}
}

func TestDownloadOfAFullDiskIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	d := newDownload(t, newStorage(t, object(bundleContent, `"v1"`)), nil)
	err := newTransfer(d.client, fullDisk{}).run(t.Context(), d.request.Link)
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want %v", err, syscall.ENOSPC)
	}
	if asked := d.store.asked(); len(asked) != 1 {
		t.Errorf("requests %q, want one", asked)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error)      { return 0, syscall.ENOSPC }
func (fullDisk) Seek(int64, int) (int64, error) { return 0, nil }
func (fullDisk) Truncate(int64) error           { return nil }

func TestDownloadFollowsARedirectToAnotherHostButNotFromHTTPS(t *testing.T) {
	t.Parallel()
	other := newStorage(t, object(bundleContent, `"v1"`))
	t.Run("from http", func(t *testing.T) {
		t.Parallel()
		d := newDownload(t, newStorage(t, answer(302, "", "Location", other.URL+"/elsewhere")), nil)
		if _, err := d.run(t); err != nil {
			t.Error(err)
		}
	})
	t.Run("from https", func(t *testing.T) {
		t.Parallel()
		d := newDownload(t, newStorage(t, answer(302, "", "Location", other.URL+"/insecure?sig="+mark)), nil)
		secure := httptest.NewTLSServer(d.store)
		t.Cleanup(secure.Close)
		d.client.storage.Transport = secure.Client().Transport
		d.request.Link = func(context.Context, bool) (*Bundle, error) { return &Bundle{URL: secure.URL + "/first?" + mark}, nil }
		_, err := d.run(t)
		if want := "HTTP 302 Found to " + other.URL + "/insecure"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	})
	t.Cleanup(func() {
		if asked := other.asked(); !slices.Equal(asked, []string{"/elsewhere"}) {
			t.Errorf("the other host was asked for %q", asked)
		}
	})
}

func TestDownloadFromTheSimulator(t *testing.T) {
	t.Parallel()
	clock := simulator.NewVirtualClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	server, err := simulator.Listen(simulator.Options{Clock: clock, APIKey: "sim_0123456789", LinkLifetime: time.Minute, Pages: 500})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	client, err := New(Config{BaseURL: server.BaseURL, APIKey: "sim_0123456789", Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	job := server.AddJob(simulator.JobSpec{StartedAt: clock.Now().Add(-time.Hour)})
	stale, err := client.GenerateBundle(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	server.AddFault(simulator.Fault{Endpoint: "download", Skip: 1, Times: 1, TruncateBody: 1000})
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	result, err := client.DownloadBundle(t.Context(), DownloadRequest{Path: path, Link: func(ctx context.Context, renew bool) (*Bundle, error) {
		if renew {
			return client.GenerateBundle(ctx, job)
		}
		return stale, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || checksum(content) != result.SHA256 || result.SizeBytes != *stale.SizeBytes {
		t.Errorf("%d bytes do not match %+v; error %v", len(content), *result, err)
	}
	if got := server.Count("download"); got != 3 {
		t.Errorf("%d requests, want the refused, the cut and the last one", got)
	}
}

func BenchmarkDownloadBundle(b *testing.B) {
	content := noise(64<<20, 3)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	client, err := New(Config{BaseURL: server.URL, APIKey: "test_0123456789"})
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "bundle")
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.DownloadBundle(b.Context(), DownloadRequest{Path: path, Link: func(context.Context, bool) (*Bundle, error) {
			return &Bundle{URL: server.URL}, nil
		}}); err != nil {
			b.Fatal(err)
		}
	}
}
