// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package walk

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// script is what happens to one export, round by round.
type script struct {
	name   string
	rounds []round
}

// round is a plan and its apply. Everything that is not set stays as it was.
type round struct {
	set     settings
	unknown string // the argument that is not known in the plan
	replace bool
	do      string // before the plan: doUntaint or doImport
	fault   simulator.Fault
	forget  bool // the service forgets the job
}

var scripts = []script{
	{"new content", []round{{set: settings{"triggers": "2"}}, {set: settings{"triggers": "3"}}, {}}},
	{"no change", []round{{}, {}, {}}},
	{"a content that the plan does not know", []round{{unknown: "revision"}, {unknown: "revision", set: settings{"triggers": "2"}}, {unknown: "revision"}}},
	{"other spacing", []round{{set: settings{"additional_parameters": `{"version":"1"}`}}, {set: settings{"additional_parameters": `{ "version": "1" }`}}, {unknown: "revision", set: settings{"additional_parameters": `{"version":"1"}`}}}},
	{"a job that fails", []round{{fault: failing}, {}, {set: settings{"triggers": "2"}, fault: failing}}},
	{"a start that is refused", []round{{fault: refused}, {}, {set: settings{"triggers": "2"}, fault: refused}}},
	{"a bundle that is refused", []round{{fault: unlinked}, {do: doUntaint}, {}}},
	{"a bundle that is refused, tainted", []round{{fault: unlinked}, {}, {}}},
	{"a job that is gone", []round{{}, {forget: true}, {}}},
	{"another domain", []round{{}, {set: settings{"domain": "other."}}, {}}},
	{"replaced on request", []round{{}, {replace: true}, {}}},
	{"imported", []round{{}, {do: doImport}, {}}},
	{"never renewed", []round{{set: settings{"link_renewal": "never"}}, {}, {}}},
}

var (
	failing  = simulator.Fault{Endpoint: simulator.EndpointJob, Status: 200, Body: `{"jobId":"x","status":"failed","error":"the site could not be built"}`}
	refused  = simulator.Fault{Endpoint: simulator.EndpointStart, Status: 403}
	unlinked = simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 422}
)

// later is the time from the plan to the apply of the last round, after which links have
// expired.
const later = 25 * time.Hour

// result is what a round did to an export.
type result struct {
	Planned string // the action; "" for none
	Job     int    // which one of the domain's; -1 for none
	Values  map[string]string
	Linked  bool
	Tainted bool
	Said    []string
	// Requests are the endpoints in the order of their requests, without repetitions.
	Requests []string
}

// TestCoreIsLikeTheCLI runs the same scripts through the core and through the real CLI.
func TestCoreIsLikeTheCLI(t *testing.T) {
	t.Parallel()
	want, got := throughCLI(t), throughCore(t)
	for i, s := range scripts {
		for n := range s.rounds {
			if !reflect.DeepEqual(got[n][i], want[n][i]) {
				t.Errorf("%s, round %d:\nthe core: %+v\nthe CLI:  %+v", s.name, n+1, got[n][i], want[n][i])
			}
		}
	}
}

// arrange prepares the service for a round, and returns what ends its faults.
func arrange(n int, service *simulator.Service, all []settings) (end func()) {
	var removals []func()
	for i, s := range scripts {
		for name, value := range s.rounds[n].set {
			all[i][name] = value
		}
		own := all[i].domain(i)
		if f := s.rounds[n].fault; f.Endpoint != "" {
			f.Match = func(r simulator.Request) bool { return r.Domain == own }
			removals = append(removals, service.AddFault(f))
		}
		if s.rounds[n].forget {
			service.ForgetJob(service.JobIDsOf(own)[0])
		}
	}
	service.ResetRequests()
	return func() {
		for _, remove := range removals {
			remove()
		}
	}
}

func newSettings() (all []settings) {
	for range scripts {
		all = append(all, settings{"triggers": "1"})
	}
	return all
}

// collect returns what a round did, from the planned actions and the diagnostics
// ("severity: summary"), each by address, and the state.
func collect(service *simulator.Service, all []settings, actions map[string]string, said map[string][]string, state func(address string) (values map[string]string, tainted bool)) (results []result) {
	for i := range scripts {
		values, tainted := state(address(i))
		said := said[address(i)]
		slices.Sort(said)
		r := result{Planned: actions[address(i)], Values: values, Linked: values["bundle_url"] != "", Tainted: tainted, Said: slices.Compact(said)}
		r.Job = slices.Index(service.JobIDsOf(all[i].domain(i)), values["job_id"])
		for _, name := range []string{"job_id", "bundle_url", "expires_at"} { // differ from run to run
			delete(values, name)
		}
		for _, request := range service.Requests() {
			if request.Domain == all[i].domain(i) {
				r.Requests = append(r.Requests, request.Endpoint)
			}
		}
		r.Requests = slices.Compact(r.Requests)
		results = append(results, r)
	}
	return results
}

// without removes job IDs from a summary.
func without(summary string) string { return jobID.ReplaceAllString(summary, "ID") }

func throughCore(t *testing.T) (rounds [3][]result) {
	t.Helper()
	schemas()
	synctest.Test(t, func(*testing.T) {
		w := newWorld(scene{Exports: len(scripts), Lifetime: span(24 * time.Hour)})
		w.keepLog = true
		k := &walker{world: w, core: &core{state: map[string]object{}, stored: map[string]bool{}}, settings: newSettings()}
		k.judge = newJudge(k)
		for n := range rounds {
			end := arrange(n, k.service, k.settings)
			var blocks []block
			replaced := ""
			for i, s := range scripts {
				k.step(step{Do: s.rounds[n].do, On: i})
				blocks = append(blocks, k.blocks(s.rounds[n].unknown)[i])
				if s.rounds[n].replace {
					replaced = address(i)
				}
			}
			planned := k.plan(k.launch(), blocks, true, replaced)
			if n == len(rounds)-1 {
				pause(context.Background(), later)
			}
			said, actions := map[string][]string{}, map[string]string{}
			for address, change := range planned.changes {
				if change.action != noop {
					actions[address] = string(change.action)
				}
			}
			for _, s := range append(planned.said, k.apply(k.launch(), planned)...) {
				severity, summary := "warning", without(strings.SplitN(s.text, "\n", 2)[0])
				if s.failed {
					severity = "error"
				}
				said[s.address] = append(said[s.address], severity+": "+summary)
			}
			rounds[n] = collect(k.service, k.settings, actions, said, func(address string) (map[string]string, bool) {
				o, values := k.state[address], map[string]string{}
				for name, v := range attributes(o.value) {
					if text(v) != "" {
						values[name] = text(v)
					}
				}
				return values, o.tainted
			})
			end()
		}
	})
	return rounds
}

func throughCLI(t *testing.T) (rounds [3][]result) {
	t.Helper()
	clock := clocktest.NewVirtual(time.Date(2130, time.January, 31, 12, 0, 0, 0, time.UTC))
	clock.Speed = 50
	service, err := simulator.Listen(simulator.Options{Now: clock.Now, Run: 20 * time.Second, LinkLifetime: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = service.Close() })
	environment := map[string]string{"DOCS_BASE_URL": service.BaseURL, "DOCS_API_KEY": simulator.DefaultAPIKey}
	cli := clitest.New(t, "docs-hosting/docs", func() tfprotov6.ProviderServer {
		return provider.NewServer(provider.Options{Version: "test", Getenv: func(name string) string { return environment[name] }, Clock: clock})()
	})
	cli.SkipBelow(t, 4, 0, "terraform_data")
	all := newSettings()
	for n := range rounds {
		end := arrange(n, service.Service, all)
		config, flags := cli.Require(), []string{"plan", "-input=false", "-json", "-out=plan"}
		config += fmt.Sprintf("resource \"terraform_data\" \"unknown\" { input = %d }\n", n)
		for i, s := range scripts {
			config += hcl(i, all[i], s.rounds[n].unknown)
			switch s.rounds[n].do {
			case doUntaint:
				cli.Run(t, 0, "untaint", address(i))
			case doImport:
				cli.Write(t, "main.tf", config)
				cli.Run(t, 0, "state", "rm", address(i))
				cli.Run(t, 0, "import", address(i), service.JobIDsOf(all[i].domain(i))[0])
			}
			if s.rounds[n].replace {
				flags = append(flags, "-replace="+address(i))
			}
		}
		cli.Write(t, "main.tf", config)
		said, actions := map[string][]string{}, map[string]string{}
		listen := func(args ...string) {
			command, output := cli.Command(args...)
			_ = command.Run() // the diagnostics say whether it failed
			for line := range strings.Lines(output.String()) {
				var message struct {
					Type       string
					Diagnostic struct{ Severity, Summary, Address string }
					Change     struct {
						Action   string
						Resource struct{ Addr string }
					}
				}
				if err := json.Unmarshal([]byte(line), &message); err != nil {
					t.Fatalf("%v in %q", err, output)
				}
				switch d := message.Diagnostic; message.Type {
				case "diagnostic":
					said[d.Address] = append(said[d.Address], d.Severity+": "+without(d.Summary))
				case "planned_change":
					actions[message.Change.Resource.Addr] = message.Change.Action
				}
			}
		}
		listen(flags...)
		if n == len(rounds)-1 {
			clock.Advance(later)
		}
		listen("apply", "-json", "plan")
		rounds[n] = collect(service.Service, all, actions, said, stateOf(t, cli))
		end()
	}
	return rounds
}

// hcl returns the block of an export.
func hcl(i int, s settings, unknown string) string {
	lines := []string{fmt.Sprintf("domain = %q", s.domain(i))}
	for name, value := range s.arguments(i, "") {
		switch {
		case name == "triggers" && unknown != "":
			lines = append(lines, fmt.Sprintf("triggers = { revision = terraform_data.unknown.output == 99 ? \"\" : %q }", s["triggers"]))
		case name == "triggers":
			lines = append(lines, fmt.Sprintf("triggers = { revision = %q }", s["triggers"]))
		case name != "domain" && name != "timeouts" && !value.IsNull():
			lines = append(lines, fmt.Sprintf("%s = %q", name, text(value)))
		}
	}
	return fmt.Sprintf("resource \"docs_static_export\" \"s%d\" {\n  %s\n}\n", i, strings.Join(lines, "\n  "))
}

// stateOf reads the state.
func stateOf(t *testing.T, cli *clitest.CLI) func(address string) (map[string]string, bool) {
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
	if err := json.Unmarshal([]byte(cli.Run(t, 0, "show", "-json")), &state); err != nil {
		t.Fatal(err)
	}
	return func(address string) (values map[string]string, tainted bool) {
		values = map[string]string{}
		for _, r := range state.Values.RootModule.Resources {
			for name, value := range r.Values {
				if text, ok := value.(string); ok && r.Address == address {
					values[name], tainted = text, r.Tainted
				}
			}
		}
		return values, tainted
	}
}
