// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"archive/zip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

const exportBundle = "docs_static_export_bundle"

// handedOut collects the links that a service makes.
type handedOut struct {
	mu    sync.Mutex
	links []string
}

func (l *handedOut) watch(h *harness) {
	h.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointBundle {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.links = append(l.links, body["bundleUrl"].(string))
		}
		return body
	})
}

// wantAbsent checks that a text holds the secret part of no link.
func (l *handedOut) wantAbsent(t *testing.T, where, text string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.links) == 0 {
		t.Fatal("no link was made")
	}
	for _, link := range l.links {
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"X-Amz-Signature", "X-Amz-Security-Token"} {
			if value := u.Query().Get(secret); value == "" || strings.Contains(text, value) {
				t.Errorf("%s holds the %s of a link", where, secret)
			}
		}
	}
}

func TestEphemeralLinkIsMadeForACompletedJob(t *testing.T) {
	t.Parallel()
	var links handedOut
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	h.AddJob(simulator.JobSpec{ID: "se_1", Queue: ended, Run: ended})
	links.watch(h)
	p := h.newProtocol(t)
	result, resp := p.open(t, exportBundle, map[string]any{"job_id": "se_1"})
	if said := said6(resp.Diagnostics); said != "" {
		t.Error(said)
	}
	if result["bundle_url"] != links.links[0] || result["expires_at"] != "2030-01-31T13:00:00Z" || result["bundle_size_bytes"] == nil {
		t.Errorf("the result is %v", result)
	}
	if !resp.RenewAt.IsZero() {
		t.Errorf("to be renewed at %s, which cannot change the link", resp.RenewAt)
	}
	if log := p.logs.String(); !strings.Contains(log, "/static-export/jobs/se_1/bundle") {
		t.Errorf("the log does not show the requests:\n%s", log)
	}
	links.wantAbsent(t, "the log", p.logs.String())
	h.wantCounts(t, map[string]int{simulator.EndpointJob: 1, simulator.EndpointBundle: 1})

	// Each time it is opened it is another link.
	if again, _ := p.open(t, exportBundle, map[string]any{"job_id": "se_1"}); again["bundle_url"] == result["bundle_url"] {
		t.Error("the second link is the first one")
	}
}

func TestEphemeralLinkMayHaveNoExpiryAndNoSize(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	h.AddJob(simulator.JobSpec{ID: "se_1", Queue: ended, Run: ended})
	h.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointBundle {
			return map[string]any{"bundleUrl": "https://storage.example/bundle.tar.gz"}
		}
		return body
	})
	result, resp := h.newProtocol(t).open(t, exportBundle, map[string]any{"job_id": "se_1"})
	if said := said6(resp.Diagnostics); said != "" {
		t.Error(said)
	}
	wantAttributes(t, result, map[string]any{
		"bundle_url": "https://storage.example/bundle.tar.gz", "expires_at": nil, "bundle_size_bytes": nil,
	})
}

func TestEphemeralLinkThatCannotBeMadeIsExplained(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job     simulator.JobSpec
		fault   *simulator.Fault
		said    []string
		bundles int
	}{
		"the job is queued": {
			job:  simulator.JobSpec{Queue: simulator.Forever},
			said: []string{"ERROR: Static export job not completed", `Job se_1 was last seen with status "queued"`, "once the job has completed", "docs_static_export"},
		},
		"the job runs": {
			job:  simulator.JobSpec{Queue: ended, Run: simulator.Forever, Progress: func(float64) any { return 42 }},
			said: []string{"ERROR: Static export job not completed", `status "running", progress 42, 0 pages.`},
		},
		"the job is in a status that is not documented": {
			job:  simulator.JobSpec{Queue: ended, Run: simulator.Forever, RunningStatus: "packaging"},
			said: []string{"ERROR: Static export job not completed", `status "packaging"`},
		},
		"the job has failed": {
			job:  simulator.JobSpec{Queue: ended, Run: ended, Fail: "page /broken does not render"},
			said: []string{"ERROR: Static export job failed", "The service said: page /broken does not render", "Export the site again"},
		},
		"the job is not known": {
			job:  simulator.JobSpec{ID: "se_2"},
			said: []string{"ERROR: Could not read the static export job se_1", "HTTP 404 Not Found", "Check the id"},
		},
		"the service refuses": {
			job: simulator.JobSpec{Queue: ended, Run: ended}, fault: &simulator.Fault{Endpoint: simulator.EndpointBundle, Status: http.StatusForbidden, Body: `{"error": "not in your plan"}`},
			said:    []string{"ERROR: Could not make a link to the bundle of the static export job se_1", "HTTP 403 Forbidden", "not in your plan", "Enterprise plan"},
			bundles: 1,
		},
		"the answer has no link": {
			job: simulator.JobSpec{Queue: ended, Run: ended}, fault: &simulator.Fault{Endpoint: simulator.EndpointBundle, Status: http.StatusOK, Body: `{"url": "https://storage.example/b"}`},
			said: []string{"ERROR: Could not make a link", "the answer has no bundleUrl"},
		},
		"the time is over": {
			fault: &simulator.Fault{Delay: time.Hour},
			said:  []string{"ERROR: Could not read the static export job se_1", "The operation's timeout was reached."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			if test.job.ID == "" {
				test.job.ID = "se_1"
			}
			h.AddJob(test.job)
			if test.fault != nil {
				h.AddFault(*test.fault)
			}
			result, resp := h.newProtocol(t).open(t, exportBundle, map[string]any{"job_id": "se_1", "timeouts": map[string]any{"open": "20s"}})
			if result["bundle_url"] != nil {
				t.Errorf("the result is %v", result)
			}
			wantSaid(t, said6(resp.Diagnostics), test.said...)
			if test.fault == nil || test.bundles > 0 {
				h.wantCounts(t, map[string]int{simulator.EndpointBundle: test.bundles})
			}
		})
	}
}

func TestEphemeralLinkReachesAnotherProvider(t *testing.T) {
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	h.AddJob(simulator.JobSpec{ID: "se_1", Queue: ended, Run: ended})
	echoed := func(name string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("echo.link", tfjsonpath.New("data").AtMapKey(name), value)
	}
	h.runSince(t, tfversion.Version1_10_0, resource.TestStep{
		Config: fmt.Sprintf(`
ephemeral %q "latest" {
  job_id = "se_1"
}

provider "echo" {
  data = ephemeral.docs_static_export_bundle.latest
}

resource "echo" "link" {}
`, exportBundle),
		ConfigStateChecks: []statecheck.StateCheck{
			echoed("bundle_url", knownvalue.StringRegexp(regexp.MustCompile(`^http://127.*X-Amz-Signature=`))),
			echoed("expires_at", knownvalue.StringExact("2030-01-31T13:00:00Z")),
			echoed("bundle_size_bytes", knownvalue.NotNull()),
		},
	})
}

func TestEphemeralLinkWorksAndIsInNoPlanStateLogOrOutput(t *testing.T) {
	t.Parallel()
	var links handedOut
	h := newHarness(t, simulator.Options{})
	h.AddJob(simulator.JobSpec{ID: "se_1", Queue: ended, Run: ended})
	links.watch(h)
	c := h.newCLI(t, `
ephemeral "docs_static_export_bundle" "latest" {
  job_id = "se_1"
}

resource "terraform_data" "publish" {
  provisioner "local-exec" {
    command     = "printf %s \"$LINK\" > link"
    environment = { LINK = ephemeral.docs_static_export_bundle.latest.bundle_url }
  }
}
`)
	c.SkipBelow(t, 10, 11, "ephemeral resources")
	c.Env = append(c.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(c.Folder, "log"))
	output := c.Run(t, 0, "plan", "-out=saved") + c.Run(t, 0, "apply", "saved")
	links.wantAbsent(t, "the output", output)

	read := func(name string) string {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(c.Folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	used := read("link")
	if used != links.links[len(links.links)-1] {
		t.Errorf("the link that was used is not the last that was made: %s", used)
	}
	resp, err := http.Get(used) //nolint:gosec,noctx // the simulator's own link
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the link answers %s", resp.Status)
	}
	links.wantAbsent(t, "the state", read("terraform.tfstate"))
	links.wantAbsent(t, "the log", read("log"))
	archive, err := zip.OpenReader(filepath.Join(c.Folder, "saved"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	for _, file := range archive.File {
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		links.wantAbsent(t, "the plan's "+file.Name, string(text))
	}
}
