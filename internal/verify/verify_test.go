// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"archive/zip"
	"bytes"
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
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
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
	for _, private := range []string{mark, "4711", s.domain, s.base.Host, s.base.Hostname()} {
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
		"| POST /static-export/jobs | 202, application/json | 1 |",
		"| `queued` after 0s, `running` after ", "s, `completed` after 2",
		"| `progress` | number from `0` to `100` |",
		"| `expiresAt` | string like `9999-99-99T99:99:99Z` |",
		"s, as the provider reads it |",
		"| Another request before the link expires | a new link |",
		"; files: 8; `.html` pages: 6; `index.html` at the top: true; names outside ASCII: false |",
		"| Request ID | `X-Request-Id`: `",
		"| Wrong API key | 401, application/json, `{error: string}` |",
		"| Clock of the service | 0s ahead",
		"not in the contract: none; no value for: error |",
		"## Violations of api/openapi.yaml\n\nNone.\n",
		"## What the provider would do differently if it knew\n\nNone.\n",
	)
	ephemeral := strings.Count(report, "| Create an ephemeral link | ok |") // an old CLI skips it
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
		w.Header().Set("X-Transaction-Id", "4711")
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
	s.NextJob(simulator.JobSpec{ID: "se_" + mark, Archive: packed.Bytes(), QueuedStatus: "behind `|" + mark + strings.Repeat("é", 50), RunningStatus: "rendering", Progress: func(share float64) any { return share }})
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
		"| POST /static-export/jobs | 200, application/json | 1 |",
		"| `aaaaaa aaaaaaaa9999"+strings.Repeat("a", 21)+"`, unknown to the provider, after 0s, `rendering`, unknown to the provider, after ",
		"| Statuses of the job | Know which other statuses are final",
		"| `progress` | number from `0` to `1` |",
		"| `progress` | Multiply it by 100",
		"| `pageCount` | string from `12` to `12` |",
		"| `expiresAt` | number like `9999999999999` |",
		"| `expiresAt` | Read the documented unit",
		"| Another request before the link expires | the same link |",
		"| Another request before the link expires | Ignore `renew_before`",
		"| Archive | application/zip of ", "; files: 2; `.html` pages: 1; `index.html` at the top: false; names outside ASCII: true |",
		"| Rate limit headers | `Ratelimit-Policy`: `aaaaaa9999`, `X-Ratelimit-Limit`: `100` |",
		"| Request ID | `X-Transaction-Id`: `9999`, unknown to the provider |",
		"| Request ID | Show it in errors",
		"| Wrong API key | 403, application/json, `{fault: {NAME: string}}` |",
		"| Wrong API key | Advise the user to check the API key",
		"| Unknown job | Plan a new export",
		"| Clock of the service | -",
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
		"| Plan, import, create an ephemeral link, and renew | skipped | there is no bundle |",
		"| Read with a wrong API key | ok |",
		"| GET /project/update-status/{id} | 200, text/html | ",
		"| First 429 | 429, application/json, `{error: string}`, no `Retry-After` |",
		"| the response: the content type is (hidden) | ",
		"| POST /static-export/jobs | createdAt breaks the rule `type` | 1 |",
		"| POST /static-export/jobs | error breaks the rule `type` | 1 |",
	)
	if !strings.Contains(s.console.String(), "Static export job failed") || !strings.Contains(s.console.String(), mark) {
		t.Errorf("the console does not show the service's message:\n%s", &s.console)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	valid := map[string]string{"DOCS_BASE_URL": "https://host.example/v1/ ", "DOCS_API_KEY": "key_1", "DOCS_DOMAIN": "docs.example.com", "WAIT": "20m", "YES": "1"}
	for name, want := range map[string]string{
		"DOCS_BASE_URL=":                    "set DOCS_BASE_URL",
		"DOCS_API_KEY=":                     "set DOCS_API_KEY",
		"DOCS_DOMAIN= ":                     "set DOCS_DOMAIN",
		"DOCS_BASE_URL=http://host.example": "plain http",
		"DOCS_API_KEY=a b":                  "whitespace",
		"WAIT=20":                           "such as 20m",
		"YES=yes":                           "set YES=1",
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

func TestStatusThatIsAnObject(t *testing.T) {
	t.Parallel()
	job := exchange{status: http.StatusOK, body: map[string]any{"status": map[string]any{}}}
	if got := statuses([]exchange{job, job}); strings.Count(got, "after") != 1 {
		t.Errorf("got %s", got)
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
