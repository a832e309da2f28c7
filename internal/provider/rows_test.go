package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Many tests are tables whose rows become blocks of one configuration, because a
// command of the CLI costs the same for one block and for twenty. The block of a row
// has the row's label; report tells what the CLI says about each. For example, this row
// of TestBadInputIsRefusedOnItsArgumentBeforeAnyRequest
//
//	"empty ID": {update(`status_id = ""`), "Invalid ID (status_id)\nThe ID is empty."},
//
// becomes data "docs_update_status" "empty_ID", for which said.wantSaid(t, "empty ID", ...)
// expects this summary, marked argument, and detail.

// label turns the name of a row into a name for its block.
func label(row string) string { return strings.ReplaceAll(row, " ", "_") }

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

// wantTextsOf compares what is said about each row with a file: see wantTexts.
func wantTextsOf[Row any](t *testing.T, r report, file string, rows map[string]Row) {
	t.Helper()
	texts := map[string]string{}
	for name := range rows {
		texts[name] = r.said[label(name)]
	}
	wantTexts(t, file, texts)
}
