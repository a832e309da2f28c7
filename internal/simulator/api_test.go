// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	running := s.AddJob(simulator.JobSpec{Queue: none, Run: time.Hour})
	failed := s.AddJob(simulator.JobSpec{Queue: none, Run: none, Fail: "no pages"})
	forgotten, retired := s.doneJob(), s.doneJob()
	s.ForgetJob(forgotten)
	s.RetireJob(retired)
	const jobs = "/static-export/jobs"
	origin := strings.TrimSuffix(s.BaseURL, "/v1")
	for name, test := range map[string]struct {
		method, path, body string
		header             http.Header
		want               int
		wantHeader         [2]string
	}{
		"no key":                            {"GET", jobs + "/" + running, "", http.Header{"Authorization": nil}, 401, [2]string{"Www-Authenticate", "Bearer"}},
		"another key":                       {"GET", jobs + "/" + running, "", http.Header{"Authorization": {"Bearer sim_secret"}}, 401, [2]string{}},
		"a key that begins like the right":  {"GET", jobs + "/" + running, "", http.Header{"Authorization": {"Bearer " + simulator.DefaultAPIKey + "0"}}, 401, [2]string{}},
		"another scheme":                    {"GET", jobs + "/" + running, "", http.Header{"Authorization": {"Basic " + simulator.DefaultAPIKey}}, 401, [2]string{}},
		"an unknown path without a key":     {"GET", "/nothing", "", http.Header{"Authorization": nil}, 401, [2]string{}},
		"an unknown path":                   {"GET", "/nothing", "", nil, 404, [2]string{}},
		"a path outside the API":            {"GET", origin + "/", "", nil, 404, [2]string{}},
		"an unknown path below jobs":        {"POST", jobs + "/x/archive", "", nil, 404, [2]string{}},
		"a trailing slash":                  {"GET", jobs + "/" + running + "/", "", nil, 404, [2]string{}},
		"an empty id":                       {"GET", "/project/update-status/", "", nil, 404, [2]string{}},
		"a start with a trailing slash":     {"POST", jobs + "/", `{"domain":"a"}`, nil, 404, [2]string{}},
		"a list of jobs":                    {"GET", jobs, "", nil, 405, [2]string{"Allow", "POST"}},
		"the end of a job":                  {"DELETE", jobs + "/" + running, "", nil, 405, [2]string{"Allow", "GET"}},
		"reading a bundle":                  {"GET", jobs + "/" + running + "/bundle", "", nil, 405, [2]string{"Allow", "POST"}},
		"posting to an update":              {"POST", "/project/update-status/x", "", nil, 405, [2]string{"Allow", "GET"}},
		"an unknown update":                 {"GET", "/project/update-status/x", "", nil, 404, [2]string{}},
		"an unknown job":                    {"GET", jobs + "/se_0", "", nil, 404, [2]string{}},
		"a forgotten job":                   {"GET", jobs + "/" + forgotten, "", nil, 404, [2]string{}},
		"a retired job":                     {"GET", jobs + "/" + retired, "", nil, 410, [2]string{}},
		"a bundle of an unknown job":        {"POST", jobs + "/se_0/bundle", "", nil, 404, [2]string{}},
		"a bundle of a retired job":         {"POST", jobs + "/" + retired + "/bundle", "", nil, 410, [2]string{}},
		"a bundle of a running job":         {"POST", jobs + "/" + running + "/bundle", "", nil, 409, [2]string{}},
		"a bundle of a failed job":          {"POST", jobs + "/" + failed + "/bundle", "", nil, 409, [2]string{}},
		"a start without a body":            {"POST", jobs, "", nil, 400, [2]string{}},
		"a start with half a body":          {"POST", jobs, `{"domain":`, nil, 400, [2]string{}},
		"a start with more than an object":  {"POST", jobs, `{"domain":"a"} {}`, nil, 400, [2]string{}},
		"a start with null":                 {"POST", jobs, `null`, nil, 400, [2]string{}},
		"a start with an array":             {"POST", jobs, `["docs"]`, nil, 400, [2]string{}},
		"a start without a domain":          {"POST", jobs, `{"version":"1"}`, nil, 400, [2]string{}},
		"a start with a domain of a number": {"POST", jobs, `{"domain":7}`, nil, 400, [2]string{}},
		"a start with an empty domain":      {"POST", jobs, `{"domain":""}`, nil, 400, [2]string{}},
		"a start of no content type":        {"POST", jobs, `{"domain":"a"}`, http.Header{"Content-Type": nil}, 415, [2]string{}},
		"a start of another content type":   {"POST", jobs, `{"domain":"a"}`, http.Header{"Content-Type": {"text/plain"}}, 415, [2]string{}},
		"a body that is too large":          {"POST", jobs, strings.Repeat(" ", 9<<20), nil, 413, [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.call(test.method, test.path, test.body, test.header)
			if a.status != test.want {
				t.Errorf("status %d, want %d", a.status, test.want)
			}
			if message, _ := a.field(t, "error").(string); message == "" {
				t.Errorf("the body %q has no error message", a.body)
			}
			if name := test.wantHeader[0]; name != "" && a.header.Get(name) != test.wantHeader[1] {
				t.Errorf("%s is %q, want %q", name, a.header.Get(name), test.wantHeader[1])
			}
			for _, secret := range []string{simulator.DefaultAPIKey, "sim_secret"} {
				if strings.Contains(a.body, secret) {
					t.Errorf("the answer %q echoes a key", a.body)
				}
			}
		})
	}
	if got := len(s.JobIDs()); got != 3 {
		t.Errorf("there are %d jobs, want the 3 that were seeded", got)
	}
}

func TestContentTypeMayHaveParameters(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	a := s.call("POST", "/static-export/jobs", `{"domain":"a"}`, http.Header{"Content-Type": {"application/json; charset=utf-8"}})
	if a.status != http.StatusAccepted {
		t.Errorf("status %d", a.status)
	}
}

func TestIDsTravelEscaped(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	links := map[string]string{}
	for name, id := range map[string]string{
		"a slash":            "a/b",
		"a path":             "/static-export/jobs",
		"a question mark":    "a?b=c",
		"a hash":             "a#b",
		"two dots":           "..",
		"a climb":            "../../secret",
		"a per cent sign":    "100%",
		"an escape":          "%2F",
		"white space":        "a b",
		"letters of Greek":   "δοκιμή",
		"a control":          "a\x01b",
		"a semicolon":        "a;b",
		"the suffix":         "a/bundle",
		"the usual shape":    "se_3f9a2c1b8e7d4a06",
		"a plus sign":        "a+b",
		"invalid UTF-8":      "\xff",
		"a double slash":     "//",
		"a backslash, colon": `c:\x`,
	} {
		t.Run(name, func(t *testing.T) {
			s.AddJob(simulator.JobSpec{ID: id, Queue: none, Run: none, Archive: []byte("bundle of " + id)})
			s.AddUpdate(simulator.UpdateSpec{ID: id})
			escaped := strings.ReplaceAll(url.PathEscape(id), ".", "%2E")
			path := "/static-export/jobs/" + escaped

			if a := s.get(path); a.status != 200 {
				t.Errorf("the job answered %d %s", a.status, a.body)
			}
			if a := s.get("/project/update-status/" + escaped); a.status != 200 {
				t.Errorf("the update answered %d %s", a.status, a.body)
			}
			links[id] = s.bundle(escaped)
			for _, call := range s.Requests() {
				if call.ID != id {
					t.Errorf("%s %s has the id %q, want %q", call.Method, call.Path, call.ID, id)
				}
			}
			if got := s.Requests()[0].Path; got != "/v1"+path {
				t.Errorf("the log has the path %s, want it as it came: /v1%s", got, path)
			}
			s.ResetRequests()
		})
	}
	for id, link := range links {
		if a := s.get(link); a.body != "bundle of "+id {
			t.Errorf("the link of %q answered %d %q", id, a.status, a.body)
		}
	}
}

func TestRequestLog(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{Queue: none, Run: none})
	id := s.startJob()
	s.clock.Advance(time.Minute)
	s.get("/static-export/jobs/" + id + "?verbose=%20")
	link := s.bundle(id)
	s.get(link)
	s.get("/project/update-status/none")
	s.get("/other")

	log := s.Requests()
	want := []struct {
		method, endpoint, id string
		status               int
		after                time.Duration
	}{
		{"POST", "start", "", 202, 0},
		{"GET", "job", id, 200, time.Minute},
		{"POST", "bundle", id, 200, time.Minute},
		{"GET", "download", "exports/" + id + "/bundle.tar.gz", 200, time.Minute},
		{"GET", "update", "none", 404, time.Minute},
		{"GET", "unknown", "", 404, time.Minute},
	}
	if len(log) != len(want) {
		t.Fatalf("the log has %d requests, want %d", len(log), len(want))
	}
	for i, w := range want {
		got := log[i]
		if got.Method != w.method || got.Endpoint != w.endpoint || got.ID != w.id || got.Status != w.status ||
			!got.Time.Equal(epoch.Add(w.after)) {
			t.Errorf("request %d is %s %s %q %d at %v, want %+v", i, got.Method, got.Endpoint, got.ID, got.Status, got.Time, w)
		}
		if s.Count(w.endpoint) != 1 {
			t.Errorf("Count(%q) is %d, want 1", w.endpoint, s.Count(w.endpoint))
		}
	}
	if log[0].Body != `{"domain":"docs.acme.example"}` || log[0].Header.Get("Content-Type") != "application/json" {
		t.Errorf("the start is logged with %q, %v", log[0].Body, log[0].Header)
	}
	if log[1].Query != "verbose=%20" {
		t.Errorf("the query is logged as %q", log[1].Query)
	}
	if log[3].Host == log[0].Host || !strings.HasSuffix(s.StorageURL, log[3].Host) {
		t.Errorf("the download went to %s, the API is %s", log[3].Host, log[0].Host)
	}
	s.ResetRequests()
	if len(s.Requests()) != 0 || s.Count("job") != 0 {
		t.Error("the log is not empty after a reset")
	}
}

func TestEveryAnswerHasARequestIDAndADate(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{DateSkew: time.Hour})
	seen := map[string]bool{}
	for _, to := range []string{"/static-export/jobs/x", "/nothing", s.bundle(s.doneJob()), s.StorageURL + "/storage/x"} {
		a := s.get(to)
		id := a.header.Get("X-Request-Id")
		if id == "" || seen[id] {
			t.Errorf("the request id %q is missing or not new", id)
		}
		seen[id] = true
		if got, want := a.header.Get("Date"), "Sun, 01 Mar 2026 13:00:00 GMT"; got != want {
			t.Errorf("Date is %q, want %q", got, want)
		}
	}
	log := s.Requests()
	if !seen[log[len(log)-1].RequestID] {
		t.Error("the log does not have the request id of the answer")
	}
}

func TestClockSkewMovesTheWholeService(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{ClockSkew: time.Hour, LinkLifetime: time.Minute})
	id := s.doneJob()
	a := s.call("POST", "/static-export/jobs/"+id+"/bundle", "", nil)
	if got, want := a.field(t, "expiresAt"), "2026-03-01T13:01:00Z"; got != want {
		t.Errorf("expiresAt is %v, want %v", got, want)
	}
	if got, want := a.header.Get("Date"), "Sun, 01 Mar 2026 13:00:00 GMT"; got != want {
		t.Errorf("Date is %q, want %q", got, want)
	}
	if got, want := s.get("/static-export/jobs/"+id).field(t, "createdAt"), "2026-03-01T13:00:00.000Z"; got != want {
		t.Errorf("createdAt is %v, want %v", got, want)
	}
	if got := s.Requests()[0].Time; !got.Equal(epoch) {
		t.Errorf("the log has the time %v, want that of the Clock", got)
	}
	link, _ := a.field(t, "bundleUrl").(string)
	if a := s.get(link); a.status != 200 {
		t.Errorf("the link answered %d", a.status)
	}
	s.clock.Advance(time.Minute)
	if a := s.get(link); a.status != 403 {
		t.Errorf("the expired link answered %d", a.status)
	}
}

func TestRotateKey(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	id := s.doneJob()
	s.RotateKey("sim_new")
	if a := s.get("/static-export/jobs/" + id); a.status != 401 {
		t.Errorf("the old key answered %d", a.status)
	}
	if a := s.call("GET", "/static-export/jobs/"+id, "", http.Header{"Authorization": {"bearer sim_new"}}); a.status != 200 {
		t.Errorf("the new key answered %d", a.status)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		retryAfter func(time.Duration) string
		want       string
	}{
		"whole seconds by default": {nil, "1"},
		"a form of the test's own": {func(d time.Duration) string { return epoch.Add(d).Format(http.TimeFormat) }, "Sun, 01 Mar 2026 12:00:00 GMT"},
		"no Retry-After":           {func(time.Duration) string { return "" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{})
			path := "/static-export/jobs/" + s.doneJob()
			s.SetRateLimit(4, 3, test.retryAfter)
			for range 3 {
				if a := s.get(path); a.status != 200 {
					t.Fatalf("a request of the burst answered %d", a.status)
				}
			}
			a := s.get(path)
			if a.status != 429 || a.header.Get("Retry-After") != test.want {
				t.Errorf("after the burst: %d, Retry-After %q, want %q", a.status, a.header.Get("Retry-After"), test.want)
			}
			s.clock.Advance(250*time.Millisecond - 1)
			if a := s.get(path); a.status != 429 {
				t.Errorf("just before the next token: %d", a.status)
			}
			s.clock.Advance(1)
			if a := s.get(path); a.status != 200 {
				t.Errorf("at the next token: %d", a.status)
			}
			s.SetRateLimit(0, 0, nil)
			if a := s.get(path); a.status != 200 {
				t.Errorf("with the limit lifted: %d", a.status)
			}
		})
	}
}

// What a client is told to wait must be enough, to the nanosecond.
func TestRateLimitKeepsItsWord(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	path := "/static-export/jobs/" + s.doneJob()
	var wait time.Duration
	s.SetRateLimit(7, 1, func(d time.Duration) string { wait = d; return "" })
	for i := range 50 {
		if a := s.get(path); a.status != 200 {
			t.Fatalf("request %d answered %d after the wait it was told", i, a.status)
		}
		s.get(path)
		s.clock.Advance(wait)
	}
}

func TestStorageHasNoRateLimit(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	link := s.bundle(s.doneJob())
	s.SetRateLimit(1, 1, nil)
	for range 5 {
		if a := s.get(link); a.status != 200 {
			t.Errorf("a download answered %d", a.status)
		}
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	id := s.doneJob()
	s.Rewrite(func(endpoint string, body map[string]any) any {
		switch endpoint {
		case simulator.EndpointJob:
			body["progress"] = "100 %"
			body["pageCount"] = simulator.Omit
			return body
		default:
			return []any{nil}
		}
	})
	a := s.get("/static-export/jobs/" + id)
	if a.field(t, "progress") != "100 %" || strings.Contains(a.body, "pageCount") {
		t.Errorf("the rewritten job is %s", a.body)
	}
	if a := s.call("POST", "/static-export/jobs/"+id+"/bundle", "", nil); strings.TrimSpace(a.body) != "[null]" {
		t.Errorf("the rewritten bundle is %s", a.body)
	}
	if a := s.get("/static-export/jobs/x"); strings.Contains(a.body, "progress") {
		t.Errorf("an error was rewritten to %s", a.body)
	}
	s.Rewrite(nil)
	if a := s.get("/static-export/jobs/" + id); a.field(t, "progress") != 100.0 {
		t.Errorf("without a rewrite: %s", a.body)
	}
}

func TestServiceIsAHandlerOfItsOwn(t *testing.T) {
	t.Parallel()
	s := simulator.New(simulator.Options{Clock: simulator.NewVirtualClock(epoch)})
	id := s.AddJob(simulator.JobSpec{Queue: none, Run: none})
	request := httptest.NewRequest(http.MethodPost, "https://api.example/v1/static-export/jobs/"+id+"/bundle", nil)
	request.Header.Set("Authorization", "Bearer "+simulator.DefaultAPIKey)
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, request)
	link, _ := answer{body: recorder.Body.String()}.field(t, "bundleUrl").(string)
	if !strings.HasPrefix(link, "https://api.example/storage/") {
		t.Fatalf("the link is %q, want it on the host of the API", link)
	}
	recorder = httptest.NewRecorder()
	s.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, link, nil))
	if recorder.Code != 200 {
		t.Errorf("the link answered %d", recorder.Code)
	}
}

func TestServiceIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{Queue: none, Run: none})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				id := s.startJob()
				link := s.bundle(id)
				if a := s.get(link); a.status != 200 {
					t.Errorf("the link answered %d", a.status)
				}
				s.AddUpdate(simulator.UpdateSpec{ID: id})
				s.get("/project/update-status/" + id)
				s.Requests()
				s.ForgetJob(id)
				if a := s.get(link); a.status != 404 {
					t.Errorf("the link of a forgotten job answered %d", a.status)
				}
			}
		})
	}
	wg.Wait()
	if got := s.Count(simulator.EndpointStart); got != 80 {
		t.Errorf("%d starts are logged, want 80", got)
	}
}
