// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tfsdklogtest"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// TestNoObjectTellsASecret does everything that Terraform does with each object,
// well and with every class of error at every endpoint that it calls, at the
// finest log level, and looks for the key and for links in all that a user or a
// log collector sees.
// The service is a careless one: its errors quote both.
func TestNoObjectTellsASecret(t *testing.T) {
	for _, operation := range operations {
		called := map[string]bool{}
		t.Run(operation.name, func(t *testing.T) {
			run := newSecretRun(t)
			operation.prepare(t, run)
			run.ResetRequests()
			run.watched(t, operation)
			for _, request := range run.Requests() {
				called[request.Endpoint] = true
			}
			if operation.fails != strings.Contains(run.shown.String(), "ERROR") {
				t.Errorf("it shows:\n%s", run.shown.String())
			}
		})
		for _, mishap := range mishaps {
			for endpoint := range called {
				t.Run(fmt.Sprintf("%s/%s/%s", operation.name, mishap.name, endpoint), func(t *testing.T) {
					t.Parallel()
					run := newSecretRun(t)
					operation.prepare(t, run)
					mishap.arm(t, run.wire, run.harness, endpoint)
					run.watched(t, operation)
				})
			}
		}
	}
}

// mishaps are the classes of errors. Each quotes what must not be told.
var mishaps = []fault{
	{name: "refused request", answer: status(400)},
	{name: "refused key", answer: status(401)},
	{name: "unknown object", answer: status(404)},
	{name: "rate limit", answer: withHeader(status(429), "Retry-After", "999999999")},
	{name: "broken service", answer: status(500)},
	{name: "web page", answer: simulator.Fault{Status: 502, Body: "<html><body><p>" + echo + "</p><a href='https://storage.example/x?X-Amz-Signature=" + linkMark + "'>"}},
	{name: "XML of an object store", answer: simulator.Fault{Status: 403, Body: "<Error><Code>AccessDenied</Code><Message>" + echo + "</Message></Error>"}},
	{name: "error in a success", answer: simulator.Fault{Status: 200, Body: `{"errors": [{"detail": "` + echo + `"}]}`}},
	{name: "wrong types", answer: simulator.Fault{Status: 200, Body: `{"jobId": ["` + echo + `"], "status": {"x": "` + echo + `"}, "bundleUrl": 7, "expiresAt": "` + echo + `"}`}},
	{name: "link that is none", answer: simulator.Fault{Status: 200, Body: `{"jobId": "se_done", "status": "completed", "bundleUrl": "://storage.example?X-Amz-Signature=` + linkMark + `"}`}},
	{name: "unknown status", answer: simulator.Fault{Status: 200, Body: `{"jobId": "se_done", "status": "` + echo + `"}`}},
	{name: "no JSON", answer: simulator.Fault{Status: 200, Body: echo}},
	{name: "request id that quotes", answer: withHeader(status(500), "X-Request-Id", echo)},
	{name: "cut connection", answer: simulator.Fault{Cut: simulator.CutAfter}},
	{name: "cut body", answer: simulator.Fault{TruncateBody: 60}},
	{name: "no answer", answer: simulator.Fault{Hang: true}},
	{name: "redirect", answer: withHeader(status(307), "Location", "https://elsewhere.invalid/x?X-Amz-Signature="+linkMark+"&key="+simulator.DefaultAPIKey)},
	{name: "redirect to a broken URL", answer: withHeader(status(302), "Location", "http://[x/?X-Amz-Signature="+linkMark)},
	{name: "status line that quotes", wire: sayingWire("HTTP/1.1 " + echo + "\r\n\r\n")},
	{name: "header that quotes", wire: sayingWire("HTTP/1.1 200 OK\r\n" + strings.ReplaceAll(echo, ":", "") + "\r\n\r\n")},
	{name: "no HTTP", wire: sayingWire(echo + "\r\n\r\n")},
	{name: "transfer coding that quotes", wire: sayingWire("HTTP/1.1 200 OK\r\nTransfer-Encoding: " + echo + "\r\n\r\n")},
}

// arm makes all requests to an endpoint go wrong.
func (f fault) arm(t *testing.T, wire *faultyWire, h *harness, endpoint string) {
	t.Helper()
	if f.wire == nil {
		f.answer.Endpoint = endpoint
		h.AddFault(f.answer)
		return
	}
	wire.faulty, wire.endpoint, wire.lasts = f.wire(t, h), endpoint, true
}

// operation is something that Terraform does with an object. What prepare does
// meets no error and is not watched.
type operation struct {
	name    string
	fails   bool // also of a service that works
	prepare func(*testing.T, *secretRun)
	act     func(*testing.T, *secretRun)
}

func nothing(*testing.T, *secretRun) {}

var operations = []operation{
	{name: "create an export", prepare: nothing, act: exporting(nil)},
	{
		name: "create an export that fails", fails: true, act: exporting(nil),
		prepare: func(_ *testing.T, run *secretRun) { run.NextJob(simulator.JobSpec{Fail: echo}) },
	},
	{name: "refresh an export", prepare: exporting(nil), act: func(t *testing.T, run *secretRun) { run.show(run.export.refresh(t)) }},
	{name: "renew a link", act: exporting(nil), prepare: func(t *testing.T, run *secretRun) {
		exporting(nil)(t, run)
		run.clock.Advance(2 * time.Hour)
	}},
	{name: "export anew", prepare: exporting(nil), act: exporting(map[string]any{"revision": "2"})},
	{name: "import an export", prepare: nothing, act: func(t *testing.T, run *secretRun) {
		run.show(run.export.importID(t, "docs.example.com,se_done"))
	}},
	{name: "destroy an export", prepare: exporting(nil), act: func(t *testing.T, run *secretRun) { run.show(run.export.destroy(t)) }},
	{name: "read an update", prepare: nothing, act: reading("docs_update_status", map[string]any{"status_id": "upd_good"})},
	{
		name: "wait for an update that fails", fails: true, prepare: nothing,
		act: reading("docs_update_status", map[string]any{"status_id": "upd_bad", "wait_for_completion": true, "fail_on_failure": true}),
	},
	{name: "read a job", prepare: nothing, act: reading("docs_static_export_job", map[string]any{"job_id": "se_done"})},
	{name: "read a job that failed", prepare: nothing, act: reading("docs_static_export_job", map[string]any{"job_id": "se_failed"})},
	{name: "pass a gate", prepare: nothing, act: creating("docs_update_gate", map[string]any{"status_id": "upd_good"})},
	{name: "meet a closed gate", fails: true, prepare: nothing, act: creating("docs_update_gate", map[string]any{"status_id": "upd_bad"})},
	{name: "open a link", prepare: nothing, act: opening("se_done")},
	{name: "open a link of a job that failed", fails: true, prepare: nothing, act: opening("se_failed")},
	{name: "await an update", prepare: nothing, act: awaiting("upd_good")},
	{name: "await an update that fails", fails: true, prepare: nothing, act: awaiting("upd_bad")},
	{name: "download a bundle", prepare: nothing, act: downloading(nil)},
	{name: "download a bundle of another checksum", fails: true, prepare: nothing, act: downloading(map[string]any{"sha256": strings.Repeat("0", 64)})},
}

// exporting applies the run's export with some triggers.
func exporting(triggers map[string]any) func(*testing.T, *secretRun) {
	return func(t *testing.T, run *secretRun) {
		t.Helper()
		arguments := map[string]any{"domain": "docs.example.com"}
		if triggers != nil {
			arguments["triggers"] = triggers
		}
		run.apply(t, run.export, arguments)
	}
}

func creating(name string, arguments map[string]any) func(*testing.T, *secretRun) {
	return func(t *testing.T, run *secretRun) {
		t.Helper()
		run.apply(t, run.newInstance(name), arguments)
	}
}

func downloading(more map[string]any) func(*testing.T, *secretRun) {
	return func(t *testing.T, run *secretRun) {
		t.Helper()
		folder := t.TempDir()
		arguments := map[string]any{"job_id": "se_done", "path": filepath.Join(folder, "bundle.tar.gz"), "extract_to": filepath.Join(folder, "site")}
		for name, value := range more {
			arguments[name] = value
		}
		run.apply(t, run.newInstance("docs_bundle_download"), arguments)
	}
}

func reading(name string, arguments map[string]any) func(*testing.T, *secretRun) {
	return func(t *testing.T, run *secretRun) {
		t.Helper()
		state, said := run.read(t, name, arguments)
		run.show(said)
		run.showPlain(run.schemas.DataSourceSchemas[name], state)
	}
}

func opening(jobID string) func(*testing.T, *secretRun) {
	return func(t *testing.T, run *secretRun) {
		t.Helper()
		result, resp := run.open(t, exportBundle, map[string]any{"job_id": jobID})
		run.show(said6(resp.Diagnostics), string(resp.Private))
		run.showPlain(run.schemas.EphemeralResourceSchemas[exportBundle], result)
	}
}

func awaiting(statusID string) func(*testing.T, *secretRun) {
	return func(t *testing.T, run *secretRun) {
		t.Helper()
		messages, said := run.invoke(run.ctx, t, "docs_await_update", map[string]any{"status_id": statusID})
		run.show(append(messages, said)...)
	}
}

// secretRun is one operation and all that is seen of it.
type secretRun struct {
	*protocol
	export *instance
	links  *handedOut
	wire   *faultyWire
	shown  strings.Builder
}

func newSecretRun(t *testing.T) *secretRun {
	t.Helper()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_good"})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_bad", Fail: echo})
	h.AddJob(simulator.JobSpec{ID: "se_done", StartedAt: startOfTime.Add(-time.Hour)})
	h.AddJob(simulator.JobSpec{ID: "se_failed", StartedAt: startOfTime.Add(-time.Hour), Fail: echo})
	options := h.options()
	wire := &faultyWire{RoundTripper: options.HTTPClient.Transport}
	options.HTTPClient = &http.Client{Transport: wire}
	run := &secretRun{protocol: h.newProtocolWith(t, options, nil), links: &handedOut{}, wire: wire}
	run.ctx = tfsdklogtest.RootLogger(run.ctx, run.logs)
	run.links.watch(h)
	run.export = run.newInstance("docs_static_export")
	return run
}

// watched does the operation, and searches what is seen of it.
func (run *secretRun) watched(t *testing.T, operation operation) {
	t.Helper()
	run.shown.Reset()
	operation.act(t, run)
	for where, text := range map[string]string{"what is shown": run.shown.String(), "the log": run.logs.String()} {
		wantNoSecret(t, where, text)
		if run.links.made() {
			run.links.wantAbsent(t, where, text)
		}
	}
	if !strings.Contains(run.logs.String(), `"@level":"trace"`) {
		t.Error("the log is not at its finest level")
	}
}

// made reports whether there are any.
func (l *handedOut) made() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.links) > 0
}

func (run *secretRun) show(texts ...string) {
	run.shown.WriteString(strings.Join(texts, "\n") + "\n")
}

// apply shows the plan, what came of it, and the state with its private part.
func (run *secretRun) apply(t *testing.T, i *instance, arguments map[string]any) {
	t.Helper()
	planned, said := i.plan(t, arguments)
	run.show(said)
	if planned.failed {
		return
	}
	run.showValue(t, i, planned.planned)
	run.show(i.applyPlan(t, planned), string(i.private))
	run.showValue(t, i, i.state)
}

// showValue shows the attributes that are not sensitive.
func (run *secretRun) showValue(t *testing.T, i *instance, value tftypes.Value) {
	t.Helper()
	if value.IsNull() {
		return
	}
	members := i.members(t, value)
	for _, attribute := range i.schemas.ResourceSchemas[i.name].Block.Attributes {
		if !attribute.Sensitive {
			run.show(members[attribute.Name].String())
		}
	}
}

func (run *secretRun) showPlain(schema *tfprotov6.Schema, values map[string]any) {
	for _, attribute := range schema.Block.Attributes {
		if !attribute.Sensitive {
			run.show(fmt.Sprint(values[attribute.Name]))
		}
	}
}
