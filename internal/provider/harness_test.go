// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// harness is a simulated service and a provider that talks to it, both on one virtual
// clock: jobs and links take their time, tests take none. Every exchange is checked against
// the contract.
type harness struct {
	service *simulator.Server
	clock   *clocktest.Virtual
	env     sync.Map // of the provider, which reads it in another goroutine
}

// startOfTime is when every test begins.
var startOfTime = time.Date(2130, time.January, 31, 12, 0, 0, 0, time.UTC)

// newHarness starts a service. The harness sets the clock and the observer. A fault that
// meets no request fails the test, which would otherwise test nothing.
func newHarness(t *testing.T, options simulator.Options) *harness {
	t.Helper()
	clock := clocktest.NewVirtual(startOfTime)
	options.Now = clock.Now
	options.Observe = contract.New(t).Check
	service, err := simulator.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = service.Close()
		for _, fault := range service.UnusedFaults() {
			if t.Skipped() {
				break
			}
			t.Errorf("no request met the fault %+v", fault)
		}
	})
	h := &harness{service: service, clock: clock}
	h.env.Store(baseURLVariable, service.BaseURL)
	h.env.Store(apiKeyVariable, simulator.DefaultAPIKey)
	return h
}

// server constructs the provider under test, configured by the harness's environment.
func (h *harness) server() func() tfprotov6.ProviderServer {
	getenv := func(name string) string {
		value, _ := h.env.Load(name)
		text, _ := value.(string)
		return text
	}
	return NewServer(Options{Version: "test", Getenv: getenv, Clock: h.clock})
}

// What an acceptance test needs of a real service, besides the variables of the provider.
const (
	domainVariable   = "DOCS_DOMAIN"
	statusIDVariable = "DOCS_STATUS_ID" // of an update that succeeds
)

// acceptance is what an acceptance test runs against: the service that DOCS_BASE_URL names, or
// a simulated one.
type acceptance struct {
	domain, statusID string
	providers        map[string]func() (tfprotov6.ProviderServer, error)
	simulated        *harness // nil if the service is real
}

// newAcceptance skips the test if the service is real and one of the variables is not set.
func newAcceptance(t *testing.T, variables ...string) *acceptance {
	t.Helper()
	clitest.Find(t) // resource.Test would download one
	a, server := &acceptance{domain: os.Getenv(domainVariable), statusID: os.Getenv(statusIDVariable)}, NewServer(Options{Version: "test"})
	if os.Getenv(baseURLVariable) == "" {
		a.simulated = newHarness(t, simulator.Options{})
		a.domain, server = "docs.example.com", a.simulated.server()
		a.statusID = a.simulated.service.AddUpdate(simulator.UpdateSpec{Queue: ended, Run: ended})
	}
	for _, name := range append(variables, apiKeyVariable) {
		if a.simulated == nil && os.Getenv(name) == "" {
			t.Skipf("needs %s, because %s is set", name, baseURLVariable)
		}
	}
	a.providers = map[string]func() (tfprotov6.ProviderServer, error){
		"docs": func() (tfprotov6.ProviderServer, error) { return server(), nil },
	}
	return a
}

// wantCounts checks the requests of the whole test if the service is simulated.
func (a *acceptance) wantCounts(t *testing.T, want counts) {
	t.Helper()
	if a.simulated != nil {
		a.simulated.wantCounts(t, want)
	}
}

// export returns the configuration of an export of the given content.
func (a *acceptance) export(revision string) string {
	return fmt.Sprintf(`
resource "docs_static_export" "test" {
  domain   = %q
  triggers = { revision = %q }
}
`, a.domain, revision)
}

// expectAction checks what a step plans for a resource.
func expectAction(address string, action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}}
}

// counts is how often each endpoint of the service was called.
type counts struct{ start, job, bundle, download, update, unknown int }

// polls is a number of polls, which is not exact because their times have jitter.
func polls(least, most int) int { return -(least*1000 + most) }

// wantCounts checks the calls of all endpoints since the last reset of the request log.
func (h *harness) wantCounts(t *testing.T, want counts) {
	t.Helper()
	got := counts{
		h.service.Count(simulator.EndpointStart), h.service.Count(simulator.EndpointJob), h.service.Count(simulator.EndpointBundle),
		h.service.Count(simulator.EndpointDownload), h.service.Count(simulator.EndpointUpdate), h.service.Count(simulator.EndpointUnknown),
	}
	if want.job < 0 {
		want.job = min(max(got.job, -want.job/1000), -want.job%1000)
	}
	if got != want {
		t.Errorf("requests: got %+v, want %+v", got, want)
	}
}

// wantStarts checks how often an export was started since the last reset of the request log.
func (h *harness) wantStarts(t *testing.T, want int) {
	t.Helper()
	if starts := h.service.Count(simulator.EndpointStart); starts != want {
		t.Errorf("%d starts, want %d", starts, want)
	}
}

// cli runs commands of the real CLI with the provider of a harness, in a folder of its own.
type cli struct {
	*harness
	terraform *clitest.CLI
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
	c.terraform.Write(t, "main.tf", c.terraform.Require()+config)
}

// wantEmptyPlan checks that there is nothing to do.
func (c *cli) wantEmptyPlan(t *testing.T, flags ...string) {
	t.Helper()
	c.terraform.Run(t, 0, append([]string{"plan", "-input=false", "-detailed-exitcode"}, flags...)...)
}

// values returns the attributes of everything in the state, by addresses.
func (c *cli) values(t *testing.T) map[string]map[string]any {
	t.Helper()
	var state struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address string
					Values  map[string]any
				}
			} `json:"root_module"`
		}
	}
	if err := json.Unmarshal([]byte(c.terraform.Run(t, 0, "show", "-json")), &state); err != nil {
		t.Fatal(err)
	}
	values := map[string]map[string]any{}
	for _, r := range state.Values.RootModule.Resources {
		values[r.Address] = r.Values
	}
	return values
}

// interrupt runs a command that must fail, interrupts it during its first request to
// the endpoint, and returns its output.
func (c *cli) interrupt(t *testing.T, endpoint string, args ...string) string {
	t.Helper()
	// Older ones run as a child of a process that ignores the signal.
	c.terraform.SkipBelow(t, 2, 0, "a single process to interrupt")
	defer c.service.AddFault(simulator.Fault{Endpoint: endpoint, Delay: simulator.Forever})()
	c.service.ResetRequests()
	command, output := c.terraform.Command(append(args, "-no-color")...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for c.service.Count(endpoint) == 0 {
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

// notInRow is what the name of a row cannot have, so that no two rows have the same label.
var notInRow = regexp.MustCompile(`[^A-Za-z0-9 -]`)

// label turns the name of a row into a name for its block.
func label(row string) string {
	if notInRow.MatchString(row) {
		panic(fmt.Sprintf("the name of the row %q has characters that no block can have", row))
	}
	return strings.ReplaceAll(row, " ", "_")
}

// report is what a command says, by the names of the blocks it is about.
type report struct {
	// said holds diagnostics, each as "severity: summary (argument)\ndetail\n".
	said map[string]string
	// planned holds the planned actions.
	planned map[string]string
	// seen holds whatever the command planned, read, or changed.
	seen map[string]bool
}

// report runs a command that must end with the exit code.
func (c *cli) report(t *testing.T, wantExit int, args ...string) report {
	t.Helper()
	r := report{map[string]string{}, map[string]string{}, map[string]bool{}}
	for line := range strings.Lines(c.terraform.Run(t, wantExit, slices.Insert(args, 1, "-json")...)) {
		var message struct {
			Type       string
			Diagnostic struct {
				Severity, Summary, Detail, Address string
				Snippet                            struct{ Code string }
			}
			Change, Hook struct {
				Resource struct{ Addr string }
				Action   string
			}
		}
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		r.seen[blockOf(message.Change.Resource.Addr)], r.seen[blockOf(message.Hook.Resource.Addr)] = true, true
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

// wantSaid checks that all phrases are said about a row.
func (r report) wantSaid(t *testing.T, row string, phrases ...string) {
	t.Helper()
	wantPhrases(t, r.said[label(row)], phrases...)
}

// wantNothingSaid checks that nothing is said about a row, although the command looked at it.
func (r report) wantNothingSaid(t *testing.T, row string) {
	t.Helper()
	if said := r.said[label(row)]; said != "" || !r.seen[label(row)] {
		t.Errorf("the command looked at %q: %t, and said:\n%s", row, r.seen[label(row)], said)
	}
}

// wantPhrases checks that a text contains all phrases, of which there must be one.
func wantPhrases(t *testing.T, text string, phrases ...string) {
	t.Helper()
	if len(phrases) == 0 {
		t.Error("the test expects no phrase")
	}
	for _, phrase := range phrases {
		if !strings.Contains(text, phrase) {
			t.Errorf("no %q in:\n%s", phrase, text)
		}
	}
}

// wantAttributes checks some attributes of an object, which must have them.
func wantAttributes(t *testing.T, object, want map[string]any) {
	t.Helper()
	if object == nil || len(want) == 0 {
		t.Fatalf("the object is %v, the wanted attributes are %v", object, want)
	}
	for name, value := range want {
		if got, ok := object[name]; !ok || !reflect.DeepEqual(got, value) {
			t.Errorf("%s is %#v (%t), want %#v", name, got, ok, value)
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
	return unwrapped(c.terraform.Run(t, wantExit, append([]string{"apply", "-input=false", "-auto-approve"}, flags...)...))
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
	if jobs := c.service.JobIDs(); n >= len(jobs) || state["job_id"] != jobs[n] {
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
