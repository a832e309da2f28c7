// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestBundle(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{LinkLifetime: 90 * time.Second})
	h.clock.Advance(1500 * time.Millisecond)
	id := h.completedJob()
	r := h.call("POST", jobs+"/"+id+"/bundle", "", nil)
	link, err := url.Parse(r.object(t)["bundleUrl"].(string))
	if err != nil {
		t.Fatal(err)
	}
	download := h.get(link.String())
	wantFields(t, "the bundle", r.object(t), object{"jobId": id, "sizeBytes": float64(len(download.body)), "expiresAt": "2026-03-01T12:01:31Z"})
	if "http://"+link.Host != h.StorageURL || strings.Contains(r.body, `\u0026`) {
		t.Errorf("the link is %s", link)
	}
	query := link.Query()
	if query.Get("X-Amz-Date") != "20260301T120001Z" || query.Get("X-Amz-Expires") != "90" || len(query.Get("X-Amz-Signature")) != 64 {
		t.Errorf("the query of the link is %v", query)
	}
}

func TestLinkExpires(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ lifetime, want time.Duration }{
		"after a quarter of an hour": {0, 15 * time.Minute},
		"after its lifetime":         {time.Minute, time.Minute},
		"in whole seconds":           {2500 * time.Millisecond, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, simulator.Options{LinkLifetime: test.lifetime})
			link := h.link(h.completedJob())
			h.clock.Advance(test.want - 1)
			if r := h.get(link); r.status != 200 {
				t.Errorf("before its expiry, the link returns %d %s", r.status, r.body)
			}
			h.clock.Advance(1)
			if r := h.get(link); r.status != 403 || !strings.Contains(r.body, "expired") || r.header.Get("Content-Type") != "application/xml" {
				t.Errorf("at its expiry, the link returns %d %s", r.status, r.body)
			}
		})
	}
}

func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{})
	link, other := h.link(h.completedJob()), h.link(h.completedJob())
	forgotten := h.completedJob()
	gone := h.link(forgotten)
	h.ForgetJob(forgotten)
	plain, query, _ := strings.Cut(link, "?")
	otherPlain, _, _ := strings.Cut(other, "?")
	for name, test := range map[string]struct {
		method, link string
		header       http.Header
		status       int
		code         string
	}{
		"PUT":                     {"PUT", link, nil, 403, "SignatureDoesNotMatch"},
		"an Authorization header": {"GET", link, http.Header{"Authorization": {"Bearer x"}}, 400, "InvalidArgument"},
		"no signature":            {"GET", plain, nil, 403, "AccessDenied"},
		"another lifetime":        {"GET", strings.Replace(link, "Expires=900", "Expires=9000", 1), nil, 403, "SignatureDoesNotMatch"},
		"another object":          {"GET", otherPlain + "?" + query, nil, 403, "SignatureDoesNotMatch"},
		"a missing object":        {"GET", gone, nil, 404, "NoSuchKey"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := h.call(test.method, test.link, "", test.header); r.status != test.status || !strings.Contains(r.body, test.code) {
				t.Errorf("%d %s, want %d %s", r.status, r.body, test.status, test.code)
			}
		})
	}
}
