// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// mark is part of every value that a report must not show.
const mark = "marked4711"

// service is a simulated service that the provider is verified against. Jobs, links, and
// waits take no time.
type service struct {
	*simulator.Service
	settings
	console bytes.Buffer
}

// newService starts a service. alter, unless nil, changes each response.
func newService(t *testing.T, options simulator.Options, alter func(*http.Request, *httptest.ResponseRecorder)) *service {
	t.Helper()
	virtual := clocktest.NewVirtual(time.Now().Truncate(time.Second))
	options.Now, options.APIKey = virtual.Now, "key_"+mark
	s := &service{Service: simulator.New(options)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := httptest.NewRecorder()
		s.ServeHTTP(response, r)
		response.Header().Set("Date", virtual.Now().UTC().Format(http.TimeFormat))
		if alter != nil {
			alter(r, response)
		}
		for name, values := range response.Header() {
			w.Header()[name] = values
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(response.Code)
		_, _ = io.Copy(w, response.Body)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	s.settings = settings{base: base, apiKey: options.APIKey, domain: mark + ".example.com", statusID: "upd_" + mark, time: virtual, commit: "abc1234"}
	s.AddUpdate(simulator.UpdateSpec{ID: s.statusID, Queue: -1, Run: -1})
	return s
}

// verify runs all steps and checks what the report must contain.
func (s *service) verify(t *testing.T, wantSuccess bool, want ...string) (report string) {
	t.Helper()
	report, success := verify(t, s.settings, &s.console)
	if success != wantSuccess {
		t.Errorf("success is %t; the console:\n%s", success, &s.console)
	}
	for _, text := range want {
		if !strings.Contains(report, text) {
			t.Errorf("the report has no %q", text)
		}
	}
	for _, private := range []string{mark, s.domain, s.base.Host, s.base.Hostname()} {
		if strings.Contains(report, private) {
			t.Errorf("the report contains %q", private)
		}
	}
	if s.Count(simulator.EndpointStart) != 1 {
		t.Errorf("%d jobs were started", s.Count(simulator.EndpointStart))
	}
	if t.Failed() {
		t.Log(report)
	}
	return report
}

func TestServiceThatKeepsToTheContract(t *testing.T) {
	t.Parallel()
	s := newService(t, simulator.Options{}, nil)
	s.wait = 20 * time.Minute
	s.NextJob(simulator.JobSpec{ID: "se_" + mark})
	report := s.verify(t, true,
		"| Export, download, and unpack | ok |",
		"| Plan again: nothing to do | ok |",
		"| Read a job that does not exist | ok | Could not read the static export job |",
		"| Renew the expired link | ok |",
		"| Destroy | ok |",
		"| startStaticExport | 202, application/json | 1 |",
		"| `queued` after 0s, `running` after ", "s, `completed` after 2",
		"| `progress` | number from 0 to 100, probably percent |",
		"| `expiresAt` | RFC 3339 in UTC |",
		"provider reads it | 1",
		"| Another request before the link expires | a new link |",
		"; files: 8; `.html` pages: 6; names at the top: 5, `index.html` among them: true; names outside ASCII: 0 |",
		"| Wrong API key | 401, application/json, `{error: string}` |",
		"| Clock of the service | 0s ahead",
		"not in the contract: none; never present: error |",
		"## Violations of api/openapi.yaml\n\nNone.\n",
		"## What the provider would do differently if it knew\n\nNone.\n",
	)
	ephemeral := strings.Count(report, "| Create an ephemeral link | ok |")
	if links := s.Count(simulator.EndpointBundle); links != 3+ephemeral || s.Count(simulator.EndpointDownload) != 1 {
		t.Errorf("%d links and %d downloads", links, s.Count(simulator.EndpointDownload))
	}
}

// TestServiceThatDiffers differs from what is typical wherever the contract is open.
func TestServiceThatDiffers(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, name := range []string{"site/" + mark + ".html", "site/é.txt"} {
		file, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(file, mark)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	s := newService(t, simulator.Options{KeepLink: true}, func(_ *http.Request, w *httptest.ResponseRecorder) {
		w.Header().Del("X-Request-Id")
		w.Header().Set("X-Transaction-Id", mark)
		w.Header().Set("X-Ratelimit-Limit", "100")
		w.Header().Set("Ratelimit-Policy", mark)
		w.Header().Set("Date", "Mon, 02 Jan 2006 15:04:05 GMT")
		switch w.Code {
		case http.StatusAccepted:
			w.Code = http.StatusOK
		case http.StatusNotFound, http.StatusUnauthorized:
			w.Code = http.StatusForbidden
			w.Body = bytes.NewBufferString(`{"fault":{"` + mark + `.example.com":"` + mark + `"}}`)
		}
	})
	s.domain = "privatesite"
	s.NextJob(simulator.JobSpec{ID: "se_" + mark, Archive: packed.Bytes(), QueuedStatus: "behind " + mark, RunningStatus: "rendering", Progress: func(share float64) any { return share }})
	s.Rewrite(func(endpoint string, body map[string]any) any {
		body["trace"] = map[string]any{mark + ".example.com": []any{mark, 1, nil}, s.domain: true}
		delete(body, "updatedAt")
		if _, found := body["pageCount"]; found {
			body["pageCount"] = "12"
		}
		if endpoint == simulator.EndpointBundle {
			expires, err := time.Parse(time.RFC3339, body["expiresAt"].(string))
			if err != nil {
				t.Error(err)
			}
			body["expiresAt"] = expires.UnixMilli()
		}
		return body
	})
	s.verify(t, true,
		"| startStaticExport | 200, application/json | 1 |",
		"| `(string)` after 0s, `rendering` after ",
		"| Statuses of the job | Know which other statuses are final",
		"| `progress` | number from 0 to 1, probably a fraction |",
		"| `progress` | Multiply it by 100",
		"| `pageCount` | string from 12 to 12 |",
		"| `updatedAt` of the job | never present |",
		"| `expiresAt` | number of milliseconds since 1970 |",
		"| `expiresAt` | Read the documented unit",
		"| Another request before the link expires | the same link |",
		"| Another request before the link expires | Ignore `renew_before`",
		"| Archive | zip of ", "; files: 2; `.html` pages: 1; names at the top: 1, `index.html` among them: false; names outside ASCII: 1 |",
		"| Rate limit headers | `Ratelimit-Policy`, `X-Ratelimit-Limit: 100` |",
		"| Rate limit headers | Slow down before",
		"| Request ID | `X-Transaction-Id` |",
		"| Request ID | Show it in errors",
		"| Wrong API key | 403, application/json, `{fault: {NAME: string}}` |",
		"| Wrong API key | Say to check the API key",
		"| Unknown job | Plan a new export",
		"| Clock of the service | Nothing, but correct",
		"trace: {NAME: [null or number or string], (hidden): boolean}",
		"| Renew the expired link | skipped | the link expires in ",
		"not in the contract: trace;",
	)
}

// TestServiceThatBreaksTheContract also fails the job.
func TestServiceThatBreaksTheContract(t *testing.T) {
	t.Parallel()
	requests := 0
	s := newService(t, simulator.Options{Fail: mark}, func(r *http.Request, w *httptest.ResponseRecorder) {
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "jobs") {
			if requests++; requests == 1 {
				w.Code, w.Body = http.StatusTooManyRequests, bytes.NewBufferString(`{"error":"`+mark+`"}`)
			}
		}
		if strings.Contains(r.URL.Path, "update-status") {
			w.Header().Set("Content-Type", "text/html; charset="+mark)
			w.Code, w.Body = http.StatusOK, bytes.NewBufferString("<title>"+mark+"</title>")
		}
	})
	s.Rewrite(func(_ string, body map[string]any) any {
		body["createdAt"], body["error"] = true, []any{mark}
		return body
	})
	s.verify(t, false,
		"| Read an update | failed | Could not read the update |",
		"| Read an update that does not exist | failed | the service did not refuse it; Could not read the update |",
		"| Export, download, and unpack | failed | Static export job failed |",
		"| Plan again: nothing to do | skipped | there is no bundle |",
		"| Read with a wrong API key | ok |",
		"| getUpdateStatus | 200, text/html | ",
		"| First 429 | 429, application/json, `{error: string}`, no `Retry-After` |",
		"| First 429 | Wait as long as needed",
		"the content type is something else | ",
		"| startStaticExport | createdAt is boolean, not ",
		"| startStaticExport | error is array, not ",
	)
	if !strings.Contains(s.console.String(), "Static export job failed") || !strings.Contains(s.console.String(), mark) {
		t.Errorf("the console does not show the service's message:\n%s", &s.console)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	valid := map[string]string{"DOCS_BASE_URL": "https://host.example/v1/ ", "DOCS_API_KEY": "key_1", "DOCS_DOMAIN": "docs.example.com", "WAIT": "20m"}
	for name, want := range map[string]string{
		"DOCS_BASE_URL=":                    "set DOCS_BASE_URL",
		"DOCS_API_KEY=":                     "set DOCS_API_KEY",
		"DOCS_DOMAIN= ":                     "set DOCS_DOMAIN",
		"DOCS_BASE_URL=http://host.example": "plain http",
		"DOCS_API_KEY=a b":                  "whitespace",
		"WAIT=20":                           "such as 20m",
		"":                                  "",
	} {
		variable, value, _ := strings.Cut(name, "=")
		s, err := readSettings(func(name string) string {
			if name == variable {
				return value
			}
			return valid[name]
		})
		if want == "" && (err != nil || s.base.String() != "https://host.example/v1" || s.wait != 20*time.Minute) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		yes, input string
		want       bool
	}{{"1", "", true}, {"", "yes\n", true}, {"", "", false}, {"", "y\n", false}, {"0", "no", false}} {
		err := settings{base: &url.URL{}}.confirm(test.yes, strings.NewReader(test.input), io.Discard)
		if (err == nil) != test.want {
			t.Errorf("YES=%s and %q: %v", test.yes, test.input, err)
		}
	}
}

func TestTimeFormat(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value any
		want  string
	}{
		{"2026-03-01T12:16:30Z", "RFC 3339 in UTC"},
		{"2026-03-01T12:16:30.123Z", "RFC 3339 in UTC, 3 decimals"},
		{"2026-03-01T12:16:30+01:00", "RFC 3339 with an offset"},
		{"2026-03-01 12:16:30", "date and time without an offset"},
		{"Sun, 01 Mar 2026 12:16:30 GMT", "HTTP date"},
		{json.Number("1772367390"), "number of seconds since 1970"},
		{"1772367390000", "string of milliseconds since 1970"},
		{"in 15 min " + mark, "other: `aa 99 aaa aaaaaa9999`"},
		{nil, "null"},
		{true, "boolean"},
	} {
		if got := timeFormat(test.value); got != test.want {
			t.Errorf("%v: got %q, want %q", test.value, got, test.want)
		}
	}
}

// TestRecorderVerifiesCertificates also checks that a request without a response is recorded.
func TestRecorderVerifiesCertificates(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder(base, clock.System{})
	defer r.Close()
	if resp, err := http.Get(r.URL + "/static-export/jobs/1"); err == nil {
		t.Errorf("got %s from a server with an unknown certificate", resp.Status)
		_ = resp.Body.Close()
	}
	if got := r.of("", getJob); len(got) != 1 || got[0].broken == nil {
		t.Errorf("recorded %+v", got)
	}
}
