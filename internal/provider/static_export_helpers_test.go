// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
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

// interrupt runs an apply and sends it SIGINT while the service holds back the
// answer to a poll of the job. It returns the output, unwrapped.
func (c *cli) interrupt(t *testing.T) string {
	t.Helper()
	polled, release := make(chan struct{}), make(chan struct{})
	poll, free := sync.OnceFunc(func() { close(polled) }), sync.OnceFunc(func() { close(release) })
	c.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointJob {
			poll()
			<-release
		}
		return body
	})
	defer c.Rewrite(nil)
	defer free()
	defer time.AfterFunc(30*time.Second, free).Stop() // an apply that ignores the interrupt succeeds then

	command, output := c.Command("apply", "-auto-approve", "-refresh=false", "-no-color")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.Wait()
	}()
	select {
	case <-polled:
	case <-ended:
		t.Fatalf("the apply ended before it polled:\n%s", output)
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-ended
	if exit := command.ProcessState.ExitCode(); exit != 1 {
		t.Errorf("the interrupted apply ended with %d:\n%s", exit, output)
	}
	return unwrapped(output.String())
}
