// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const noTime = -time.Second // no queue, no run

var epoch = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// harness is a Server on a virtual clock, whose exchanges must match the
// contract, and a client for it.
type harness struct {
	*simulator.Server
	t      *testing.T
	clock  *clocktest.Virtual
	client *http.Client
}

func start(t *testing.T, options simulator.Options) *harness {
	t.Helper()
	h := &harness{t: t, clock: clocktest.NewVirtual(epoch), client: &http.Client{Transport: &http.Transport{}}}
	options.Now = h.clock.Now
	if options.Observe == nil {
		options.Observe = contract.New(t).Check
	}
	server, err := simulator.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	h.Server = server
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// response is a response that has been read.
type response struct {
	status int
	header http.Header
	body   string
}

// object returns the fields of a JSON response.
func (r response) object(t *testing.T) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(r.body), &object); err != nil {
		t.Fatalf("the body %q is not a JSON object: %v", r.body, err)
	}
	return object
}

// try sends a request: to a path below the base URL with the key, to a whole
// URL without it. header replaces what it sends otherwise.
func (h *harness) try(method, to, body string, header http.Header) (response, error) {
	h.t.Helper()
	sent := http.Header{}
	if strings.HasPrefix(to, "/") {
		to = h.BaseURL + to
		sent.Set("Authorization", "Bearer "+simulator.DefaultAPIKey)
	}
	if body != "" {
		sent.Set("Content-Type", "application/json")
	}
	maps.Copy(sent, header)
	request, err := http.NewRequestWithContext(h.t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header = sent
	got, err := h.client.Do(request)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return response{got.StatusCode, got.Header, string(text)}, err
}

func (h *harness) call(method, to, body string, header http.Header) response {
	h.t.Helper()
	r, err := h.try(method, to, body, header)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, to, err)
	}
	return r
}

func (h *harness) get(to string) response {
	h.t.Helper()
	return h.call("GET", to, "", nil)
}

func (h *harness) job(id string) map[string]any {
	h.t.Helper()
	return h.get(jobs + "/" + id).object(h.t)
}

// link creates a link and returns it.
func (h *harness) link(id string) string {
	h.t.Helper()
	link, _ := h.call("POST", jobs+"/"+id+"/bundle", "", nil).object(h.t)["bundleUrl"].(string)
	return link
}

// completedJob adds a completed job.
func (h *harness) completedJob() string {
	return h.AddJob(simulator.JobSpec{Queue: noTime, Run: noTime})
}

const jobs = "/static-export/jobs"
