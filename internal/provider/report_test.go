// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

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

// blockOf returns the name of a block, or the alias of a provider, from its address.
func blockOf(address string) string { return address[strings.LastIndex(address, ".")+1:] }

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

// values returns the attributes of everything in the state by the names of the blocks.
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
	if err := json.Unmarshal([]byte(c.Run(t, 0, "show", "-json")), &state); err != nil {
		t.Fatal(err)
	}
	values := map[string]map[string]any{}
	for _, r := range state.Values.RootModule.Resources {
		values[blockOf(r.Address)] = r.Values
	}
	return values
}

// wantNoRequests checks that the service was not called.
func (h *harness) wantNoRequests(t *testing.T) {
	t.Helper()
	if requests := h.Requests(); len(requests) > 0 {
		t.Errorf("%d requests, the first one %s %s", len(requests), requests[0].Method, requests[0].Path)
	}
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
