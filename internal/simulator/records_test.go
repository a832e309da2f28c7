// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// record decodes a JSON answer.
func record(t *testing.T, a answer) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(a.body), &object); err != nil || a.status >= 300 {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return object
}

func TestJobLife(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	shapes := map[string]simulator.JobSpec{
		"usual":   {},
		"failing": {Fail: "page index.mdx does not parse"},
		"odd": {
			QueuedStatus: "pending", RunningStatus: "rendering", Queue: time.Second, Run: 19 * time.Second, Pages: 40,
			Progress: func(share float64) any {
				if share == 0 {
					return simulator.Omit
				}
				return []any{share}
			},
		},
		"immediate": {Queue: none, Run: none, Pages: 3},
		"late":      {StartedAt: epoch.Add(-12 * time.Second)},
		"endless":   {Run: simulator.Forever},
	}
	for name, spec := range shapes {
		spec.ID = name
		s.AddJob(spec)
	}
	const failure = "page index.mdx does not parse"
	for _, moment := range []struct {
		after time.Duration
		jobs  map[string]map[string]any
	}{
		{0, map[string]map[string]any{
			"usual":     {"status": "queued", "progress": 0.0, "pageCount": 0.0, "updatedAt": "2026-03-01T12:00:00.000Z"},
			"odd":       {"status": "pending", "pageCount": 0.0, "updatedAt": "2026-03-01T12:00:00.000Z"},
			"immediate": {"status": "completed", "progress": 100.0, "pageCount": 3.0, "updatedAt": "2026-03-01T12:00:00.000Z"},
			"late":      {"status": "running", "progress": 55.0, "pageCount": 3.0, "updatedAt": "2026-03-01T12:00:00.000Z"},
		}},
		{2*time.Second - 1, map[string]map[string]any{"usual": {"status": "queued"}}},
		{2 * time.Second, map[string]map[string]any{"usual": {"status": "running", "progress": 0.0}, "endless": {"status": "running", "progress": 0.0}}},
		{10500 * time.Millisecond, map[string]map[string]any{
			"usual":   {"status": "running", "progress": 47.0, "pageCount": 2.0, "updatedAt": "2026-03-01T12:00:10.500Z"},
			"failing": {"status": "running", "progress": 47.0, "pageCount": 2.0},
			"odd":     {"status": "rendering", "progress": []any{0.5}, "pageCount": 20.0},
		}},
		{20*time.Second - 1, map[string]map[string]any{
			"usual":   {"status": "running", "progress": 99.0, "pageCount": 5.0},
			"failing": {"status": "running", "progress": 99.0, "pageCount": 5.0},
		}},
		{20 * time.Second, map[string]map[string]any{
			"usual":   {"status": "completed", "progress": 100.0, "pageCount": 6.0},
			"failing": {"status": "failed", "error": failure},
			"odd":     {"status": "completed", "progress": []any{1.0}, "pageCount": 40.0},
		}},
		{1000 * time.Hour, map[string]map[string]any{
			"usual":   {"status": "completed", "updatedAt": "2026-03-01T12:00:20.000Z"},
			"failing": {"status": "failed", "error": failure, "updatedAt": "2026-03-01T12:00:20.000Z"},
			"late":    {"status": "completed", "updatedAt": "2026-03-01T12:00:08.000Z"},
			"endless": {"status": "running"},
		}},
	} {
		s.clock.Advance(moment.after - since(s.clock))
		for id, want := range moment.jobs {
			got := record(t, s.get("/static-export/jobs/"+id))
			for field, value := range want {
				if !reflect.DeepEqual(got[field], value) {
					t.Errorf("after %v, %s of the job %q is %v, want %v", moment.after, field, id, got[field], value)
				}
			}
			if _, ok := got["error"]; ok != (got["status"] == "failed") {
				t.Errorf("after %v, the job %q has status %v and error %v", moment.after, id, got["status"], got["error"])
			}
			if _, ok := got["progress"]; ok == (got["status"] == "failed" || got["status"] == "pending") {
				t.Errorf("after %v, the job %q has status %v and progress %v", moment.after, id, got["status"], got["progress"])
			}
		}
	}
}

func TestStartAnswersWithTheWholeRecord(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	a := s.call(http.MethodPost, "/static-export/jobs", `{"domain":"docs.acme.example","version":"7","paths":["/"]}`, nil)
	if a.status != http.StatusAccepted || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("the start answered %d, %s", a.status, a.header.Get("Content-Type"))
	}
	got := record(t, a)
	id, _ := got["jobId"].(string)
	if !regexp.MustCompile(`^se_[0-9a-f]{16}$`).MatchString(id) {
		t.Errorf("the jobId is %q", id)
	}
	want := map[string]any{
		"jobId": id, "status": "queued", "progress": 0.0, "pageCount": 0.0,
		"createdAt": "2026-03-01T12:00:00.000Z", "updatedAt": "2026-03-01T12:00:00.000Z",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the record is %v, want %v", got, want)
	}
}

func TestNextJobShapesWaitInLine(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	s.NextJob(simulator.JobSpec{ID: "first", Queue: none, Run: none})
	s.NextJob(simulator.JobSpec{ID: "second", Queue: none, Run: none, Fail: "no"})
	ids := []string{s.startJob(), s.startJob(), s.startJob()}
	if ids[0] != "first" || ids[1] != "second" || !strings.HasPrefix(ids[2], "se_") {
		t.Errorf("the jobs are %v", ids)
	}
	if got := s.JobIDs(); !slices.Equal(got, ids) {
		t.Errorf("JobIDs is %v, want %v", got, ids)
	}
	for id, want := range map[string]string{"first": "completed", "second": "failed", ids[2]: "queued"} {
		if got := s.get("/static-export/jobs/"+id).field(t, "status"); got != want {
			t.Errorf("the job %s is %v, want %s", id, got, want)
		}
	}
}

func TestARefusedStartTakesNoShapeFromTheLine(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	s.NextJob(simulator.JobSpec{ID: "first"})
	s.call(http.MethodPost, "/static-export/jobs", `{}`, nil)
	if got := s.startJob(); got != "first" {
		t.Errorf("the job is %s", got)
	}
}

func TestFinishJob(t *testing.T) {
	t.Parallel()
	const at = "2026-03-01T12:00:05.000Z"
	for name, test := range map[string]struct {
		spec    simulator.JobSpec
		failure string
		status  string
		updated string
	}{
		"a queued job":             {simulator.JobSpec{Queue: time.Hour}, "", "completed", at},
		"a running job":            {simulator.JobSpec{Run: simulator.Forever}, "", "completed", at},
		"a running job that fails": {simulator.JobSpec{Run: time.Hour}, "stopped", "failed", at},
		"a job that had ended":     {simulator.JobSpec{Queue: none, Run: time.Second}, "stopped", "completed", "2026-03-01T12:00:01.000Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{})
			id := s.AddJob(test.spec)
			s.clock.Advance(5 * time.Second)
			s.FinishJob("unknown", "")
			s.FinishJob(id, test.failure)
			s.clock.Advance(time.Second)
			got := record(t, s.get("/static-export/jobs/"+id))
			if got["status"] != test.status || got["updatedAt"] != test.updated {
				t.Errorf("the job is %v since %v, want %s since %s", got["status"], got["updatedAt"], test.status, test.updated)
			}
		})
	}
}

func TestRetiredJobIsNotForgotten(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	id := s.doneJob()
	link := s.bundle(id)
	s.RetireJob(id)
	s.RetireJob("unknown")
	if a := s.get(link); a.status != http.StatusNotFound {
		t.Errorf("the link of a retired job answered %d", a.status)
	}
	if got := s.JobIDs(); !slices.Equal(got, []string{id}) {
		t.Errorf("JobIDs is %v", got)
	}
	s.ForgetJob(id)
	if got := s.JobIDs(); len(got) != 0 {
		t.Errorf("JobIDs is %v after the job was forgotten", got)
	}
}

func TestUpdateLife(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	for id, spec := range map[string]simulator.UpdateSpec{
		"good":  {},
		"bad":   {Fail: "page index.mdx does not parse"},
		"odd":   {QueuedStatus: "waiting", RunningStatus: "verifying"},
		"stuck": {Queue: none, Run: simulator.Forever},
	} {
		spec.ID = id
		s.AddUpdate(spec)
	}
	for _, moment := range []struct {
		after  time.Duration
		status map[string]string
		lines  int
	}{
		{0, map[string]string{"good": "queued", "bad": "queued", "odd": "waiting", "stuck": "in_progress"}, 1},
		{2 * time.Second, map[string]string{"good": "in_progress", "bad": "in_progress", "odd": "verifying", "stuck": "in_progress"}, 3},
		{20 * time.Second, map[string]string{"good": "success", "bad": "failure", "odd": "success", "stuck": "in_progress"}, 4},
		{time.Hour, map[string]string{"good": "success", "bad": "failure", "odd": "success", "stuck": "in_progress"}, 4},
	} {
		s.clock.Advance(moment.after - since(s.clock))
		for id, want := range moment.status {
			got := record(t, s.get("/project/update-status/"+id))
			if got["status"] != want {
				t.Errorf("after %v, the update %q is %v, want %s", moment.after, id, got["status"], want)
			}
			ended, over := got["endedAt"]
			if want := moment.after >= 20*time.Second && id != "stuck"; over != want || over && ended != "2026-03-01T12:00:20.000Z" {
				t.Errorf("after %v, endedAt of the update %q is %v", moment.after, id, ended)
			}
			if logs, _ := got["logs"].([]any); id != "stuck" && len(logs) != moment.lines {
				t.Errorf("after %v, the log of the update %q is %v", moment.after, id, logs)
			}
		}
	}
	bad := record(t, s.get("/project/update-status/bad"))
	logs, _ := bad["logs"].([]any)
	if bad["summary"] != "page index.mdx does not parse" || logs[len(logs)-1] != "Error: page index.mdx does not parse" {
		t.Errorf("the failed update says %v, %v", bad["summary"], logs)
	}
}

// The names and types are those of section 2.1, written out once more here.
func TestUpdateRecordHasEveryField(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	got := record(t, s.get("/project/update-status/"+s.AddUpdate(simulator.UpdateSpec{Queue: none, Run: none})))
	var check func(path string, value any, want any)
	check = func(path string, value any, want any) {
		if reflect.TypeOf(value) != reflect.TypeOf(want) {
			t.Errorf("%s is %v, a %T, want a %T", path, value, value, want)
			return
		}
		fields, _ := want.(map[string]any)
		values, _ := value.(map[string]any)
		for name, inner := range fields {
			check(path+"."+name, values[name], inner)
		}
		if len(values) != len(fields) {
			t.Errorf("%s has the fields %v, want those of %v", path, values, fields)
		}
	}
	text, number, list := "", 0.0, []any{}
	check("update", got, map[string]any{
		"_id": text, "projectId": text, "createdAt": text, "endedAt": text, "status": text, "summary": text,
		"logs": list, "subdomain": text, "screenshot": text, "screenshotLight": text, "screenshotDark": text,
		"author": map[string]any{"name": text, "avatarUrl": text, "vcsUserId": number},
		"commit": map[string]any{
			"sha": text, "ref": text, "message": text,
			"filesChanged": map[string]any{"added": list, "modified": list, "removed": list},
		},
		"source": text,
	})
}

func TestUpdateFieldsReplaceThoseOfTheRecord(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	id := s.AddUpdate(simulator.UpdateSpec{Fields: map[string]any{
		"author": nil, "commit": simulator.Omit, "status": "rolled_back", "logs": []string{"one"}, "region": "eu",
	}})
	if !strings.HasPrefix(id, "upd_") {
		t.Errorf("the id is %q", id)
	}
	got := record(t, s.get("/project/update-status/"+id))
	if author, ok := got["author"]; author != nil || !ok {
		t.Errorf("author is %v, present %v, want null", author, ok)
	}
	if _, ok := got["commit"]; ok {
		t.Error("commit is there")
	}
	if got["status"] != "rolled_back" || got["region"] != "eu" || !reflect.DeepEqual(got["logs"], []any{"one"}) {
		t.Errorf("the record is %v", got)
	}
}

func TestAnUpdateOfTheSameIDIsReplaced(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	s.AddUpdate(simulator.UpdateSpec{ID: "u", Queue: simulator.Forever})
	s.AddUpdate(simulator.UpdateSpec{ID: "u", Queue: none, Run: none})
	if got := s.get("/project/update-status/u").field(t, "status"); got != "success" {
		t.Errorf("the status is %v", got)
	}
}
