// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// testHugeBodies answers with 512 MiB, also made of half a MiB by compression.
// It runs alone, because it measures the memory of the process.
func testHugeBodies(t *testing.T, table *outcomes) {
	const size = 512 << 20
	for _, f := range []fault{
		{name: "body of 512 MiB", kind: uncertain, answer: simulator.Fault{Status: 200, Repeat: size}, says: "the body is larger than 8 MiB"},
		{name: "body of 512 MiB that begins as JSON", kind: uncertain, answer: simulator.Fault{Status: 200, Repeat: size, Body: `{"x": "`}, says: "the body is larger than 8 MiB"},
		{name: "body that gzip blows up to 512 MiB", kind: uncertain, answer: simulator.Fault{Status: 200, Repeat: size, Gzip: true}, says: "the body is larger than 8 MiB"},
		{name: "error of 512 MiB", kind: uncertain, answer: simulator.Fault{Status: 500, Repeat: size}, says: "HTTP 500"},
	} {
		table.announce(f.name)
		for _, place := range places {
			t.Run(f.name+"/"+place, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				run := newFaultRun(t, f, place, false)
				runtime.ReadMemStats(&after)
				run.want(t)
				// What one attempt allocates is more than what it can hold on to.
				if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 64 {
					t.Errorf("%d MiB were allocated", grown)
				}
				table.addRun(run)
			})
		}
	}
}

// wrong are values of every JSON type. Each is wrong for most fields, and null is
// as good as none.
var wrong = map[string]any{
	"null": nil, "a boolean": true, "a number": -17.5, "text": "text", "an array": []any{"x"}, "an object": map[string]any{"x": 1},
}

// fields of the answers, with a dot before those of nested objects.
var fields = map[string][]string{
	simulator.EndpointStart:  {"jobId", "status", "progress", "pageCount", "error", "createdAt", "updatedAt"},
	simulator.EndpointJob:    {"jobId", "status", "progress", "pageCount", "error", "createdAt", "updatedAt"},
	simulator.EndpointBundle: {"jobId", "bundleUrl", "sizeBytes", "expiresAt"},
	simulator.EndpointUpdate: {
		"_id", "projectId", "createdAt", "endedAt", "status", "summary", "logs", "subdomain", "screenshot", "screenshotLight", "screenshotDark",
		"author", "author.name", "author.avatarUrl", "author.vcsUserId", "source",
		"commit", "commit.sha", "commit.ref", "commit.message",
		"commit.filesChanged", "commit.filesChanged.added", "commit.filesChanged.modified", "commit.filesChanged.removed",
	},
}

// promised are the fields without which an answer is of no use.
var promised = []string{"start.jobId", "job.status", "bundle.bundleUrl", "update.status"}

// testWrongTypes gives every field every type, one at a time. Only the fields
// that are promised may fail the operation.
func testWrongTypes(t *testing.T, table *outcomes) {
	const name, promise = "a field of a wrong type, or missing", "a promised field of a wrong type, or missing"
	table.announce(name)
	table.announce(promise)
	for _, place := range places {
		for _, field := range fields[place] {
			for kind, value := range wrong {
				t.Run(fmt.Sprintf("%s in %s.%s", kind, place, field), func(t *testing.T) {
					t.Parallel()
					run := newFaultRun(t, fault{name: name, rewrite: func(body map[string]any) any {
						set(body, strings.Split(field, "."), value)
						return body
					}}, place, true)
					run.wantCommon(t)
					if slices.Contains(promised, place+"."+field) {
						run.wantUseless(t, field, value)
						table.add(promise, place, true, "error that names it; a status of another type counts as running", "")
						return
					}
					if !run.succeeded {
						t.Errorf("it failed:\n%s", run.said)
					}
					if got := run.attribute(t, "expires_at"); place == simulator.EndpointBundle && got != "2030-01-31T12:15:21Z" && got != "2030-01-31T12:15:20Z" {
						t.Errorf("expires_at is %v, want it from the link", got)
					}
					table.addRun(run)
				})
			}
		}
	}
}

func (run *faultRun) attribute(t *testing.T, name string) any {
	t.Helper()
	if run.export == nil {
		return nil
	}
	return run.export.attributes(t)[name]
}

// wantUseless checks what comes of an answer without its promised field. A
// status of another type is a status that is not known, and means that the
// thing still runs.
func (run *faultRun) wantUseless(t *testing.T, field string, value any) {
	t.Helper()
	text := ""
	switch value.(type) {
	case string, bool, float64:
		text = fmt.Sprint(value)
	}
	want := "the answer has no " + field
	switch {
	case text == "":
	case run.place == simulator.EndpointUpdate:
		if !run.succeeded && run.said != "" {
			t.Errorf("it failed:\n%s", run.said)
		}
		return
	case run.place == simulator.EndpointBundle:
		want = "its bundleUrl is not an absolute http or https URL"
	case run.place == simulator.EndpointJob:
		want = fmt.Sprintf("last seen with status %q", text)
	case run.place == simulator.EndpointStart:
		want = "The job is " + text
	}
	if run.succeeded || !strings.Contains(run.said, want) {
		t.Errorf("it has to say %q:\n%s", want, run.said)
	}
}

// set changes one member of nested objects.
func set(object map[string]any, path []string, value any) {
	if len(path) == 1 {
		object[path[0]] = value
		return
	}
	if nested, ok := object[path[0]].(map[string]any); ok {
		set(nested, path[1:], value)
	}
}
