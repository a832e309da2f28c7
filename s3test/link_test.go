// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package s3test

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// What a link opens: the rest of the tests builds on it.
func TestLinkOpensOneBundleToGet(t *testing.T) {
	t.Parallel()
	s := newService(t, startGateway(t), 0)
	link := mustParse(t, newBundle(t, s).URL)
	for name, tc := range map[string]struct {
		method string // GET if empty
		header http.Header
		change func(link *url.URL)
		status int
		body   string // the start of it
	}{
		"a GET is answered": {
			status: http.StatusOK,
			body:   "0123456789",
		},
		"a GET of a part is answered": {
			header: http.Header{"Range": {"bytes=4-"}},
			status: http.StatusPartialContent,
			body:   "456789",
		},
		"a HEAD is refused": {
			method: http.MethodHead,
			status: http.StatusForbidden,
		},
		"a GET with an API key is refused": {
			header: http.Header{"Authorization": {"Bearer " + simulator.DefaultAPIKey}},
			status: http.StatusBadRequest,
			body:   "<Error><Code>InvalidArgument</Code>",
		},
		"a GET of another bundle is refused": {
			change: func(link *url.URL) { link.Path += "2" },
			status: http.StatusForbidden,
			body:   xml.Header + "<Error><Code>SignatureDoesNotMatch</Code>",
		},
		"a GET with a longer lifetime is refused": {
			change: func(link *url.URL) { link.RawQuery = strings.Replace(link.RawQuery, "Expires=900", "Expires=9000", 1) },
			status: http.StatusForbidden,
			body:   xml.Header + "<Error><Code>SignatureDoesNotMatch</Code>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := *link
			if tc.change != nil {
				tc.change(&changed)
			}
			status, body := s.send(t, tc.method, changed.String(), tc.header)
			if status != tc.status || !strings.HasPrefix(string(body), tc.body) {
				t.Errorf("status %d and body %q, want %d and %q", status, body, tc.status, tc.body)
			}
		})
	}
}

func TestLinkTellsWhenItExpires(t *testing.T) {
	t.Parallel()
	g := startGateway(t)

	s := newService(t, g, linkLifetime-time.Minute)
	if status, body := s.send(t, http.MethodGet, newBundle(t, s).URL, nil); status != http.StatusOK {
		t.Errorf("a minute before its expiry the link is answered with %d: %s", status, body)
	}

	s = newService(t, g, linkLifetime+2*time.Second)
	bundle := newBundle(t, s)
	_, body := s.send(t, http.MethodGet, bundle.URL, nil)
	var refusal struct {
		Code    string
		Expires time.Time
	}
	if err := xml.Unmarshal(body, &refusal); err != nil || refusal.Code != "AccessDenied" {
		t.Fatalf("after its expiry the link is answered with %s (%v)", body, err)
	}
	if !bundle.ExpiresAt.Equal(refusal.Expires) {
		t.Errorf("the client takes the expiry for %s, the object store for %s", bundle.ExpiresAt, refusal.Expires)
	}
}

// newBundle makes a link to a new bundle.
func newBundle(t *testing.T, s *service) *client.Bundle {
	t.Helper()
	jobID := s.AddJob(simulator.JobSpec{Archive: []byte("0123456789")})
	bundle, err := newClient(t, s, &lines{}).GenerateBundle(t.Context(), jobID)
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}
