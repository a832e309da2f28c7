// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// files unpacks a gzip-compressed tar: file names to contents.
func files(t *testing.T, archive string) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for reader := tar.NewReader(zip); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return contents
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			contents[header.Name] = string(text)
		}
	}
}

func TestBundleAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{LinkLifetime: 90 * time.Second})
	s.clock.Advance(1500 * time.Millisecond)
	id := s.doneJob()
	a := s.call(http.MethodPost, "/static-export/jobs/"+id+"/bundle", "", nil)
	got := record(t, a)
	link, err := url.Parse(got["bundleUrl"].(string))
	if err != nil {
		t.Fatal(err)
	}
	download := s.get(link.String())
	if got["jobId"] != id || got["sizeBytes"] != float64(len(download.body)) || got["expiresAt"] != "2026-03-01T12:01:31Z" || len(got) != 4 {
		t.Errorf("the bundle is %v", got)
	}
	if "http://"+link.Host != s.StorageURL || strings.Contains(s.BaseURL, link.Host) {
		t.Errorf("the link leads to %s, the storage is %s", link.Host, s.StorageURL)
	}
	query := link.Query()
	want := []string{
		"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires",
		"X-Amz-Security-Token", "X-Amz-Signature", "X-Amz-SignedHeaders",
	}
	if names := slices.Sorted(maps.Keys(query)); !slices.Equal(names, want) {
		t.Errorf("the link has the parameters %v", names)
	}
	if query.Get("X-Amz-Date") != "20260301T120001Z" || query.Get("X-Amz-Expires") != "90" {
		t.Errorf("the link is of %s for %s s", query.Get("X-Amz-Date"), query.Get("X-Amz-Expires"))
	}
	if strings.Contains(a.body, `\u0026`) {
		t.Errorf("the link is escaped in %s", a.body)
	}
}

func TestBundleIsASite(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	for name, test := range map[string]struct{ pages, want int }{
		"the built-in site": {0, 6}, "a part of it": {2, 2}, "a larger site": {1000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := s.AddJob(simulator.JobSpec{Queue: none, Run: none, Pages: test.pages})
			a := s.get(s.bundle(id))
			contents := files(t, a.body)
			pages := 0
			for name, text := range contents {
				if strings.HasSuffix(name, ".html") {
					pages++
					if !strings.Contains(text, "<!doctype html>") {
						t.Errorf("%s is no page: %s", name, text)
					}
				}
			}
			if pages != test.want || len(contents) != test.want+2 || contents["assets/site.css"] == "" || contents["assets/site.js"] == "" {
				t.Errorf("%d pages of %d files, want %d", pages, len(contents), test.want)
			}
			if got := s.get("/static-export/jobs/"+id).field(t, "pageCount"); got != float64(test.want) {
				t.Errorf("pageCount is %v", got)
			}
		})
	}
}

func TestPagesLinkToOneAnother(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	contents := files(t, s.get(s.bundle(s.doneJob())).body)
	base, _ := url.Parse("http://site/")
	checked := 0
	for name, text := range contents {
		from := base.JoinPath(name)
		for part := range strings.SplitSeq(text, `href="`) {
			target, _, found := strings.Cut(part, `"`)
			if !found || strings.HasPrefix(part, "<!doctype") {
				continue
			}
			to, err := from.Parse(target)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := contents[strings.TrimPrefix(to.Path, "/")]; !ok {
				t.Errorf("%s links to %s, which is not there", name, target)
			}
			checked++
		}
	}
	if checked != 6*7 {
		t.Errorf("%d links were checked, want 42", checked)
	}
}

func TestBundlesAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	one, two := start(t, simulator.Options{}), start(t, simulator.Options{ClockSkew: time.Hour})
	a, b := one.get(one.bundle(one.doneJob())), two.get(two.bundle(two.doneJob()))
	if a.body != b.body || a.header.Get("ETag") != b.header.Get("ETag") {
		t.Error("two services pack the same site differently")
	}
}

func TestBundleOfTheTestsOwn(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	id := s.AddJob(simulator.JobSpec{Queue: none, Run: none, Archive: []byte("no archive")})
	if a := s.get(s.bundle(id)); a.body != "no archive" {
		t.Errorf("the bundle is %q", a.body)
	}
}

func TestLinkExpires(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lifetime, good time.Duration
	}{
		"after a quarter of an hour by default": {0, 15 * time.Minute},
		"after its lifetime":                    {time.Minute, time.Minute},
		"in whole seconds":                      {2500 * time.Millisecond, 2 * time.Second},
		"after a second at least":               {time.Millisecond, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{LinkLifetime: test.lifetime})
			link := s.bundle(s.doneJob())
			s.clock.Advance(test.good - 1)
			if a := s.get(link); a.status != 200 {
				t.Errorf("just before its expiry the link answered %d %s", a.status, a.body)
			}
			s.clock.Advance(1)
			a := s.get(link)
			if a.status != 403 || !strings.Contains(a.body, "<Code>AccessDenied</Code>") || a.header.Get("Content-Type") != "application/xml" {
				t.Errorf("at its expiry the link answered %d %s", a.status, a.body)
			}
		})
	}
}

func TestStorageRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	link := s.bundle(s.doneJob())
	other := s.bundle(s.doneJob())
	gone := s.doneJob()
	goneLink := s.bundle(gone)
	s.ForgetJob(gone)
	with := func(name, value string) string {
		u, _ := url.Parse(link)
		query := u.Query()
		query.Set(name, value)
		u.RawQuery = query.Encode()
		return u.String()
	}
	plain, signed, _ := strings.Cut(link, "?")
	otherPlain, _, _ := strings.Cut(other, "?")
	for name, test := range map[string]struct {
		method, link string
		header       http.Header
		status       int
		code         string
	}{
		"a HEAD":                      {"HEAD", link, nil, 403, ""},
		"a PUT":                       {"PUT", link, nil, 403, "SignatureDoesNotMatch"},
		"an Authorization header":     {"GET", link, http.Header{"Authorization": {"Bearer x"}}, 400, "InvalidArgument"},
		"no signature":                {"GET", plain, nil, 403, "AccessDenied"},
		"another signature":           {"GET", with("X-Amz-Signature", strings.Repeat("0", 64)), nil, 403, "SignatureDoesNotMatch"},
		"a lifetime made longer":      {"GET", with("X-Amz-Expires", "604800"), nil, 403, "SignatureDoesNotMatch"},
		"a later date":                {"GET", with("X-Amz-Date", "20270301T120000Z"), nil, 403, "SignatureDoesNotMatch"},
		"one more parameter":          {"GET", with("response-content-type", "text/html"), nil, 403, "SignatureDoesNotMatch"},
		"the signature of another":    {"GET", otherPlain + "?" + signed, nil, 403, "SignatureDoesNotMatch"},
		"an object that is not there": {"GET", goneLink, nil, 404, "NoSuchKey"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := s.call(test.method, test.link, "", test.header)
			if a.status != test.status || !strings.Contains(a.body, test.code) || a.header.Get("Content-Type") != "application/xml" {
				t.Errorf("%d %s, want %d %s", a.status, a.body, test.status, test.code)
			}
			if strings.Contains(a.body, "sim_") {
				t.Errorf("the answer holds a key: %s", a.body)
			}
		})
	}
	if a := s.get(link); a.status != 200 {
		t.Errorf("the untouched link answered %d", a.status)
	}
}

func TestDownloadRanges(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	const content = "0123456789"
	link := s.bundle(s.AddJob(simulator.JobSpec{Queue: none, Run: none, Archive: []byte(content)}))
	whole := s.get(link)
	etag := whole.header.Get("ETag")
	if whole.header.Get("Accept-Ranges") != "bytes" || whole.header.Get("Content-Length") != "10" || !strings.HasPrefix(etag, `"`) {
		t.Errorf("a whole download has the headers %v", whole.header)
	}
	for name, test := range map[string]struct {
		span, ifRange string
		status        int
		body, header  string
	}{
		"a range":                  {"bytes=2-4", "", 206, "234", "bytes 2-4/10"},
		"an open range":            {"bytes=7-", "", 206, "789", "bytes 7-9/10"},
		"a suffix":                 {"bytes=-2", "", 206, "89", "bytes 8-9/10"},
		"a range of this object":   {"bytes=7-", etag, 206, "789", "bytes 7-9/10"},
		"a range of another":       {"bytes=7-", `"other"`, 200, content, ""},
		"a range after the end":    {"bytes=10-", "", 416, "", "bytes */10"},
		"a range past the end":     {"bytes=8-99", "", 206, "89", "bytes 8-9/10"},
		"something that is no one": {"bytes=x", "", 416, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Range": {test.span}}
			if test.ifRange != "" {
				header.Set("If-Range", test.ifRange)
			}
			a := s.call(http.MethodGet, link, "", header)
			if a.status != test.status || a.header.Get("Content-Range") != test.header {
				t.Errorf("%d, Content-Range %q", a.status, a.header.Get("Content-Range"))
			}
			if a.status < 300 && a.body != test.body {
				t.Errorf("the body is %q, want %q", a.body, test.body)
			}
		})
	}
}

func TestFreshLinks(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	id := s.doneJob()
	first, second := s.bundle(id), s.bundle(id)
	if first == second {
		t.Error("the same link was handed out twice")
	}
	for _, link := range []string{first, second} {
		if a := s.get(link); a.status != 200 {
			t.Errorf("a link answered %d", a.status)
		}
	}
}

func TestKeptLinks(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{KeepLink: true, LinkLifetime: time.Minute})
	id := s.doneJob()
	path := "/static-export/jobs/" + id + "/bundle"
	first := s.call(http.MethodPost, path, "", nil)
	s.clock.Advance(time.Minute - 1)
	if a := s.call(http.MethodPost, path, "", nil); a.body != first.body {
		t.Errorf("before the expiry the answer was %s, then %s", first.body, a.body)
	}
	s.clock.Advance(1)
	a := s.call(http.MethodPost, path, "", nil)
	if a.field(t, "bundleUrl") == first.field(t, "bundleUrl") || a.field(t, "expiresAt") != "2026-03-01T12:02:00Z" {
		t.Errorf("at the expiry the answer was still %s", a.body)
	}
	if a := s.get(s.bundle(id)); a.status != 200 {
		t.Errorf("the fresh link answered %d", a.status)
	}
}

func TestRevokedLinks(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{KeepLink: true})
	id := s.doneJob()
	link := s.bundle(id)
	s.RevokeLinks()
	if a := s.get(link); a.status != 403 {
		t.Errorf("the revoked link answered %d", a.status)
	}
	if a := s.get(s.bundle(id)); a.status != 200 {
		t.Errorf("the next link answered %d", a.status)
	}
}

func TestExpiresAtInOtherForms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		form func(time.Time) any
		want any
	}{
		"epoch milliseconds": {func(t time.Time) any { return t.UnixMilli() }, 1772367300000.0},
		"an HTTP date":       {func(t time.Time) any { return t.Format(http.TimeFormat) }, "Sun, 01 Mar 2026 12:15:00 GMT"},
		"null":               {func(time.Time) any { return nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{ExpiresAt: test.form})
			got := record(t, s.call(http.MethodPost, "/static-export/jobs/"+s.doneJob()+"/bundle", "", nil))
			if value, ok := got["expiresAt"]; value != test.want || !ok {
				t.Errorf("expiresAt is %v, present %v, want %v", value, ok, test.want)
			}
		})
	}
	s := start(t, simulator.Options{ExpiresAt: func(time.Time) any { return simulator.Omit }})
	got := record(t, s.call(http.MethodPost, "/static-export/jobs/"+s.doneJob()+"/bundle", "", nil))
	if _, ok := got["expiresAt"]; ok {
		t.Errorf("expiresAt is %v, want none", got["expiresAt"])
	}
}

// fakeStorage is a Storage that counts, and fails on demand.
type fakeStorage struct {
	puts, links       int
	archive           []byte
	putErr, linkErr   error
	name, linkOf      string
	lifetimeRequested time.Duration
}

func (f *fakeStorage) Put(_ context.Context, name string, archive []byte) error {
	f.puts++
	f.name, f.archive = name, bytes.Clone(archive)
	return f.putErr
}

func (f *fakeStorage) Link(_ context.Context, name string, lifetime time.Duration) (string, error) {
	f.links++
	f.linkOf, f.lifetimeRequested = name, lifetime
	return "https://bucket.example/" + name + "?sig=secret", f.linkErr
}

func TestStorageOfTheTestsOwn(t *testing.T) {
	t.Parallel()
	storage := &fakeStorage{}
	s := start(t, simulator.Options{Storage: storage, LinkLifetime: time.Minute})
	id := s.doneJob()
	link := s.bundle(id)
	s.bundle(id)
	name := "exports/" + id + "/bundle.tar.gz"
	if link != "https://bucket.example/"+name+"?sig=secret" || storage.name != name || storage.linkOf != name {
		t.Errorf("the link is %s, of %s, put as %s", link, storage.linkOf, storage.name)
	}
	if storage.puts != 1 || storage.links != 2 || storage.lifetimeRequested != time.Minute {
		t.Errorf("%d puts, %d links for %v", storage.puts, storage.links, storage.lifetimeRequested)
	}
	if len(files(t, string(storage.archive))) != 8 {
		t.Error("the stored archive is not the site")
	}
	s.RevokeLinks()
	s.ForgetJob(id)
}

func TestStorageThatFails(t *testing.T) {
	t.Parallel()
	for name, storage := range map[string]*fakeStorage{
		"on Put":  {putErr: errors.New("disk of bucket.example is full")},
		"on Link": {linkErr: errors.New("no credentials for bucket.example")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{Storage: storage})
			id := s.doneJob()
			a := s.call(http.MethodPost, "/static-export/jobs/"+id+"/bundle", "", nil)
			if a.status != http.StatusBadGateway || a.field(t, "error") == "" || strings.Contains(a.body, "bucket") {
				t.Errorf("%d %s", a.status, a.body)
			}
			storage.putErr, storage.linkErr = nil, nil
			s.bundle(id)
		})
	}
}
