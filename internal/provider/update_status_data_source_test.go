package provider

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// ended is the Queue or Run of an update or a job that has ended when it is added.
const ended = time.Duration(-1)

func TestAccUpdateStatusDataSource(t *testing.T) {
	const address = "data.docs_update_status.test"
	acc := newAcceptance(t, statusIDVariable)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acc.providers,
		Steps: []resource.TestStep{{
			Config: fmt.Sprintf(`
data "docs_update_status" "test" {
  status_id           = %q
  wait_for_completion = true
  fail_on_failure     = true
}
`, acc.statusID),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("success")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("succeeded"), knownvalue.Bool(true)),
			},
		}},
	})
}

// readUpdates returns one docs_update_status for each row, whose update has the row's
// label for its ID.
func readUpdates[T any](rows map[string]T, arguments func(T) string) string {
	var config strings.Builder
	for name, row := range rows {
		fmt.Fprintf(&config, "data \"docs_update_status\" %q {\n  status_id = %[1]q\n  %s\n}\n", label(name), arguments(row))
	}
	return config.String()
}

// TestUpdateStatusHasEveryFieldOfTheRecord also waits in the configured interval.
func TestUpdateStatusHasEveryFieldOfTheRecord(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Run: 5 * time.Minute, Fields: map[string]any{
		"_id": "upd_1 of the record", "logs": []string{"first", "second"}, "summary": "The site is live", "source": "dashboard", "projectId": "prj_1",
		"author": map[string]any{"name": "Ada", "avatarUrl": "https://images.example.com/ada.png", "vcsUserId": 9007199254740991},
	}})
	c := h.cli(t, strings.Replace(readUpdate, "}", "wait_for_completion = true\npoll_interval = \"60s\"\n}", 1))
	c.apply(t, 0)
	h.wantCounts(t, counts{update: 7})
	got, want := c.values(t)["data.docs_update_status.update"], map[string]any{
		"status_id": "upd_1", "wait_for_completion": true, "fail_on_failure": nil, "poll_interval": "60s", "timeouts": nil,
		"id":               "upd_1 of the record",
		"project_id":       "prj_1",
		"created_at":       "2130-01-31T12:00:00.000Z",
		"ended_at":         "2130-01-31T12:05:02.000Z",
		"status":           "success",
		"finished":         true,
		"succeeded":        true,
		"summary":          "The site is live",
		"logs":             []any{"first", "second"},
		"subdomain":        "acme",
		"screenshot":       "https://images.example.com/acme/page.png",
		"screenshot_light": "https://images.example.com/acme/light.png",
		"screenshot_dark":  "https://images.example.com/acme/dark.png",
		"author":           map[string]any{"name": "Ada", "avatar_url": "https://images.example.com/ada.png", "vcs_user_id": 9007199254740991.},
		"commit": map[string]any{
			"sha": "9505cacb7c710ed17125fcc6cb3669e8ddca6c8c", "ref": "refs/heads/main", "message": "Describe how links expire",
			"files_changed": map[string]any{"added": []any{"guides/links.mdx"}, "modified": []any{"docs.json", "index.mdx"}, "removed": []any{"guides/old.mdx"}},
		},
		"source": "dashboard",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

func TestUpdateStatusWaitsAndFailsOnlyIfConfigured(t *testing.T) {
	t.Parallel()
	const wait, fail = "wait_for_completion = true\n", "fail_on_failure = true\n"
	type row struct {
		update    simulator.UpdateSpec
		arguments string
		want      map[string]any // nil: an error
	}
	failing := simulator.UpdateSpec{Run: 4 * time.Minute, Fail: "no space"}
	never := simulator.UpdateSpec{Run: simulator.Forever, Queue: ended}
	const brief = `timeouts { read = "30m" }`
	passed := func(fields map[string]any) simulator.UpdateSpec {
		return simulator.UpdateSpec{Queue: ended, Run: ended, Fields: fields}
	}
	const asSent = "https://a.example/b?token=abc " + simulator.DefaultAPIKey
	good := map[string]row{
		"null fields": {
			update: passed(map[string]any{"_id": nil, "endedAt": nil, "logs": nil, "author": nil, "commit": nil}),
			want:   map[string]any{"id": nil, "ended_at": nil, "logs": nil, "author": nil, "commit": nil, "status": "success", "finished": true, "succeeded": true},
		},
		"commit without files": {
			update: passed(map[string]any{"commit": map[string]any{"sha": "c0ffee"}}),
			want:   map[string]any{"commit": map[string]any{"sha": "c0ffee", "ref": nil, "message": nil, "files_changed": nil}},
		},
		"key and link in what it returns": {update: passed(map[string]any{"summary": asSent}), want: map[string]any{"summary": asSent}},
		"running update must not fail":    {update: never, arguments: fail, want: map[string]any{"status": "in_progress", "finished": false, "succeeded": false}},
		"wait for failure":                {update: failing, arguments: wait, want: map[string]any{"status": "failure", "succeeded": false, "summary": "no space"}},
	}
	bad := map[string]row{
		"wait for failure that must not fail": {update: failing, arguments: wait + fail},
		"wait until the timeout":              {update: never, arguments: wait + brief},
		"unknown update":                      {update: simulator.UpdateSpec{ID: "another"}},
		"unknown update with a wait":          {update: simulator.UpdateSpec{ID: "yet another"}, arguments: wait},
	}
	h := newHarness(t, simulator.Options{})
	add := func(rows map[string]row) string {
		for name, row := range rows {
			if row.update.ID == "" {
				row.update.ID = label(name)
			}
			h.service.AddUpdate(row.update)
		}
		return readUpdates(rows, func(row row) string { return row.arguments })
	}
	c := h.cli(t, add(good))
	c.apply(t, 0)
	values := c.values(t)
	for name, row := range good {
		t.Run(name, func(t *testing.T) { wantAttributes(t, values["data.docs_update_status."+label(name)], row.want) })
	}
	c.write(t, add(bad))
	said, texts := c.report(t, 1, "plan"), map[string]string{}
	for name := range bad {
		texts[name] = said.said[label(name)]
	}
	wantTexts(t, "update_status.txt", texts)
}

func TestMessagesOfAFailedUpdate(t *testing.T) {
	t.Parallel()
	lines := []string{}
	for i := range 15 {
		lines = append(lines, fmt.Sprintf("line %d.\nline %d.", 2*i, 2*i+1))
	}
	long := strings.Repeat("x", 300)
	texts := map[string]string{}
	for name, update := range map[string]client.UpdateStatus{
		"all that is known": {
			Summary: new("The build failed"), Author: &client.Author{Name: new("Ada")}, Commit: &client.Commit{SHA: new("c0ffee"), Ref: new("main"), Message: new("Say more\n\nMuch more.")},
			Logs: []string{"Cloning", "Error: no such page\n", "  at guides/links.mdx"},
		},
		"nothing known":                {},
		"empty fields":                 {Summary: new(" "), Author: &client.Author{Name: new("")}, Commit: &client.Commit{Message: new("\n")}, Logs: []string{}},
		"log of many lines":            {Logs: lines},
		"log of long lines":            {Logs: []string{"first " + long, long, long, long, long, long, long, long, long, long, long, long, long, long, "the reason"}},
		"log of one entry":             {Logs: []string{strings.Repeat("a line\n", 1000) + "the reason"}},
		"links and control characters": {Summary: new("https://storage.example/a?X-Amz-Signature=abcdef"), Logs: []string{"\x1b[31mred\x1b[0m https://u:pass@host.example/?token=abcdef"}},
	} {
		c, err := client.New(client.Config{BaseURL: "https://docs.test/v1", APIKey: "docs_1"})
		if err != nil {
			t.Fatal(err)
		}
		var diags diag.Diagnostics
		update.Status = client.UpdateFailed
		addUpdateFailure(c, &diags, "upd_1", &update, "", fixSite)
		texts[name] = strings.ReplaceAll(textOf(diags), long, "(300 characters)")
	}
	wantTexts(t, "failed_update.txt", texts)
}
