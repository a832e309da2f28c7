// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const updateStatus = "docs_update_status"

// ended is the timeline of an update that is over when it is added.
const ended = time.Duration(-1)

// wantAttributes checks some of a state's attributes.
func wantAttributes(t *testing.T, state, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if !reflect.DeepEqual(state[name], value) {
			t.Errorf("%s is %#v, want %#v", name, state[name], value)
		}
	}
}

// wantSaid checks that diagnostics say each of the phrases.
func wantSaid(t *testing.T, diagnostics string, phrases ...string) {
	t.Helper()
	for _, phrase := range phrases {
		if !strings.Contains(diagnostics, phrase) {
			t.Errorf("nothing says %q:\n%s", phrase, diagnostics)
		}
	}
}

func TestUpdateStatusHoldsEveryFieldOfTheRecord(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Fields: map[string]any{
		"_id":             "upd_1 of the record",
		"projectId":       "prj_1",
		"createdAt":       "2030-01-31T11:00:00.000Z",
		"endedAt":         "2030-01-31T11:05:00.000Z",
		"status":          "success",
		"summary":         "The site is live",
		"logs":            []string{"first", "second"},
		"subdomain":       "acme",
		"screenshot":      "https://images.example.com/1.png",
		"screenshotLight": "https://images.example.com/2.png",
		"screenshotDark":  "https://images.example.com/3.png",
		"author":          map[string]any{"name": "Ada", "avatarUrl": "https://images.example.com/ada.png", "vcsUserId": 9007199254740991},
		"commit": map[string]any{
			"sha": "c0ffee", "ref": "refs/heads/main", "message": "Say more\n\nMuch more.",
			"filesChanged": map[string]any{"added": []string{"a", "b"}, "modified": []string{"c"}, "removed": []string{"d"}},
		},
		"source": "dashboard",
	}})
	state, diagnostics := h.newProtocol(t).read(t, updateStatus, map[string]any{"status_id": "upd_1"})
	want := map[string]any{
		"status_id":           "upd_1",
		"wait_for_completion": nil,
		"fail_on_failure":     nil,
		"poll_interval":       nil,
		"timeouts":            nil,
		"id":                  "upd_1 of the record",
		"project_id":          "prj_1",
		"created_at":          "2030-01-31T11:00:00.000Z",
		"ended_at":            "2030-01-31T11:05:00.000Z",
		"status":              "success",
		"finished":            true,
		"succeeded":           true,
		"summary":             "The site is live",
		"logs":                []any{"first", "second"},
		"subdomain":           "acme",
		"screenshot":          "https://images.example.com/1.png",
		"screenshot_light":    "https://images.example.com/2.png",
		"screenshot_dark":     "https://images.example.com/3.png",
		"author":              map[string]any{"name": "Ada", "avatar_url": "https://images.example.com/ada.png", "vcs_user_id": 9007199254740991.},
		"commit": map[string]any{
			"sha": "c0ffee", "ref": "refs/heads/main", "message": "Say more\n\nMuch more.",
			"files_changed": map[string]any{"added": []any{"a", "b"}, "modified": []any{"c"}, "removed": []any{"d"}},
		},
		"source": "dashboard",
	}
	if diagnostics != "" || !reflect.DeepEqual(state, want) {
		t.Errorf("got\n%v\n%s\nwant\n%v", state, diagnostics, want)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointUpdate: 1})
}

func TestUpdateStatusTakesWhatTheContractLeavesOpen(t *testing.T) {
	t.Parallel()
	every := func(value any) map[string]any {
		fields := map[string]any{}
		for _, name := range []string{"_id", "projectId", "createdAt", "endedAt", "summary", "logs", "subdomain", "screenshot", "screenshotLight", "screenshotDark", "author", "commit", "source"} {
			fields[name] = value
		}
		return fields
	}
	nothing := map[string]any{
		"status": "success", "finished": true, "succeeded": true,
		"id": nil, "project_id": nil, "created_at": nil, "ended_at": nil, "summary": nil, "logs": nil, "subdomain": nil,
		"screenshot": nil, "screenshot_light": nil, "screenshot_dark": nil, "author": nil, "commit": nil, "source": nil,
	}
	for name, test := range map[string]struct{ fields, want map[string]any }{
		"fields that are null are null":                   {every(nil), nothing},
		"fields that are missing are null":                {every(simulator.Omit), nothing},
		"an empty text is not null":                       {map[string]any{"summary": ""}, map[string]any{"summary": ""}},
		"an object where text is expected counts as none": {map[string]any{"summary": map[string]any{}}, map[string]any{"summary": nil}},
		"a number where text is expected is its spelling": {map[string]any{"subdomain": 7}, map[string]any{"subdomain": "7"}},
		"an author that is text counts as none":           {map[string]any{"author": "Ada"}, map[string]any{"author": nil}},
		"an author may have nothing": {
			map[string]any{"author": map[string]any{}},
			map[string]any{"author": map[string]any{"name": nil, "avatar_url": nil, "vcs_user_id": nil}},
		},
		"an author's id may be text": {
			map[string]any{"author": map[string]any{"vcsUserId": "4217"}},
			map[string]any{"author": map[string]any{"name": nil, "avatar_url": nil, "vcs_user_id": 4217.}},
		},
		"an author's id that is no number counts as none": {
			map[string]any{"author": map[string]any{"vcsUserId": "ada"}},
			map[string]any{"author": map[string]any{"name": nil, "avatar_url": nil, "vcs_user_id": nil}},
		},
		"a log that is text has one line":     {map[string]any{"logs": "all of it"}, map[string]any{"logs": []any{"all of it"}}},
		"a log keeps what is text in it":      {map[string]any{"logs": []any{1, nil, "a", map[string]any{}}}, map[string]any{"logs": []any{"1", "a"}}},
		"an empty log is not null":            {map[string]any{"logs": []string{}}, map[string]any{"logs": []any{}}},
		"a source that is not documented":     {map[string]any{"source": "cron"}, map[string]any{"source": "cron"}},
		"a status that is not documented":     {map[string]any{"status": "paused"}, map[string]any{"status": "paused", "finished": false, "succeeded": false}},
		"a failure is finished, not success":  {map[string]any{"status": "failure"}, map[string]any{"finished": true, "succeeded": false}},
		"a status in capitals is another one": {map[string]any{"status": "SUCCESS"}, map[string]any{"status": "SUCCESS", "finished": false}},
		"a field that is not documented":      {map[string]any{"surprise": []any{map[string]any{}}}, map[string]any{"status": "success"}},
		"a commit without its files": {
			map[string]any{"commit": map[string]any{"sha": "c0ffee"}},
			map[string]any{"commit": map[string]any{"sha": "c0ffee", "ref": nil, "message": nil, "files_changed": nil}},
		},
		"files that are left out are null, empty ones are not": {
			map[string]any{"commit": map[string]any{"filesChanged": map[string]any{"added": []string{}}}},
			map[string]any{"commit": map[string]any{
				"sha": nil, "ref": nil, "message": nil,
				"files_changed": map[string]any{"added": []any{}, "modified": nil, "removed": nil},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: ended, Run: ended, Fields: test.fields})
			state, diagnostics := h.newProtocol(t).read(t, updateStatus, map[string]any{"status_id": "upd_1"})
			if diagnostics != "" {
				t.Error(diagnostics)
			}
			wantAttributes(t, state, test.want)
		})
	}
}

func TestUpdateStatusWaitsAndFailsAsItIsTold(t *testing.T) {
	t.Parallel()
	long := simulator.UpdateSpec{Queue: 30 * time.Second, Run: 4 * time.Minute}
	failing := long
	failing.Fail = "page guides/links.mdx does not render"
	paused := simulator.UpdateSpec{RunningStatus: "paused", Run: simulator.Forever}
	for name, test := range map[string]struct {
		update    simulator.UpdateSpec
		arguments map[string]any
		want      map[string]any // nil: an error
		said      []string
		lasts     time.Duration // until 15 s more
		requests  int           // zero: not checked
	}{
		"reads an update that runs, without waiting": {
			update: long, want: map[string]any{"status": "queued", "finished": false, "succeeded": false}, requests: 1,
		},
		"waits for a success": {
			update: long, arguments: map[string]any{"wait_for_completion": true},
			want: map[string]any{"status": "success", "ended_at": "2030-01-31T12:04:30.000Z"}, lasts: 270 * time.Second,
		},
		"waits in the interval it is given": {
			update: long, arguments: map[string]any{"wait_for_completion": true, "poll_interval": "60s"},
			want: map[string]any{"status": "success"}, lasts: 5 * time.Minute, requests: 6,
		},
		"waits for a failure, which is no error by itself": {
			update: failing, arguments: map[string]any{"wait_for_completion": true},
			want: map[string]any{"status": "failure", "succeeded": false, "summary": failing.Fail}, lasts: 270 * time.Second,
		},
		"fails with a failure, once it has come": {
			update: failing, arguments: map[string]any{"wait_for_completion": true, "fail_on_failure": true},
			said: []string{"Update failed", `Update upd_1 ended with status "failure".`, "Summary: " + failing.Fail}, lasts: 270 * time.Second,
		},
		"fails with a failure that is there": {
			update: simulator.UpdateSpec{Queue: ended, Run: ended, Fail: "no space"}, arguments: map[string]any{"fail_on_failure": true},
			said: []string{"Update failed", "Summary: no space"}, requests: 1,
		},
		"does not fail with an update that may still fail": {
			update: failing, arguments: map[string]any{"fail_on_failure": true},
			want: map[string]any{"status": "queued", "finished": false}, requests: 1,
		},
		"lets a success pass": {
			update: long, arguments: map[string]any{"wait_for_completion": true, "fail_on_failure": true},
			want: map[string]any{"status": "success"}, lasts: 270 * time.Second,
		},
		"fails when the wait is over": {
			update: simulator.UpdateSpec{Run: simulator.Forever}, arguments: map[string]any{"wait_for_completion": true, "timeouts": map[string]any{"read": "10m"}},
			said: []string{"Update not finished in time", "The operation's timeout was reached.", `Update upd_1 was last seen with status "in_progress".`, "Run Terraform again to go on waiting."}, lasts: 10 * time.Minute,
		},
		"names a status it does not know when the wait is over": {
			update: paused, arguments: map[string]any{"wait_for_completion": true, "timeouts": map[string]any{"read": "10m"}},
			said: []string{`was last seen with status "paused", which is not documented and counts as still running`}, lasts: 10 * time.Minute,
		},
		"waits for an hour if it is not told otherwise": {
			update: paused, arguments: map[string]any{"wait_for_completion": true},
			said: []string{"Update not finished in time"}, lasts: time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			test.update.ID = "upd_1"
			h.AddUpdate(test.update)
			arguments := map[string]any{"status_id": "upd_1"}
			for name, value := range test.arguments {
				arguments[name] = value
			}
			state, diagnostics := h.newProtocol(t).read(t, updateStatus, arguments)
			if (state == nil) != (test.want == nil) || (diagnostics == "") != (test.said == nil) {
				t.Fatalf("the state is %v, and this was said: %s", state, diagnostics)
			}
			wantAttributes(t, state, test.want)
			wantSaid(t, diagnostics, test.said...)
			if lasted := h.clock.Now().Sub(startOfTime); lasted < test.lasts || lasted > test.lasts+15*time.Second {
				t.Errorf("the read took %s, want %s", lasted, test.lasts)
			}
			if got := h.Count(simulator.EndpointUpdate); test.requests > 0 && got != test.requests {
				t.Errorf("%d requests, want %d", got, test.requests)
			}
		})
	}
}

func TestFailedUpdateIsExplained(t *testing.T) {
	t.Parallel()
	var lines []any
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("line %d.", i))
	}
	long := strings.Repeat("x", 300)
	for name, test := range map[string]struct {
		fields  map[string]any
		said    []string
		notSaid []string
	}{
		"with all that is known": {
			map[string]any{
				"summary": "The build failed", "author": map[string]any{"name": "Ada"},
				"commit": map[string]any{"sha": "c0ffee", "ref": "main", "message": "Say more\n\nMuch more."},
				"logs":   []any{"Cloning", "Error: no such page\n  at guides/links.mdx"},
			},
			[]string{"ERROR: Update failed\n\n" + `Update upd_1 ended with status "failure".

Summary: The build failed
Commit: c0ffee
Ref: main
Message: Say more
Author: Ada

The end of its log:
  Cloning
  Error: no such page
    at guides/links.mdx

Correct the cause, and update the site again.`},
			nil,
		},
		"with nothing known": {
			map[string]any{"summary": nil, "author": nil, "commit": nil, "logs": nil},
			[]string{`Update upd_1 ended with status "failure".` + "\n\n" + "Correct the cause"},
			[]string{"Summary", "Commit", "Author", "log"},
		},
		"with empty fields left out": {
			map[string]any{"summary": " ", "author": map[string]any{"name": ""}, "commit": map[string]any{"sha": "", "message": "\n"}, "logs": []any{}},
			nil,
			[]string{"Summary", "Commit", "Message", "Author", "log"},
		},
		"with the last 20 lines of the log": {
			map[string]any{"logs": lines}, []string{"line 10.", "line 29."}, []string{"line 9."},
		},
		"with the last of long lines": {
			map[string]any{"logs": []any{"first " + long, long, long, long, long, long, long, long, long, long, long, long, long, long, "the reason"}},
			[]string{"the reason"},
			[]string{"first"},
		},
		"without links and control characters": {
			map[string]any{
				"summary": "see https://storage.example/a?X-Amz-Signature=abcdef", "logs": []any{"\x1b[31mred\x1b[0m https://u:pass@host.example/?token=abcdef"},
			},
			[]string{"https://storage.example/a?(redacted)", "red"},
			[]string{"abcdef", "pass", "\x1b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: ended, Run: ended, Fail: "unset", Fields: test.fields})
			_, diagnostics := h.newProtocol(t).read(t, updateStatus, map[string]any{"status_id": "upd_1", "fail_on_failure": true})
			wantSaid(t, diagnostics, test.said...)
			for _, phrase := range test.notSaid {
				if strings.Contains(diagnostics, phrase) {
					t.Errorf("%q is said:\n%s", phrase, diagnostics)
				}
			}
		})
	}
}

func TestUpdateThatCannotBeReadIsExplained(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) func(*harness) {
		return func(h *harness) {
			h.AddFault(simulator.Fault{Endpoint: simulator.EndpointUpdate, Status: status, Body: body})
		}
	}
	for name, test := range map[string]struct {
		prepare func(*harness)
		said    []string
	}{
		"an unknown id":     {func(*harness) {}, []string{"ERROR: Could not read the update upd_1", "The service answered HTTP 404 Not Found to GET /v1/project/update-status/upd_1", "no such update", "request id req_", "Check the id"}},
		"a wrong key":       {func(h *harness) { h.RotateKey("other") }, []string{"HTTP 401 Unauthorized", "the API key is missing or not valid", "API key"}},
		"a page of HTML":    {answer(http.StatusForbidden, "<html><style>b{}</style><body><h1>Blocked</h1> by the firewall</body></html>"), []string{"HTTP 403 Forbidden", "Blocked by the firewall"}},
		"a login page":      {answer(http.StatusOK, "<html><body>Please log in</body></html>"), []string{"HTTP 200", "the body is an HTML or XML page", "It said: Please log in", "Check that base_url is the address of the service's API"}},
		"an empty body":     {answer(http.StatusOK, ""), []string{"the body is empty"}},
		"an array":          {func(h *harness) { h.Rewrite(func(string, map[string]any) any { return []any{} }) }, []string{"the body is JSON, but an array instead of an object"}},
		"a missing status":  {answer(http.StatusOK, `{"_id": "upd_1"}`), []string{"the answer has no status"}},
		"a null status":     {answer(http.StatusOK, `{"_id": "upd_1", "status": null}`), []string{"the answer has no status"}},
		"an error inside":   {answer(http.StatusOK, `{"error": "try later"}`), []string{"the answer has no status", "It said: try later"}},
		"a truncated body":  {func(h *harness) { h.AddFault(simulator.Fault{TruncateBody: 20}) }, []string{"GET /v1/project/update-status/upd_1 got no answer", "the answer was cut off after 20 bytes"}},
		"a fault inside":    {answer(http.StatusInternalServerError, `{"message": "out of cheese"}`), []string{"HTTP 500 Internal Server Error", "out of cheese", "has a fault or is overloaded"}},
		"a conflict":        {answer(http.StatusConflict, `{"detail": "being moved"}`), []string{"HTTP 409 Conflict", "being moved"}},
		"a missing plan":    {answer(http.StatusPaymentRequired, `{"errors": [{"message": "not in your plan"}]}`), []string{"HTTP 402 Payment Required", "not in your plan", "Enterprise plan"}},
		"a lasting limit":   {answer(http.StatusTooManyRequests, ``), []string{"timeout"}},
		"a lost connection": {func(h *harness) { h.AddFault(simulator.Fault{Cut: simulator.CutAfter}) }, []string{"got no answer from 127.0.0.1", "Check base_url, the network"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			if name != "an unknown id" {
				h.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
			}
			test.prepare(h)
			state, diagnostics := h.newProtocol(t).read(t, updateStatus, map[string]any{"status_id": "upd_1"})
			if state != nil {
				t.Errorf("the state is %v", state)
			}
			wantSaid(t, diagnostics, test.said...)
			if strings.Contains(diagnostics, "last seen") {
				t.Errorf("nothing of the update was ever seen, but this is said:\n%s", diagnostics)
			}
		})
	}
}

// oddIDs are ids that mean something else in a path unless they are escaped.
var oddIDs = []string{"a/b", "a?b=c", "..", ".", "../jobs", "a b", "50%", "%2e%2e", "a#b", "größe-✓", "a\\b", "a+b;c,d", " padded "}

// wantOneIDEach checks that each request asked for the one id, in a path that
// stays the same if somebody on the way resolves it.
func (h *harness) wantOneIDEach(t *testing.T, ids []string) {
	t.Helper()
	var asked []string
	for _, request := range h.Requests() {
		asked = append(asked, request.ID)
		if path.Clean(request.Path) != request.Path {
			t.Errorf("%q was asked for as %s", request.ID, request.Path)
		}
	}
	if !slices.Equal(asked, ids) {
		t.Errorf("asked for %q, want %q", asked, ids)
	}
}

func TestUpdateStatusAsksForOneIDWhateverIsInIt(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	p := h.newProtocol(t)
	for _, id := range oddIDs {
		h.AddUpdate(simulator.UpdateSpec{ID: id})
		if state, diagnostics := p.read(t, updateStatus, map[string]any{"status_id": id}); diagnostics != "" || state["id"] != id {
			t.Errorf("%q was read as %q %s", id, state["id"], diagnostics)
		}
	}
	h.wantOneIDEach(t, oddIDs)
}

func TestIDThatIsEmptyIsRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	p := h.newProtocol(t)
	for _, id := range []string{"", " ", "\t\n"} {
		for name, argument := range map[string]string{updateStatus: "status_id", exportJob: "job_id"} {
			_, diagnostics := p.read(t, name, map[string]any{argument: id})
			wantSaid(t, diagnostics, "ERROR: Missing id\n\nThe value is empty. Set it to the id that the service returned.")
		}
	}
	if requests := h.Requests(); len(requests) > 0 {
		t.Errorf("%d requests were made", len(requests))
	}
}

func TestUpdateStatusInTerraform(t *testing.T) {
	h := newHarness(t, simulator.Options{})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Fields: map[string]any{"author": nil}})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_2", Fail: "page guides/links.mdx does not render"})
	config := func(id string) string {
		return fmt.Sprintf("data %q \"deployed\" {\n  status_id           = %q\n  wait_for_completion = true\n  fail_on_failure     = true\n}\n", updateStatus, id)
	}
	const address = "data." + updateStatus + ".deployed"
	h.run(t,
		resource.TestStep{Config: config("upd_2"), ExpectError: words("Summary: page guides/links.mdx does not render")},
		resource.TestStep{Config: config("upd_1"), ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue(address, attribute("succeeded"), knownvalue.Bool(true)),
			statecheck.ExpectKnownValue(address, attribute("author"), knownvalue.Null()),
			statecheck.ExpectKnownValue(address, attribute("logs"), knownvalue.ListSizeExact(4)),
			statecheck.ExpectKnownValue(address, tfjsonpath.New("commit").AtMapKey("files_changed").AtMapKey("modified").AtSliceIndex(1), knownvalue.StringExact("index.mdx")),
		}},
	)
}
