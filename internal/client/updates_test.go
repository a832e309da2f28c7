// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

const wholeUpdate = `{
	"_id": "up_1", "projectId": "p_1", "createdAt": "2026-03-01T12:00:00.000Z", "endedAt": "2026-03-01T12:01:00.000Z",
	"status": "success", "summary": "Done", "logs": ["a", "b"], "subdomain": "docs",
	"screenshot": "https://h/s.png", "screenshotLight": "https://h/l.png", "screenshotDark": "https://h/d.png",
	"author": {"name": "Ann", "avatarUrl": "https://h/a.png", "vcsUserId": 9007199254740993},
	"commit": {"sha": "0a1b", "ref": "main", "message": "Say more", "filesChanged": {"added": ["a.md"], "modified": [], "removed": ["b.md", "c.md"]}},
	"source": "vcs", "more": {"x": [1]}
}`

func TestUpdateHasEveryFieldOfTheRecord(t *testing.T) {
	text := func(s string) *string { return &s }
	want := &UpdateStatus{
		ID: text("up_1"), ProjectID: text("p_1"), CreatedAt: text("2026-03-01T12:00:00.000Z"), EndedAt: text("2026-03-01T12:01:00.000Z"),
		Status: "success", Summary: text("Done"), Logs: []string{"a", "b"}, Subdomain: text("docs"),
		Screenshot: text("https://h/s.png"), ScreenshotLight: text("https://h/l.png"), ScreenshotDark: text("https://h/d.png"),
		Author: &Author{Name: text("Ann"), AvatarURL: text("https://h/a.png"), VCSUserID: number(int64(9007199254740993))},
		Commit: &Commit{SHA: text("0a1b"), Ref: text("main"), Message: text("Say more"), FilesChanged: &FilesChanged{
			Added: []string{"a.md"}, Modified: []string{}, Removed: []string{"b.md", "c.md"},
		}},
		Source: text("vcs"),
	}
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reply(200, wholeUpdate))
		got, err := c.GetUpdateStatus(t.Context(), "up_1")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		if r := s.got()[0]; r.method != "GET" || r.path != "/v1/project/update-status/up_1" || r.body != "" {
			t.Errorf("sent %s %s %q", r.method, r.path, r.body)
		}
		if warned := s.log.at("warn"); len(warned) > 0 {
			t.Errorf("warned of %v", warned)
		}
	})
}

func TestUpdateIsReadWithoutTheFieldsThatAreOfNoUse(t *testing.T) {
	nothing := UpdateStatus{Status: "success"}
	empty := func(change func(*UpdateStatus)) UpdateStatus {
		update := nothing
		change(&update)
		return update
	}
	tests := map[string]struct {
		members string
		want    UpdateStatus
		unread  []string // as logged
	}{
		"nothing but the status":    {``, nothing, nil},
		"nulls":                     {`,"_id":null,"endedAt":null,"logs":null,"author":null,"commit":null,"source":null`, nothing, nil},
		"texts of other types":      {`,"_id":{},"projectId":[],"summary":{"a":1},"subdomain":[1],"source":{}`, nothing, []string{"_id", "projectId", "summary", "subdomain", "source"}},
		"dates of other types":      {`,"createdAt":[1],"endedAt":{}`, nothing, []string{"createdAt", "endedAt"}},
		"pictures of other types":   {`,"screenshot":[],"screenshotLight":{},"screenshotDark":[]`, nothing, []string{"screenshot", "screenshotLight", "screenshotDark"}},
		"logs of another type":      {`,"logs":{"a":1}`, nothing, []string{"logs"}},
		"an author of another type": {`,"author":"Ann"`, nothing, []string{"author"}},
		"a commit of another type":  {`,"commit":["0a1b"]`, nothing, []string{"commit"}},
		"an empty author":           {`,"author":{}`, empty(func(u *UpdateStatus) { u.Author = &Author{} }), nil},
		"an author of other types":  {`,"author":{"name":{},"avatarUrl":[],"vcsUserId":"x"}`, empty(func(u *UpdateStatus) { u.Author = &Author{} }), []string{"author.name", "author.avatarUrl", "author.vcsUserId"}},
		"an empty commit":           {`,"commit":{}`, empty(func(u *UpdateStatus) { u.Commit = &Commit{} }), nil},
		"files of another type":     {`,"commit":{"filesChanged":[]}`, empty(func(u *UpdateStatus) { u.Commit = &Commit{} }), []string{"commit.filesChanged"}},
		"files of other types": {
			`,"commit":{"sha":{},"ref":[],"message":{},"filesChanged":{"added":{},"modified":[{}],"removed":null}}`,
			empty(func(u *UpdateStatus) { u.Commit = &Commit{FilesChanged: &FilesChanged{Modified: []string{}}} }),
			[]string{"commit.sha", "commit.ref", "commit.message", "commit.filesChanged.added", "commit.filesChanged.modified"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, reply(200, `{"status":"success"`+test.members+`}`))
				got, err := c.GetUpdateStatus(t.Context(), "up_1")
				if err != nil || !reflect.DeepEqual(*got, test.want) {
					t.Errorf("got %+v, %v; want %+v", got, err, test.want)
				}
				var unread []string
				for _, line := range s.log.at("warn") {
					unread = append(unread, line.fields["fields"].([]string)...)
				}
				slices.Sort(unread)
				slices.Sort(test.unread)
				if !slices.Equal(unread, test.unread) {
					t.Errorf("warned of %q, want %q", unread, test.unread)
				}
			})
		})
	}
}

func TestUpdateIsReadWithAnyOneFieldOfAnotherType(t *testing.T) {
	fields := []string{"_id", "projectId", "createdAt", "endedAt", "summary", "logs", "subdomain", "screenshot", "screenshotLight", "screenshotDark", "author", "commit", "source"}
	for _, field := range fields {
		for _, value := range []string{`null`, `true`, `-1.5`, `"x"`, `[]`, `[[]]`, `{}`, `{"a":{}}`} {
			body := fmt.Sprintf(`{"status":"failure",%q:%s}`, field, value)
			r, ok := parseRecord([]byte(body))
			if !ok {
				t.Fatalf("%s is no JSON", body)
			}
			if update := readUpdate(r); update.Status != "failure" || !update.Finished() || update.Succeeded() {
				t.Errorf("%s is read as %+v", body, update)
			}
		}
	}
}

func TestStatusOfAnUpdateIsFitToBeShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, reply(200, `{"status":"at https://h/p?sig=`+marked+`"}`))
		if update, err := c.GetUpdateStatus(t.Context(), "up_1"); err != nil || update.Status != "at https://h/p?(redacted)" {
			t.Errorf("got %v, %v", update, err)
		}
	})
}

func TestManyItemsThatCannotBeReadAreOneLineInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reply(200, `{"status":"success","logs":[`+strings.Repeat("{},", 1000)+`"a"]}`))
		update, err := c.GetUpdateStatus(t.Context(), "up_1")
		if err != nil || !slices.Equal(update.Logs, []string{"a"}) {
			t.Fatalf("got %v, %v", update, err)
		}
		warned := s.log.at("warn")
		if len(warned) != 1 || !reflect.DeepEqual(warned[0].fields, map[string]any{"fields": []string{"logs"}}) {
			t.Errorf("warned of %v", warned)
		}
	})
}

func TestUpdateEndsWithSuccessAndFailureOnly(t *testing.T) {
	tests := map[string]struct{ finished, succeeded bool }{
		"success": {true, true}, "failure": {true, false},
		"queued": {}, "in_progress": {}, "completed": {}, "failed": {}, "Success": {}, "": {},
	}
	for status, want := range tests {
		update := &UpdateStatus{Status: status}
		if update.Finished() != want.finished || update.Succeeded() != want.succeeded {
			t.Errorf("%q: Finished %v, Succeeded %v", status, update.Finished(), update.Succeeded())
		}
	}
}
