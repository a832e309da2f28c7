// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{Observe: func(simulator.Exchange) {}})
	running := h.AddJob(simulator.JobSpec{Run: time.Hour})
	failed := h.AddJob(simulator.JobSpec{Queue: noTime, Run: noTime, Fail: "no pages"})
	forgotten := h.completedJob()
	h.ForgetJob(forgotten)
	for name, test := range map[string]struct {
		method, path, body string
		authorization      string // replaces the right one
		want               int
	}{
		"no key":                     {"GET", jobs + "/" + running, "", "none", 401},
		"another key":                {"GET", jobs + "/" + running, "", "Bearer sim_secret", 401},
		"a key that is too long":     {"GET", jobs + "/" + running, "", "Bearer " + simulator.DefaultAPIKey + "0", 401},
		"another scheme":             {"GET", jobs + "/" + running, "", "Basic " + simulator.DefaultAPIKey, 401},
		"an unknown path":            {"GET", "/nothing", "", "", 404},
		"a trailing slash":           {"GET", jobs + "/" + running + "/", "", "", 404},
		"an empty ID":                {"GET", "/project/update-status/", "", "", 404},
		"a list of jobs":             {"GET", jobs, "", "", 404},
		"reading a bundle":           {"GET", jobs + "/" + running + "/bundle", "", "", 404},
		"an unknown update":          {"GET", "/project/update-status/x", "", "", 404},
		"an unknown job":             {"GET", jobs + "/se_0", "", "", 404},
		"a forgotten job":            {"GET", jobs + "/" + forgotten, "", "", 404},
		"a bundle of an unknown job": {"POST", jobs + "/se_0/bundle", "", "", 404},
		"a bundle of a running job":  {"POST", jobs + "/" + running + "/bundle", "", "", 409},
		"a bundle of a failed job":   {"POST", jobs + "/" + failed + "/bundle", "", "", 409},
		"a start without a body":     {"POST", jobs, "", "", 400},
		"a start with half a body":   {"POST", jobs, `{"domain":`, "", 400},
		"a start without a domain":   {"POST", jobs, `{"version":"1"}`, "", 400},
		"a start with a number":      {"POST", jobs, `{"domain":7}`, "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{}
			if test.authorization != "" {
				header.Set("Authorization", test.authorization)
			}
			r := h.call(test.method, test.path, test.body, header)
			if message, _ := r.object(t)["error"].(string); r.status != test.want || message == "" {
				t.Errorf("%d %s, want %d", r.status, r.body, test.want)
			}
			if strings.Contains(r.body, "sim_") {
				t.Errorf("the answer %q repeats a key", r.body)
			}
		})
	}
	if got := h.JobIDs(); !slices.Equal(got, []string{running, failed}) {
		t.Errorf("the jobs are %v", got)
	}
}

func TestIDsAreEscapedInPaths(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{})
	links := map[string]bool{}
	for _, id := range []string{"a/b", "a?b=c", "a#b", "..", "../../secret", "100%", "a b", "ü", "%2e%2e", "a+b", "bundle"} {
		h.AddJob(simulator.JobSpec{ID: id, Queue: noTime, Run: noTime})
		escaped := strings.ReplaceAll(url.PathEscape(id), ".", "%2E")
		if got := h.job(escaped)["jobId"]; got != id {
			t.Errorf("the job %q is %v", id, got)
		}
		link := h.link(escaped)
		if r := h.get(link); r.status != 200 {
			t.Errorf("the link of the job %q answers %d %s", id, r.status, r.body)
		}
		path, _, _ := strings.Cut(link, "?")
		if links[path] {
			t.Errorf("the bundle of the job %q has the path %s of another one", id, path)
		}
		links[path] = true
		if log := h.Requests(); log[len(log)-2].ID != id {
			t.Errorf("the log has the ID %q, want %q", log[len(log)-2].ID, id)
		}
	}
}

func TestRotateKey(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{APIKey: "sim_old"})
	id := h.completedJob()
	h.RotateKey("sim_new")
	for key, want := range map[string]int{"sim_old": 401, "sim_new": 200} {
		if r := h.call("GET", jobs+"/"+id, "", http.Header{"Authorization": {"Bearer " + key}}); r.status != want {
			t.Errorf("the key %s answers %d, want %d", key, r.status, want)
		}
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		retryAfter func(time.Duration) string
		want       string
	}{
		"in seconds":      {nil, "1"},
		"in another form": {func(wait time.Duration) string { return wait.String() }, "500ms"},
		"without a hint":  {func(time.Duration) string { return "" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, simulator.Options{})
			path := jobs + "/" + h.completedJob()
			h.SetRateLimit(2, 3, test.retryAfter)
			for i, want := range []int{200, 200, 200, 429, 429} {
				if r := h.get(path); r.status != want || want == 429 && r.header.Get("Retry-After") != test.want {
					t.Errorf("request %d answers %d, Retry-After %q", i, r.status, r.header.Get("Retry-After"))
				}
			}
			h.clock.Advance(500 * time.Millisecond)
			for _, want := range []int{200, 429} {
				if r := h.get(path); r.status != want {
					t.Errorf("half a second later: %d, want %d", r.status, want)
				}
			}
			h.SetRateLimit(0, 0, nil)
			if r := h.get(path); r.status != 200 {
				t.Errorf("without the limit: %d", r.status)
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rewrite func(endpoint string, body map[string]any) any
		want    string
	}{
		"a member":          {func(_ string, body map[string]any) any { return map[string]any{"status": body["status"]} }, `{"status":"completed"}`},
		"an omitted member": {func(string, map[string]any) any { return map[string]any{"a": simulator.Omit, "b": []any{}} }, `{"b":[]}`},
		"another type":      {func(endpoint string, _ map[string]any) any { return []string{endpoint} }, `["job"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t, simulator.Options{})
			id := h.completedJob()
			h.Rewrite(test.rewrite)
			if r := h.get(jobs + "/" + id); strings.TrimSpace(r.body) != test.want {
				t.Errorf("the body is %s, want %s", r.body, test.want)
			}
			if r := h.get(jobs + "/other"); r.status != 404 || r.object(t)["error"] == nil {
				t.Errorf("an error was rewritten: %s", r.body)
			}
			h.Rewrite(nil)
			if got := h.job(id)["jobId"]; got != id {
				t.Errorf("without the rewriting, the job is %v", got)
			}
		})
	}
}

func TestRequestLog(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{})
	id := h.startJob()
	h.clock.Advance(time.Minute)
	r := h.get(jobs + "/" + id)
	h.get(h.StorageURL + "/storage/exports/x?a=b")
	h.get(h.StorageURL + "/elsewhere")
	log := h.Requests()
	first, second, third := log[0], log[1], log[2]
	if first.Endpoint != "start" || first.Method != "POST" || first.Path != "/v1"+jobs || first.Body != `{"domain":"docs.example.com"}` || !first.Time.Equal(epoch) {
		t.Errorf("the start is logged as %+v", first)
	}
	if second.ID != id || second.RequestID != r.header.Get("X-Request-Id") || second.RequestID == first.RequestID || !second.Time.Equal(epoch.Add(time.Minute)) {
		t.Errorf("the job's request is logged as %+v", second)
	}
	if third.Endpoint != simulator.EndpointDownload || third.Query != "a=b" || third.Header.Get("Authorization") != "" {
		t.Errorf("the download is logged as %+v", third)
	}
	counts := map[string]int{}
	for _, endpoint := range []string{"start", "job", "bundle", "update", "download", "unknown"} {
		counts[endpoint] = h.Count(endpoint)
	}
	if want := map[string]int{"start": 1, "job": 1, "bundle": 0, "update": 0, "download": 1, "unknown": 1}; !maps.Equal(counts, want) {
		t.Errorf("the counts are %v", counts)
	}
	h.ResetRequests()
	if log := h.Requests(); len(log) > 0 || h.Count("job") > 0 {
		t.Errorf("after the reset, the log is %v", log)
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 5)
	h := start(t, simulator.Options{Observe: func(x simulator.Exchange) {
		seen <- fmt.Sprintf("%s %d %t", x.Request.Endpoint, x.Status, x.Altered)
	}})
	id := h.completedJob()
	odd := h.AddUpdate(simulator.UpdateSpec{QueuedStatus: "waiting"})
	h.get(jobs + "/" + id)
	h.get(h.link(id))
	h.get("/project/update-status/" + odd)
	h.AddFault(simulator.Fault{Status: 500, Times: 1})
	h.get(jobs + "/" + id)
	h.Rewrite(func(_ string, body map[string]any) any { return body })
	h.get(jobs + "/" + id)
	for _, want := range []string{"job 200 false", "bundle 200 false", "update 200 true", "job 0 true", "job 200 true"} {
		if got := <-seen; got != want {
			t.Errorf("observed %q, want %q", got, want)
		}
	}
}

func TestServiceBehindAServerOfItsUser(t *testing.T) {
	t.Parallel()
	service := simulator.New(simulator.Options{Queue: noTime, Run: noTime})
	server := httptest.NewTLSServer(service)
	defer server.Close()
	h := &harness{t: t, client: server.Client(), Server: &simulator.Server{Service: service, BaseURL: server.URL + "/v1"}}
	link := h.link(h.startJob())
	if r := h.get(link); !strings.HasPrefix(link, server.URL+"/storage/") || r.status != 200 {
		t.Errorf("the link %s answers %d", link, r.status)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{ListenAddr: "localhost:0"})
	taken := strings.TrimSuffix(strings.TrimPrefix(h.BaseURL, "http://"), "/v1")
	if strings.Contains(h.StorageURL, taken) {
		t.Error("the API and the store share a host")
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "example.com:0", "127.0.0.1", taken} {
		if server, err := simulator.Listen(simulator.Options{ListenAddr: address}); err == nil {
			_ = server.Close()
			t.Errorf("it listens on %q", address)
		}
	}
	for range 3 {
		h.get(h.BaseURL)
	}
	h.get(h.StorageURL)
	if got := h.Connections(); got != 1 {
		t.Errorf("%d connections, want 1", got)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	for _, to := range []string{h.BaseURL, h.StorageURL} {
		if r, err := h.try("GET", to, "", nil); err == nil {
			t.Errorf("after Close, %s answers %d", to, r.status)
		}
	}
}

// wantFields compares some members of an object. A nil value means that the
// member is missing.
func wantFields(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if !reflect.DeepEqual(got[name], value) {
			t.Errorf("%s: %s is %v, want %v", what, name, got[name], value)
		}
	}
}
