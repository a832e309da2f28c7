// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"archive/zip"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// serveVariable makes the program of the tests serve the provider, so that the CLI
// starts it like a released one and has its log.
const serveVariable = "DOCS_TEST_SERVE"

func TestMain(m *testing.M) {
	if address := os.Getenv(serveVariable); address != "" {
		if err := tf6server.Serve(address, NewServer(Options{Version: "test"})); err != nil {
			log.Fatal(err)
		}
		return
	}
	os.Exit(m.Run())
}

// ownProcess makes the CLI start the provider itself, and write all logs to FOLDER/log.
func (c *cli) ownProcess(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.put(t, "bin/terraform-provider-docs", fmt.Sprintf("#!/bin/sh\n%s=registry.terraform.io/docs-hosting/docs exec %q\n", serveVariable, self))
	if err := os.Chmod(filepath.Join(c.Folder, "bin/terraform-provider-docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.put(t, "cli.tfrc", fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"docs-hosting/docs\" = %q\n  }\n  direct {}\n}\n", filepath.Join(c.Folder, "bin")))
	c.Env = append(c.Env, "TF_REATTACH_PROVIDERS=", "TF_CLI_CONFIG_FILE="+filepath.Join(c.Folder, "cli.tfrc"),
		baseURLVariable+"="+c.BaseURL, apiKeyVariable+"="+simulator.DefaultAPIKey,
		"TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(c.Folder, "log"))
}

// links collects the presigned links that a service returns.
type links struct {
	mu   sync.Mutex
	made []string
}

func (l *links) watch(h *harness) {
	h.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointBundle {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.made = append(l.made, body["bundleUrl"].(string))
		}
		return body
	})
}

// wantNoSecret checks that a text has neither the key nor the query of a link.
func (l *links) wantNoSecret(t *testing.T, where, text string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(text, simulator.DefaultAPIKey) {
		t.Errorf("%s has the API key", where)
	}
	for _, link := range l.made {
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"X-Amz-Signature", "X-Amz-Security-Token"} {
			if secret := u.Query().Get(name); secret == "" || strings.Contains(text, secret) {
				t.Errorf("%s has the %s of a link", where, name)
			}
		}
	}
}

// secretsConfig has every object of the provider that Terraform 1.10 knows. Only
// docs_static_export keeps a link in the state, as the documentation says.
const secretsConfig = `
ephemeral "docs_static_export_bundle" "site" {
  job_id = "se_1"
}

resource "terraform_data" "publish" {
  provisioner "local-exec" {
    command     = "printf %s \"$LINK\" > link"
    environment = { LINK = ephemeral.docs_static_export_bundle.site.bundle_url }
  }
}

resource "docs_bundle_download" "site" {
  job_id     = "se_1"
  path       = "bundle.tar.gz"
  extract_to = "site"
}

resource "docs_update_gate" "update" {
  status_id = "upd_1"
}

data "docs_update_status" "update" {
  status_id = "upd_1"
}

data "docs_static_export_job" "site" {
  job_id = "se_1"
}
`

func TestNoSecretIsInLogsPlansStatesOrOutput(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{Queue: ended, Run: ended})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1"})
	h.AddJob(simulator.JobSpec{ID: "se_1"})
	var made links
	made.watch(h)
	c := h.cli(t, secretsConfig)
	c.SkipBelow(t, 10, 11, "ephemeral resources")
	c.ownProcess(t)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(c.Folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}

	shown := c.Run(t, 0, "plan", "-out=saved") + c.Run(t, 0, "apply", "saved")
	state := read("terraform.tfstate")
	if link := read("link"); link != made.made[0] && link != made.made[1] && link != made.made[2] {
		t.Errorf("the provisioner got %q", link)
	}
	plan, err := zip.OpenReader(filepath.Join(c.Folder, "saved"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plan.Close() }()
	for _, file := range plan.File {
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		made.wantNoSecret(t, "the plan's "+file.Name, string(text))
	}

	// An export shows its link nowhere but in the state, and errors of a service that
	// repeats what it was sent show nothing either.
	c.write(t, "resource \"docs_static_export\" \"site\" {\n  domain = \"docs.example.com\"\n}\noutput \"link\" {\n  value     = docs_static_export.site.bundle_url\n  sensitive = true\n}\n")
	h.AddFault(simulator.Fault{Endpoint: simulator.EndpointStart, Times: 1, Status: 400, Body: `{"error": "bad key ` + simulator.DefaultAPIKey + `, see ` + made.made[0] + `"}`})
	shown += c.Run(t, 1, "apply", "-auto-approve") + c.Run(t, 0, "apply", "-auto-approve") + c.Run(t, 0, "output") + c.Run(t, 0, "show") + c.Run(t, 0, "destroy", "-auto-approve")

	trace := read("log")
	wantPhrases(t, trace, "API request", "Bundle download", "[TRACE] provider.", "bad key (redacted), see ")
	wantPhrases(t, shown, "bad key (redacted)")
	made.wantNoSecret(t, "the log", trace)
	made.wantNoSecret(t, "the output", shown)
	made.wantNoSecret(t, "the state", state)
}
