// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bufio"
	"bytes"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func fuzzClient() *Client { return &Client{apiKey: testKey, log: silent{}} }

// checkFit checks that a text is fit to be shown.
func checkFit(t *testing.T, text string) {
	t.Helper()
	if len(text) > maxShown || !utf8.ValidString(text) || strings.Contains(text, testKey) {
		t.Errorf("%d bytes are shown: %q", len(text), text)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			t.Errorf("%U is shown in %q", r, text)
		}
	}
}

func checkInstant(t *testing.T, instant time.Time) {
	t.Helper()
	if instant.Location() != time.UTC || instant.Year() < 2000 || instant.Year() >= 2200 {
		t.Errorf("read %s", instant)
	}
}

func FuzzJob(f *testing.F) {
	f.Add([]byte(`{"jobId":"se_1","status":"running","progress":"42 %","pageCount":7,"error":{"message":"x"}}`), uint16(20))
	f.Add([]byte(`{"status":"queued","jobId":123456,"progress":1e999,"pageCount":-1}`), uint16(28))
	f.Add([]byte("\xEF\xBB\xBF"+`{"a":[{}],"jobId":"\u0073e_1"}`), uint16(9))
	f.Add([]byte(`{"jobId":true,"status":"failed","error":"`+testKey+`"}`), uint16(11))
	f.Fuzz(func(t *testing.T, body []byte, at uint16) {
		c := fuzzClient()
		whole, ok := parseRecord(body)
		if ok {
			job := c.readJob(whole, "se_1", 0)
			if job.Progress != nil && (math.IsNaN(*job.Progress) || math.IsInf(*job.Progress, 0)) {
				t.Errorf("the progress is %v", *job.Progress)
			}
			if job.PageCount != nil && *job.PageCount < 0 {
				t.Errorf("the page count is %d", *job.PageCount)
			}
			checkFit(t, job.Error)
		}
		// No part of an answer gives another id than the whole of it.
		part, came := parsePartialRecord(body[:min(int(at), len(body))])
		ambiguous := bytes.Count(body, []byte("jobId")) != 1 || bytes.ContainsRune(body, '\\')
		if id := ""; ok && came && !ambiguous {
			if id = value(part.text("jobId")); id != "" && id != value(whole.text("jobId")) {
				t.Errorf("%q gives the id %q", body[:min(int(at), len(body))], id)
			}
		}
	})
}

func FuzzBundle(f *testing.F) {
	f.Add([]byte(`{"bundleUrl":"https://h/b?X-Amz-Date=20260301T120000Z&X-Amz-Expires=600","expiresAt":"2026-03-01T13:00:00Z","sizeBytes":12}`))
	f.Add([]byte(`{"bundleUrl":"http://u:p@[::1]:8/b#c","expiresAt":1772366400,"sizeBytes":"-1"}`))
	f.Add([]byte(`{"bundleUrl":"//h/b","expiresAt":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, ok := parseRecord(body)
		if !ok {
			return
		}
		bundle, err := readBundle(r)
		if err != nil {
			return
		}
		u, err := url.Parse(bundle.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			t.Errorf("the link is %q", bundle.URL)
		}
		if !bundle.ExpiresAt.IsZero() {
			checkInstant(t, bundle.ExpiresAt)
		}
		if bundle.SizeBytes != nil && *bundle.SizeBytes < 0 {
			t.Errorf("the size is %d", *bundle.SizeBytes)
		}
		if shown := redactURL(bundle.URL); strings.ContainsAny(strings.TrimSuffix(shown, "?"+redacted), "?#") {
			t.Errorf("%q is shown as %q", bundle.URL, shown)
		}
	})
}

func FuzzUpdate(f *testing.F) {
	f.Add([]byte(wholeUpdate))
	f.Add([]byte(`{"status":3,"logs":"a","author":null,"commit":{"filesChanged":{"added":[null,{},"a"]}}}`))
	f.Add([]byte(`{"status":{},"logs":{},"author":[],"commit":{"filesChanged":7}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, ok := parseRecord(body)
		if !ok {
			return
		}
		update := readUpdate(r)
		if update.Succeeded() && !update.Finished() {
			t.Errorf("%q has succeeded, but not finished", update.Status)
		}
		if unread := slices.Clone(*r.unread); len(slices.Compact(slices.Sorted(slices.Values(unread)))) != len(unread) {
			t.Errorf("the same is unread twice: %q", unread)
		}
	})
}

func FuzzErrorBody(f *testing.F) {
	for _, body := range []string{
		"", "text", `{"error":"` + testKey + `"}`, `{"errors":[{"title":"a","detail":"b"}]}`, `{"errors":{"domain":["x"]}}`, `{"a":1}`, `[[[["a"]]]]`,
		"<html><script>x</script>y&lt;", "<Error><Code>a", "{\"error\":\"\\u202e\xff\"}", "\xEF\xBB\xBF{}", `{"error":"https://u:p@h/p?q"}`,
	} {
		f.Add([]byte(body), body)
	}
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		c := fuzzClient()
		body = c.scrub(body)
		checkFit(t, c.Redact(errorMessage(body)))
		checkFit(t, c.Redact(knownMessage(body)))
		checkFit(t, c.requestID(http.Header{"X-Request-Id": {header}}))
		if describeBody(body) == "" {
			t.Errorf("nothing is said of %q", body)
		}
	})
}

func FuzzInstant(f *testing.F) {
	for _, text := range []string{"2026-03-01T12:00:00Z", "2026-03-01 12:00:00.5+01:00", "Sun, 01 Mar 2026 12:00:00 GMT", "1772366400", "1772366400250", "1e12", "0x1p40", "-0", "Inf"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		instant, ok := parseInstant(text)
		if !ok {
			return
		}
		checkInstant(t, instant)
		if again, ok := parseInstant(instant.Format(time.RFC3339Nano)); !ok || !again.Equal(instant) {
			t.Errorf("%q is %s, and that is %s", text, instant, again)
		}
	})
}

func FuzzLinkExpiry(f *testing.F) {
	for _, query := range []string{
		"X-Amz-Date=20260301T115000Z&X-Amz-Expires=600", "X-Goog-Date=20260301T115000Z&X-Goog-Expires=-1", "se=2026-03-01&sig=a", "Expires=1772366400",
		"Policy=" + policy(`{"Statement":[{"Condition":{"DateLessThan":{"AWS:EpochTime":1772366400}}}]}`), "Policy=____", "a;b", "%",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if instant, ok := linkExpiry("https://h/b?" + query); ok {
			checkInstant(t, instant)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("30", "")
	f.Add("1e300", "Sun, 01 Mar 2026 12:00:00 GMT")
	f.Add("Sun, 01 Mar 2026 12:00:30 GMT", "Sun, 01 Mar 2026 12:00:00 GMT")
	f.Add("Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT")
	f.Add("-Inf", "x")
	f.Fuzz(func(t *testing.T, value, date string) {
		header := http.Header{"Retry-After": {value}, "Date": {date}}
		if wait := retryAfter(header, time.Unix(1772366400, 0)); wait < 0 || wait > longestRetryAfter {
			t.Errorf("the wait is %s", wait)
		}
	})
}

func FuzzBaseURL(f *testing.F) {
	for _, raw := range []string{
		"https://host.example/v1", "https://host.example//a%2Fb/v1///", "http://127.0.0.1:8080/v1", "http://[::1]/v1", "http://localhost", "https://h/%2e%2E/a b",
		"https://u:p@h/v1", "https://h/v1?", "https://h/v1#", "http://h/v1", "https:h/v1", "https://h:1/[", "https://[fe80::1%25en0]/v1", "https://h:", "ftp://h",
	} {
		f.Add(raw, "a/b")
	}
	for _, id := range []string{".", "..", "a?b", "a#b", "%2F", "", " ", "\x00", "é", "\xff", `a\b`, "//h/p", ":"} {
		f.Add("https://host.example/v1", id)
	}
	f.Fuzz(func(t *testing.T, raw, id string) {
		u, err := ParseBaseURL(raw)
		if err != nil {
			return
		}
		if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" || u.Hostname() == "" || strings.HasSuffix(u.EscapedPath(), "/") {
			t.Errorf("%q is accepted as %#v", raw, u)
		}
		if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
			t.Errorf("%q is accepted", raw)
		}
		if again, err := ParseBaseURL(u.String()); err != nil || again.String() != u.String() {
			t.Errorf("%q is %s, and that is %v, %v", raw, u, again, err)
		}
		checkID(t, u, id)
	})
}

// checkID checks that an id travels as one element of the path of a request.
func checkID(t *testing.T, base *url.URL, id string) {
	t.Helper()
	target := (&Client{baseURL: base}).url([]string{"static-export", "jobs", id, "bundle"})
	sent, err := http.NewRequest(http.MethodPost, target.String(), nil)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	if sent.URL.Host != base.Host {
		t.Errorf("%q of %s goes to %s", id, base, sent.URL.Host)
	}
	var wire bytes.Buffer
	if err := sent.Write(&wire); err != nil {
		return // a host that cannot be sent, such as one with a space
	}
	got, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	rest, found := strings.CutPrefix(got.URL.EscapedPath(), base.EscapedPath())
	elements := strings.Split(rest, "/")
	if !found || len(elements) != 5 || elements[1] != "static-export" || elements[2] != "jobs" || elements[4] != "bundle" {
		t.Fatalf("%q arrives as %s", id, got.URL.EscapedPath())
	}
	if arrived, err := url.PathUnescape(elements[3]); err != nil || arrived != id || elements[3] == "." || elements[3] == ".." {
		t.Errorf("%q arrives as %q", id, elements[3])
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("GET ", []byte("sig=abc&x="), " failed", uint8(0))
	f.Add("\u200b", []byte("'()*"), "`=x", uint8(1))
	f.Add("a?b", []byte("?/:@"), "\n", uint8(2))
	f.Add("x", []byte("a"), "", uint8(3))
	f.Add("Bearer ", []byte("%3D"), testKey[:9], uint8(4))
	f.Fuzz(func(t *testing.T, before string, noise []byte, behind string, form uint8) {
		const legal = "abcXYZ019-._~!$&'()*+,;=:@/?%"
		query := make([]byte, len(noise))
		for i, b := range noise {
			query[i] = legal[int(b)%len(legal)]
		}
		link := []string{"https://h/p?", "https://h/p#", `s3:\/\/h\/p?`, "/p?a=", "x-amz-signature="}[form%5]
		if form%5 == 4 { // a value alone ends with the parameter
			query = []byte(strings.ReplaceAll(string(query), "&", ""))
		}
		text := before + link + string(query) + marked + string(query) + behind + testKey
		shown := fuzzClient().Redact(text)
		checkFit(t, shown)
		if secret := strings.Map(printable, before+" "+behind); !strings.Contains(secret, marked) && strings.Contains(shown, marked) {
			t.Errorf("%q is shown as %q", text, shown)
		}
	})
}
