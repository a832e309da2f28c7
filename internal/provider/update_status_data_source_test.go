package provider

import (
	"cmp"
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

// TestUpdateStatusHasEveryFieldOfTheRecord also waits in the configured interval.
func TestUpdateStatusHasEveryFieldOfTheRecord(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.service.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Run: 5 * time.Minute, Fields: object(t, `{
		"_id": "upd_1 of the record", "logs": ["first", "second"], "summary": "The site is live", "source": "dashboard", "projectId": "prj_1",
		"author": {"name": "Ada", "avatarUrl": "https://images.example.com/ada.png", "vcsUserId": 9007199254740991}
	}`)})
	c := h.cli(t, strings.Replace(readUpdate, "}", "wait_for_completion = true\npoll_interval = \"60s\"\n}", 1))
	c.apply(t, 0)
	h.wantCounts(t, counts{update: 7})
	got, want := c.values(t)["data.docs_update_status.update"], object(t, `{
		"status_id": "upd_1", "wait_for_completion": true, "fail_on_failure": null, "poll_interval": "60s", "timeouts": null,
		"id": "upd_1 of the record",
		"project_id": "prj_1",
		"created_at": "2130-01-31T12:00:00.000Z",
		"ended_at": "2130-01-31T12:05:02.000Z",
		"status": "success",
		"finished": true,
		"succeeded": true,
		"summary": "The site is live",
		"logs": ["first", "second"],
		"subdomain": "acme",
		"screenshot": "https://images.example.com/acme/page.png",
		"screenshot_light": "https://images.example.com/acme/light.png",
		"screenshot_dark": "https://images.example.com/acme/dark.png",
		"author": {"name": "Ada", "avatar_url": "https://images.example.com/ada.png", "vcs_user_id": 9007199254740991},
		"commit": {
			"sha": "9505cacb7c710ed17125fcc6cb3669e8ddca6c8c", "ref": "refs/heads/main", "message": "Describe how links expire",
			"files_changed": {"added": ["guides/links.mdx"], "modified": ["docs.json", "index.mdx"], "removed": ["guides/old.mdx"]}
		},
		"source": "dashboard"
	}`)
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
		want      string // some attributes; empty: an error
	}
	failing, never := simulator.UpdateSpec{Run: 4 * time.Minute, Fail: "no space"}, simulator.UpdateSpec{Run: simulator.Forever, Queue: ended}
	passed := func(fields string) simulator.UpdateSpec {
		return simulator.UpdateSpec{Queue: ended, Run: ended, Fields: object(t, fields)}
	}
	const asSent = `{"summary": "https://a.example/b?token=abc ` + simulator.DefaultAPIKey + `"}`
	good := map[string]row{
		"null fields": {
			passed(`{"_id": null, "endedAt": null, "logs": null, "author": null, "commit": null}`), "",
			`{"id": null, "ended_at": null, "logs": null, "author": null, "commit": null, "status": "success", "finished": true, "succeeded": true}`,
		},
		"commit without files": {
			passed(`{"commit": {"sha": "c0ffee"}}`), "",
			`{"commit": {"sha": "c0ffee", "ref": null, "message": null, "files_changed": null}}`,
		},
		"key and link in what it returns": {passed(asSent), "", asSent},
		"running update must not fail":    {never, fail, `{"status": "in_progress", "finished": false, "succeeded": false}`},
		"wait for failure":                {failing, wait, `{"status": "failure", "succeeded": false, "summary": "no space"}`},
	}
	bad := map[string]row{
		"wait for failure that must not fail": {update: failing, arguments: wait + fail},
		"wait until the timeout":              {update: never, arguments: wait + `timeouts { read = "30m" }`},
		"unknown update":                      {update: simulator.UpdateSpec{ID: "another"}},
		"unknown update with a wait":          {update: simulator.UpdateSpec{ID: "yet another"}, arguments: wait},
	}
	h := newHarness(t, simulator.Options{})
	add := func(rows map[string]row) string {
		var config strings.Builder
		for name, row := range rows {
			row.update.ID = cmp.Or(row.update.ID, label(name))
			h.service.AddUpdate(row.update)
			fmt.Fprintf(&config, "data \"docs_update_status\" %q {\n  status_id = %[1]q\n  %s\n}\n", label(name), row.arguments)
		}
		return config.String()
	}
	c := h.cli(t, add(good))
	c.apply(t, 0)
	values := c.values(t)
	for name, row := range good {
		t.Run(name, func(t *testing.T) {
			wantAttributes(t, values["data.docs_update_status."+label(name)], object(t, row.want))
		})
	}
	c.write(t, add(bad))
	wantTextsOf(t, c.report(t, 1, "plan"), "update_status.txt", bad)
}

func TestMessagesOfAFailedUpdate(t *testing.T) {
	t.Parallel()
	long, lines := strings.Repeat("x", 300), strings.Repeat(`"a line\nanother line", `, 15)
	texts := map[string]string{}
	for name, update := range map[string]string{
		"all that is known": `{"status": "failure", "summary": "The build failed", "author": {"name": "Ada"},
			"commit": {"sha": "c0ffee", "ref": "main", "message": "Say more\n\nMuch more."},
			"logs": ["Cloning", "Error: no such page\n", "  at guides/links.mdx"]}`,
		"nothing known":     `{"status": "failure"}`,
		"empty fields":      `{"status": "failure", "summary": " ", "author": {"name": ""}, "commit": {"message": "\n"}, "logs": []}`,
		"log of many lines": `{"status": "failure", "logs": ["the first line", "the second line", ` + lines + `"the reason"]}`,
		"log of long lines": `{"status": "failure", "logs": ["first ` + long + `", ` + strings.Repeat(`"`+long+`", `, 13) + `"the reason"]}`,
		"log of one entry":  `{"status": "failure", "logs": ["` + strings.Repeat(`a line\n`, 1000) + `the reason"]}`,
		"commands to a CI runner": `{"status": "failure", "summary": "::error::a\nbuild b",
			"logs": ["::set-output name=approved::true\n ##[add-mask]e", "##vso[task.setvariable variable=a]b"]}`,
		"links and control characters": `{"status": "failure", "summary": "https://storage.example/a?X-Amz-Signature=abcdef",
			"logs": ["\u001b[31mred\u001b[0m https://u:pass@host.example/?token=abcdef"]}`,
	} {
		c, _ := answers{"update": update}.operation(t, nil)
		read, err := c.GetUpdateStatus(t.Context(), "upd_1")
		if err != nil {
			t.Fatal(err)
		}
		var diags diag.Diagnostics
		addUpdateFailure(c, &diags, "upd_1", read, "", fixCause)
		texts[name] = strings.ReplaceAll(textOf(diags), long, "(300 characters)")
	}
	wantTexts(t, "failed_update.txt", texts)
}
