// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

var faultsTable = flag.String("faults-table", "", "file to write the outcomes of TestFaults to, as a Markdown table")

// outcomes collects what came of the faults, as it was observed.
type outcomes struct {
	mu    sync.Mutex
	order []string // names of the faults
	rows  map[string][]outcome
}

// outcome is one row: what came of a fault at some endpoints.
type outcome struct {
	where        []string
	once, lasts  string
	requestsOnce []string
	requests     []string
}

// newOutcomes writes the table, if one is asked for, when the test is over and
// has not failed.
func newOutcomes(t *testing.T) *outcomes {
	table := &outcomes{rows: map[string][]outcome{}}
	t.Cleanup(func() {
		if *faultsTable == "" || t.Failed() {
			return
		}
		if err := os.WriteFile(*faultsTable, []byte(table.markdown()), 0o644); err != nil {
			t.Error(err)
		}
	})
	return table
}

// announce gives a fault its place in the table, since outcomes come in as the
// tests end.
func (o *outcomes) announce(fault string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Contains(o.order, fault) {
		o.order = append(o.order, fault)
	}
}

// add notes what came of a fault at an endpoint, met once or as long as the
// operation took.
func (o *outcomes) add(fault, where string, lasts bool, result, requests string) {
	o.announce(fault)
	o.mu.Lock()
	defer o.mu.Unlock()
	at := slices.IndexFunc(o.rows[fault], func(row outcome) bool { return row.where[0] == where })
	if at < 0 {
		at = len(o.rows[fault])
		o.rows[fault] = append(o.rows[fault], outcome{where: []string{where}})
	}
	row := &o.rows[fault][at]
	if lasts {
		row.lasts, row.requests = result, []string{requests}
	} else {
		row.once, row.requestsOnce = result, []string{requests}
	}
}

func (o *outcomes) markdown() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var text strings.Builder
	text.WriteString("| Fault | Where | Met once | As long as it lasts | Requests |\n|---|---|---|---|---|\n")
	for _, fault := range o.order {
		for _, row := range merged(o.rows[fault]) {
			requests := counts(row.requestsOnce)
			if lasting := counts(row.requests); requests == "" || lasting == "" {
				requests += lasting
			} else {
				requests += "; lasting: " + lasting
			}
			fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", fault, strings.Join(row.where, ", "), row.once, row.lasts, requests)
		}
	}
	return text.String()
}

// merged puts endpoints with the same outcome into one row, in the order of
// places.
func merged(rows []outcome) []outcome {
	slices.SortFunc(rows, func(a, b outcome) int {
		return slices.Index(places, a.where[0]) - slices.Index(places, b.where[0])
	})
	var all []outcome
	for _, row := range rows {
		same := slices.IndexFunc(all, func(other outcome) bool { return other.once == row.once && other.lasts == row.lasts })
		if same < 0 {
			all = append(all, row)
			continue
		}
		into := &all[same]
		into.where = append(into.where, row.where...)
		into.requestsOnce = append(into.requestsOnce, row.requestsOnce...)
		into.requests = append(into.requests, row.requests...)
	}
	return all
}

func counts(requests []string) string {
	if len(slices.Compact(slices.Clone(requests))) == 1 {
		requests = requests[:1]
	}
	return strings.Join(requests, ", ")
}

// addRun notes what came of a run. How often a job is polled, or a service
// asked that wants its clients to wait, is left to chance in part.
func (o *outcomes) addRun(run *faultRun) {
	requests := fmt.Sprint(run.requests)
	switch {
	case run.place == simulator.EndpointJob:
		requests = "as polled"
	case run.kind == throttled && run.lasts:
		requests = "until the timeout"
	}
	o.add(run.name, run.place, run.lasts, run.result(), requests)
}

// result puts what came of a run into words.
func (run *faultRun) result() string {
	switch {
	case run.succeeded:
		return "succeeds"
	case strings.Contains(run.said, "No job was started."):
		return "error; no job was started"
	case strings.Contains(run.said, "may have started a job"):
		return "error; a job may have been started, and none is started again"
	}
	return "error; the next run goes on"
}
