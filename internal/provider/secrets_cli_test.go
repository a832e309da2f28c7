// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// serveVariable makes the test's program the provider, so that Terraform can
// run one in a process of its own.
const serveVariable = "DOCS_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		if err := tf6server.Serve("registry.terraform.io/docs-hosting/docs", NewServer(Options{Version: "test"})); err != nil {
			log.Fatal(err)
		}
		return
	}
	m.Run()
}

const secretsConfig = requireProvider + `
resource "docs_static_export" "site" {
  domain = "docs.example.com"
}

data "docs_update_status" "latest" {
  status_id = "upd_good"
}

data "docs_static_export_job" "site" {
  job_id = docs_static_export.site.job_id
}

resource "docs_update_gate" "latest" {
  status_id = "upd_good"
}

resource "docs_bundle_download" "site" {
  job_id     = docs_static_export.site.job_id
  path       = "bundle.tar.gz"
  extract_to = "site"
}

output "link" {
  value     = docs_static_export.site.bundle_url
  sensitive = true
}
`

// TestTerraformTellsNoSecretOfTheProvider runs the provider as its users do, in
// a process of its own that logs all it can, until that is killed so that it
// tells all it has.
func TestTerraformTellsNoSecretOfTheProvider(t *testing.T) {
	t.Parallel()
	server, err := simulator.Listen(simulator.Options{Queue: -1, Run: -1, LinkLifetime: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_good"})
	var links handedOut
	links.watch(&harness{Server: server})
	c := newProcessCLI(t, server)
	c.SkipBelow(t, 5, 6, "JSON output that marks what the schema says is sensitive")
	var seen bytes.Buffer
	run := func(exit int, args ...string) string {
		t.Helper()
		output := c.Run(t, exit, args...)
		seen.WriteString(output)
		return output
	}
	prune := func(output string) {
		t.Helper()
		seen.WriteString(withoutSensitive(t, output))
	}

	run(0, "plan", "-out=saved")
	run(0, "apply", "saved")
	prune(c.Run(t, 0, "show", "-json"))
	run(0, "show")
	run(0, "output")
	if output := run(0, "plan", "-out=renewal"); !strings.Contains(output, "1 to change") {
		t.Errorf("the link has expired, but the plan renews none:\n%s", output)
	}
	prune(c.Run(t, 0, "show", "-json", "renewal"))
	run(0, "show", "renewal")
	run(0, "apply", "renewal")
	server.RotateKey("sim_another_key_altogether")
	if output := run(1, "plan"); !strings.Contains(output, "HTTP 401") {
		t.Errorf("the key is no longer valid, but it says:\n%s", output)
	}
	server.RotateKey(simulator.DefaultAPIKey)
	seen.WriteString(c.crash(t, server))

	content, err := os.ReadFile(filepath.Join(c.Folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	trace := string(content)
	for _, want := range []string{"API request", "[TRACE] provider.", "goroutine "} {
		if !strings.Contains(trace, want) {
			t.Errorf("the log has no %q, so it is not all that there is", want)
		}
	}
	for where, text := range map[string]string{"what is shown": seen.String(), "the log": trace} {
		links.wantAbsent(t, where, text)
		wantNoSecret(t, where, text)
	}
}

// processCLI is a CLI with a provider in a process of its own.
type processCLI struct{ *clitest.CLI }

func newProcessCLI(t *testing.T, server *simulator.Server) *processCLI {
	t.Helper()
	binary := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if binary == "" {
		binary = "terraform"
	}
	binary, err := exec.LookPath(binary)
	if err != nil {
		t.Skip("needs terraform on PATH")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, file := range map[string]struct {
		content string
		mode    os.FileMode
	}{
		"main.tf":                     {secretsConfig, 0o600},
		"cli.tfrc":                    {fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"docs-hosting/docs\" = %q\n  }\n  direct {}\n}\n", filepath.Join(folder, "bin")), 0o600},
		"bin/terraform-provider-docs": {fmt.Sprintf("#!/bin/sh\necho $$ >%q\n%s=1 exec %q\n", filepath.Join(folder, "pid"), serveVariable, self), 0o700},
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file.content), file.mode); err != nil {
			t.Fatal(err)
		}
	}
	return &processCLI{&clitest.CLI{Binary: binary, Folder: folder, Env: append(os.Environ(),
		"TF_CLI_CONFIG_FILE="+filepath.Join(folder, "cli.tfrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"DOCS_BASE_URL="+server.BaseURL, "DOCS_API_KEY="+simulator.DefaultAPIKey,
		"TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(folder, "log"), "GOTRACEBACK=all")}}
}

// crash makes the provider dump its stacks and end while it waits for an
// answer, and returns what Terraform shows then.
func (c *processCLI) crash(t *testing.T, server *simulator.Server) string {
	t.Helper()
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	server.Rewrite(func(_ string, body map[string]any) any {
		once.Do(func() { close(asked) })
		<-release
		return body
	})
	defer func() {
		server.Rewrite(nil)
		close(release)
	}()
	command, output := c.Command("plan", "-no-color")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case <-asked:
	case err := <-ended:
		t.Fatalf("the plan ended before it asked: %v\n%s", err, output)
	}
	pid, err := os.ReadFile(filepath.Join(c.Folder, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		t.Fatal(err)
	}
	provider, err := os.FindProcess(number)
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Errorf("the provider crashed, but it says:\n%s", output)
	}
	return output.String()
}

// withoutSensitive takes out of the JSON of a plan or a state what it marks as
// sensitive.
func withoutSensitive(t *testing.T, text string) string {
	t.Helper()
	var document any
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	pruned, err := json.Marshal(pruned(document))
	if err != nil {
		t.Fatal(err)
	}
	return string(pruned)
}

func pruned(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = pruned(value[i])
		}
	case map[string]any:
		for name, marks := range map[string]string{"values": "sensitive_values", "before": "before_sensitive", "after": "after_sensitive", "value": "sensitive"} {
			if mark, found := value[marks]; found {
				value[name] = unmarked(value[name], mark)
			}
		}
		for name := range value {
			value[name] = pruned(value[name])
		}
	}
	return value
}

// unmarked drops what marks, of the same shape as value, holds true for.
func unmarked(value, marks any) any {
	switch marks := marks.(type) {
	case bool:
		if marks {
			return nil
		}
	case map[string]any:
		if object, ok := value.(map[string]any); ok {
			for name, mark := range marks {
				object[name] = unmarked(object[name], mark)
			}
		}
	case []any:
		if list, ok := value.([]any); ok {
			for i := range min(len(list), len(marks)) {
				list[i] = unmarked(list[i], marks[i])
			}
		}
	}
	return value
}
