// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const exportJob = "docs_static_export_job"

func TestStaticExportJobIsReadInEachStatus(t *testing.T) {
	t.Parallel()
	running := simulator.JobSpec{Queue: ended, Run: simulator.Forever, Progress: func(float64) any { return 37.5 }}
	rewritten := func(member string, value any) func(string, map[string]any) any {
		return func(_ string, body map[string]any) any {
			body[member] = value
			return body
		}
	}
	for name, test := range map[string]struct {
		job     simulator.JobSpec
		rewrite func(string, map[string]any) any
		want    map[string]any
	}{
		"queued": {
			job:  simulator.JobSpec{Queue: simulator.Forever},
			want: map[string]any{"job_id": "se_1", "status": "queued", "finished": false, "succeeded": false, "progress": 0., "page_count": 0., "error": nil},
		},
		"running": {
			job:  running,
			want: map[string]any{"status": "running", "finished": false, "succeeded": false, "progress": 37.5, "page_count": 0., "error": nil},
		},
		"completed": {
			job:  simulator.JobSpec{Queue: ended, Run: ended, Pages: 12},
			want: map[string]any{"status": "completed", "finished": true, "succeeded": true, "progress": 100., "page_count": 12., "error": nil},
		},
		"failed": {
			job:  simulator.JobSpec{Queue: ended, Run: ended, Fail: "page /broken does not render"},
			want: map[string]any{"status": "failed", "finished": true, "succeeded": false, "progress": nil, "page_count": nil, "error": "page /broken does not render"},
		},
		"failed without a reason": {
			job: simulator.JobSpec{Queue: ended, Run: ended, Fail: "unset"}, rewrite: rewritten("error", nil),
			want: map[string]any{"status": "failed", "error": nil},
		},
		"failed for a reason that is an object": {
			job: simulator.JobSpec{Queue: ended, Run: ended, Fail: "unset"}, rewrite: rewritten("error", map[string]any{"message": "no space", "code": 7}),
			want: map[string]any{"error": "no space"},
		},
		"in a status that is not documented": {
			job:  simulator.JobSpec{Queue: ended, Run: simulator.Forever, RunningStatus: "packaging"},
			want: map[string]any{"status": "packaging", "finished": false, "succeeded": false},
		},
		"with its progress as per cent text": {job: running, rewrite: rewritten("progress", "42 %"), want: map[string]any{"progress": 42.}},
		"with a progress that is no number":  {job: running, rewrite: rewritten("progress", "half"), want: map[string]any{"progress": nil}},
		"without a progress":                 {job: running, rewrite: rewritten("progress", simulator.Omit), want: map[string]any{"progress": nil}},
		"with its page count as text":        {job: running, rewrite: rewritten("pageCount", "12"), want: map[string]any{"page_count": 12.}},
		"with a page count of half a page":   {job: running, rewrite: rewritten("pageCount", .5), want: map[string]any{"page_count": nil}},
		"without a page count":               {job: running, rewrite: rewritten("pageCount", nil), want: map[string]any{"page_count": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			test.job.ID = "se_1"
			h.AddJob(test.job)
			h.Rewrite(test.rewrite)
			state, diagnostics := h.newProtocol(t).read(t, exportJob, map[string]any{"job_id": "se_1"})
			if diagnostics != "" {
				t.Error(diagnostics)
			}
			wantAttributes(t, state, test.want)
			h.wantCounts(t, map[string]int{simulator.EndpointJob: 1})
		})
	}
}

func TestStaticExportJobThatCannotBeReadIsExplained(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(*harness)
		said    []string
	}{
		"unknown":   {func(*harness) {}, []string{"ERROR: Could not read the static export job se_1", "HTTP 404 Not Found to GET /v1/static-export/jobs/se_1", "no such export job", "Check the id"}},
		"removed":   {func(h *harness) { h.AddJob(simulator.JobSpec{ID: "se_1"}); h.RetireJob("se_1") }, []string{"HTTP 410 Gone", "this export job has been removed", "Check the id"}},
		"wrong key": {func(h *harness) { h.RotateKey("other") }, []string{"HTTP 401 Unauthorized", "API key"}},
		"no status": {func(h *harness) { h.AddFault(simulator.Fault{Status: http.StatusOK, Body: "{}"}) }, []string{"the answer has no status"}},
		"too slow":  {func(h *harness) { h.AddFault(simulator.Fault{Delay: time.Hour}) }, []string{"The operation's timeout was reached."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			test.prepare(h)
			state, diagnostics := h.newProtocol(t).read(t, exportJob, map[string]any{"job_id": "se_1", "timeouts": map[string]any{"read": "20s"}})
			if state != nil {
				t.Errorf("the state is %v", state)
			}
			wantSaid(t, diagnostics, test.said...)
		})
	}
}

func TestStaticExportJobAsksForOneIDWhateverIsInIt(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	p := h.newProtocol(t)
	for _, id := range oddIDs {
		h.AddJob(simulator.JobSpec{ID: id, Queue: ended, Run: ended})
		if state, diagnostics := p.read(t, exportJob, map[string]any{"job_id": id}); diagnostics != "" || state["succeeded"] != true {
			t.Errorf("%q was read as %v %s", id, state, diagnostics)
		}
	}
	h.wantOneIDEach(t, oddIDs)
}

func TestStaticExportJobInTerraform(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.AddJob(simulator.JobSpec{ID: "se_1", Queue: time.Minute, Run: time.Minute})
	config := fmt.Sprintf("data %q \"job\" {\n  job_id = \"se_1\"\n}\n", exportJob)
	status := func(want string) []statecheck.StateCheck {
		return []statecheck.StateCheck{statecheck.ExpectKnownValue("data."+exportJob+".job", attribute("status"), knownvalue.StringExact(want))}
	}
	h.run(t,
		resource.TestStep{Config: config, ConfigStateChecks: status("queued")},
		resource.TestStep{PreConfig: func() { h.clock.Advance(90 * time.Second) }, Config: config, ConfigStateChecks: status("running")},
	)
}
