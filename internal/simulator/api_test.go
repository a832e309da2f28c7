// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"fmt"
	"net/http"
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
		"an unknown path":            {"GET", "/nothing", "", "", 404},
		"an unknown update":          {"GET", "/project/update-status/x", "", "", 404},
		"an unknown job":             {"GET", jobs + "/se_0", "", "", 404},
		"a forgotten job":            {"GET", jobs + "/" + forgotten, "", "", 404},
		"a bundle of an unknown job": {"POST", jobs + "/se_0/bundle", "", "", 404},
		"a bundle of a running job":  {"POST", jobs + "/" + running + "/bundle", "", "", 409},
		"a bundle of a failed job":   {"POST", jobs + "/" + failed + "/bundle", "", "", 409},
		"a start without a body":     {"POST", jobs, "", "", 400},
		"a start without a domain":   {"POST", jobs, `{"version":"1"}`, "", 400},
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
				t.Errorf("the response %q repeats a key", r.body)
			}
		})
	}
	if got := h.JobIDs(); !slices.Equal(got, []string{running, failed}) {
		t.Errorf("the jobs are %v", got)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	h := start(t, simulator.Options{})
	path := jobs + "/" + h.completedJob()
	h.SetRateLimit(2, 3)
	for i, want := range []int{200, 200, 200, 429, 429} {
		if r := h.get(path); r.status != want || want == 429 && r.header.Get("Retry-After") != "1" {
			t.Errorf("request %d: %d, Retry-After %q", i, r.status, r.header.Get("Retry-After"))
		}
	}
	h.clock.Advance(500 * time.Millisecond)
	for _, want := range []int{200, 429} {
		if r := h.get(path); r.status != want {
			t.Errorf("half a second later: %d, want %d", r.status, want)
		}
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
	h.get(h.BaseURL)
	h.get(h.BaseURL)
	if got := h.Connections(); got != 1 {
		t.Errorf("%d connections, want 1", got)
	}
}

// wantFields compares some fields of an object. A nil value means that the
// field is missing.
func wantFields(t *testing.T, what string, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if !reflect.DeepEqual(got[name], value) {
			t.Errorf("%s: %s is %v, want %v", what, name, got[name], value)
		}
	}
}
