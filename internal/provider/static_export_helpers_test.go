// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// site is the address of the export in the tests' configurations.
const site = "docs_static_export.site"

// export returns the configuration of an export with further arguments.
func export(arguments ...string) string {
	return fmt.Sprintf("resource \"docs_static_export\" \"site\" {\n  domain = \"docs.example.com\"\n  %s\n}\n", strings.Join(arguments, "\n  "))
}

// revision returns the configuration of an export of the given content.
func revision(content string, arguments ...string) string {
	return export(append(arguments, fmt.Sprintf("triggers = { revision = %q }", content))...)
}

// apply applies the configuration and returns the output, unwrapped.
func (c *cli) apply(t *testing.T, wantExit int, flags ...string) string {
	t.Helper()
	return unwrapped(c.Run(t, wantExit, append([]string{"apply", "-input=false", "-auto-approve"}, flags...)...))
}

var lineBreak = regexp.MustCompile(`[\s│]+`)

// unwrapped returns the output of the CLI as one line. Terraform wraps diagnostics
// and draws a border next to them.
func unwrapped(output string) string { return lineBreak.ReplaceAllString(output, " ") }

// wantTexts checks that unwrapped output contains each of the texts.
func wantTexts(t *testing.T, output string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(output, text) {
			t.Errorf("the output does not contain %q:\n%s", text, output)
		}
	}
}

// wantJob checks that the state holds the nth job of the service, with a link that
// works.
func (c *cli) wantJob(t *testing.T, n int) {
	t.Helper()
	state := c.state(t, site)
	if jobs := c.JobIDs(); n >= len(jobs) || state["job_id"] != jobs[n] {
		t.Fatalf("the state holds job %v, want number %d of %v", state["job_id"], n, jobs)
	}
	c.wantLink(t)
}

// wantLink checks that the state holds a link that works.
func (c *cli) wantLink(t *testing.T) {
	t.Helper()
	if left := c.linkLeft(t); left <= 0 {
		t.Errorf("the link expired %s ago", -left)
	}
}

// linkLeft returns how long the state's link still works.
func (c *cli) linkLeft(t *testing.T) time.Duration {
	t.Helper()
	state := c.state(t, site)
	expiresAt, err := time.Parse(time.RFC3339, fmt.Sprint(state["expires_at"]))
	if err != nil || fmt.Sprint(state["bundle_url"]) == "" {
		t.Fatalf("the state holds no link: %v", state)
	}
	return expiresAt.Sub(c.clock.Now())
}

// interruptApply interrupts an apply during its first poll of a job and returns the
// output, unwrapped.
func (c *cli) interruptApply(t *testing.T) string {
	t.Helper()
	return unwrapped(c.interrupt(t, simulator.EndpointJob, "apply", "-auto-approve", "-refresh=false"))
}
