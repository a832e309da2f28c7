// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// harness is a simulated service and a provider that talks to it, both on one
// virtual clock: jobs and links take their time, tests take none. Every exchange is
// checked against the contract. A test runs either steps of plugin-testing (run) or,
// for what those cannot do, commands of the CLI (cli).
type harness struct {
	*simulator.Server
	clock *clocktest.Virtual
	env   map[string]string
}

// startOfTime is when every test begins.
var startOfTime = time.Date(2030, time.January, 31, 12, 0, 0, 0, time.UTC)

// newHarness starts a service. The harness sets the clock and the observer.
func newHarness(t *testing.T, options simulator.Options) *harness {
	t.Helper()
	h := &harness{clock: clocktest.NewVirtual(startOfTime)}
	options.Now = h.clock.Now
	options.Observe = contract.New(t).Check
	server, err := simulator.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	h.Server = server
	h.env = map[string]string{baseURLVariable: server.BaseURL, apiKeyVariable: simulator.DefaultAPIKey}
	return h
}

// server constructs the provider under test, configured by the harness's environment.
func (h *harness) server() func() tfprotov6.ProviderServer {
	return NewServer(Options{Version: "test", Getenv: func(name string) string { return h.env[name] }, Clock: h.clock})
}

// run runs the steps of an acceptance test in parallel with other tests.
func (h *harness) run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	clitest.Find(t) // ParallelTest would download one
	resource.ParallelTest(t, resource.TestCase{
		IsUnitTest: true,
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"docs": func() (tfprotov6.ProviderServer, error) { return h.server()(), nil },
		},
		Steps: steps,
	})
}

// wantCounts checks how often each endpoint was called since the last reset of the
// request log.
func (h *harness) wantCounts(t *testing.T, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for endpoint := range want {
		got[endpoint] = h.Count(endpoint)
	}
	if !maps.Equal(got, want) {
		t.Errorf("requests: got %v, want %v", got, want)
	}
}

// wantNoRequests checks that the service was not called.
func (h *harness) wantNoRequests(t *testing.T) {
	t.Helper()
	if requests := h.Requests(); len(requests) > 0 {
		t.Errorf("%d requests, the first one %s %s", len(requests), requests[0].Method, requests[0].Path)
	}
}

// cli runs commands of the real CLI with the provider of a harness.
type cli struct {
	*harness
	*clitest.CLI
}

// cli returns a CLI with a configuration. It skips the test if there is no CLI.
func (h *harness) cli(t *testing.T, config string) *cli {
	t.Helper()
	c := &cli{h, clitest.New(t, "docs-hosting/docs", h.server())}
	c.write(t, config)
	return c
}

// write replaces the configuration.
func (c *cli) write(t *testing.T, config string) {
	t.Helper()
	c.Write(t, "main.tf", c.Require()+config)
}

// wantEmptyPlan checks that there is nothing to do.
func (c *cli) wantEmptyPlan(t *testing.T, flags ...string) {
	t.Helper()
	c.Run(t, 0, append([]string{"plan", "-input=false", "-detailed-exitcode"}, flags...)...)
}

// values returns the attributes of everything in the state, by addresses.
func (c *cli) values(t *testing.T) map[string]map[string]any {
	t.Helper()
	values, _ := c.state(t)
	return values
}

// state returns the attributes of everything in the state, by addresses, and the addresses
// of what is tainted.
func (c *cli) state(t *testing.T) (values map[string]map[string]any, tainted []string) {
	t.Helper()
	var state struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address string
					Values  map[string]any
					Tainted bool
				}
			} `json:"root_module"`
		}
	}
	if err := json.Unmarshal([]byte(c.Run(t, 0, "show", "-json")), &state); err != nil {
		t.Fatal(err)
	}
	values = map[string]map[string]any{}
	for _, r := range state.Values.RootModule.Resources {
		values[r.Address] = r.Values
		if r.Tainted {
			tainted = append(tainted, r.Address)
		}
	}
	return values, tainted
}

// interrupt runs a command that must fail, interrupts it during its first request to
// the endpoint, and returns its output.
func (c *cli) interrupt(t *testing.T, endpoint string, args ...string) string {
	t.Helper()
	defer c.AddFault(simulator.Fault{Endpoint: endpoint, Delay: simulator.Forever})()
	c.ResetRequests()
	command, output := c.Command(append(args, "-no-color")...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for c.Count(endpoint) == 0 {
		select {
		case err := <-ended:
			t.Fatalf("the command ended before its request to %s: %v\n%s", endpoint, err, output)
		case <-look.C:
		}
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Errorf("the interrupted command succeeded:\n%s", output)
	}
	return output.String()
}

// Many tests are tables whose rows become blocks of one configuration, because a
// command of the CLI costs the same for one block and for twenty. The block of a row
// has the row's label; report tells what the CLI says about each.

var notInLabel = regexp.MustCompile(`\W+`)

// label turns the name of a row into a name for its block.
func label(row string) string { return notInLabel.ReplaceAllString(row, "_") }

// report is what a command says, by the names of the blocks it is about.
type report struct {
	// said holds diagnostics, each as "severity: summary (argument)\ndetail\n".
	said map[string]string
	// planned holds the planned actions.
	planned map[string]string
}

// report runs a command that must end with the exit code.
func (c *cli) report(t *testing.T, wantExit int, args ...string) report {
	t.Helper()
	r := report{map[string]string{}, map[string]string{}}
	for line := range strings.Lines(c.Run(t, wantExit, slices.Insert(args, 1, "-json")...)) {
		var message struct {
			Type       string
			Diagnostic struct {
				Severity, Summary, Detail, Address string
				Snippet                            struct{ Code string }
			}
			Change struct {
				Resource struct{ Addr string }
				Action   string
			}
		}
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		switch d := message.Diagnostic; message.Type {
		case "diagnostic":
			argument, _, _ := strings.Cut(strings.TrimSpace(d.Snippet.Code), " ")
			r.said[blockOf(d.Address)] += fmt.Sprintf("%s: %s (%s)\n%s\n", d.Severity, d.Summary, argument, d.Detail)
		case "planned_change":
			r.planned[blockOf(message.Change.Resource.Addr)] = message.Change.Action
		}
	}
	return r
}

// blockOf returns the name of a block from its address: of a provider its alias or type.
func blockOf(address string) string {
	address = strings.TrimRight(address, `"]`)
	return address[strings.LastIndexAny(address, "./")+1:]
}

// wantSaid checks what is said about a row: all phrases, or nothing if there are none.
func (r report) wantSaid(t *testing.T, row string, phrases ...string) {
	t.Helper()
	wantPhrases(t, r.said[label(row)], phrases...)
}

// wantPhrases checks that a text contains all phrases, or is empty if there are none.
func wantPhrases(t *testing.T, text string, phrases ...string) {
	t.Helper()
	if len(phrases) == 0 && text != "" {
		t.Errorf("unexpected text:\n%s", text)
	}
	for _, phrase := range phrases {
		if !strings.Contains(text, phrase) {
			t.Errorf("no %q in:\n%s", phrase, text)
		}
	}
}

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

// wantJob checks that the state holds the nth job of the service, with a link that
// works.
func (c *cli) wantJob(t *testing.T, n int) {
	t.Helper()
	state := c.values(t)[site]
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
	state := c.values(t)[site]
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
