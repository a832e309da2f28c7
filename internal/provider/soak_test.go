// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

var soakWalks = flag.Int("soak", 2, "number of random walks of TestSoak")

// TestSoak takes random walks through the life of an export. Each step disturbs the
// service or changes the configuration, runs the CLI, and compares what happened
// with a model of what may happen.
func TestSoak(t *testing.T) {
	t.Parallel()
	for seed := range *soakWalks {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
			w := &walk{cli: h.cli(t, ""), random: rand.New(rand.NewPCG(uint64(seed), 0)), content: "1", jobs: map[string]*soakJob{}}
			t.Cleanup(func() {
				if t.Failed() {
					t.Log("the walk:\n" + strings.Join(w.story, "\n"))
				}
			})
			for range 8 {
				w.disturb()
				w.write(t, revision(w.content, `timeouts = { create = "200ms", update = "200ms" }`))
				w.run(t)
			}
			w.settle(t)
		})
	}
}

// walk is a model of one export.
type walk struct {
	*cli
	random  *rand.Rand
	content string              // that the configuration asks for
	jobs    map[string]*soakJob // by ID, those that were ever started
	held    string              // job in the state, or empty
	pending string              // job that an apply started and did not finish
	next    *simulator.JobSpec  // describes the job that is started next
	heal    func()              // ends the current fault
	story   []string
}

type soakJob struct {
	content string
	dead    bool // fails, or is forgotten
}

func (w *walk) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

// alive reports whether the provider knows of a job that will have or has a bundle
// of the content that is asked for.
func (w *walk) alive(id string) bool {
	job := w.jobs[id]
	return job != nil && !job.dead && job.content == w.content
}

// disturb changes one or two things.
func (w *walk) disturb() {
	w.heal = func() {}
	for range 1 + w.random.IntN(2) {
		switch w.random.IntN(7) {
		case 0:
			w.content = fmt.Sprint(1 + w.random.IntN(3))
			w.tell("ask for content %s", w.content)
		case 1:
			after := time.Duration(w.random.IntN(150)) * time.Minute
			w.clock.Advance(after)
			w.tell("wait for %s", after)
		case 2, 3:
			if w.next == nil {
				w.next = &[]simulator.JobSpec{{Fail: "broken page"}, {Run: simulator.Forever}}[w.random.IntN(2)]
				w.NextJob(*w.next)
				w.tell("let the next job fail: %t, or never end", w.next.Fail != "")
			}
		case 4:
			for _, id := range w.JobIDs() {
				w.FinishJob(id, "")
			}
			w.tell("finish all jobs")
		case 5:
			if job := w.jobs[w.held]; job != nil && w.random.IntN(3) == 0 {
				job.dead = true
				w.ForgetJob(w.held)
				w.tell("forget %s", w.held)
			}
		case 6:
			fault := []simulator.Fault{
				{Status: 502},
				{Status: 502, Acts: true},
				{Status: 403},
				{Status: 429},
				{Cut: simulator.CutAfter},
				{Status: 503, Header: http.Header{"Retry-After": {"1"}}},
				{Status: 200, Body: loginPage},
			}[w.random.IntN(7)]
			fault.Endpoint = []string{simulator.EndpointStart, simulator.EndpointJob, simulator.EndpointBundle}[w.random.IntN(3)]
			fault.Skip, fault.Times = w.random.IntN(2), 1+w.random.IntN(6)
			heal, before := w.AddFault(fault), w.heal
			w.heal = func() { heal(); before() }
			w.tell("add the fault %+v", fault)
		}
	}
}

// run applies, in one of three ways, and checks what came of it.
func (w *walk) run(t *testing.T) {
	t.Helper()
	jobs, before := w.JobIDs(), w.state(t, site)
	args := [][]string{{"apply", "-auto-approve"}, {"apply", "-auto-approve", "-refresh=false"}, {"plan", "-out=saved"}}[w.random.IntN(3)]
	exit, output := w.try(args...)
	if saved := args[0] == "plan"; saved && exit == 0 {
		w.clock.Advance(time.Duration(w.random.IntN(90)) * time.Minute)
		exit, output = w.try("apply", "saved")
	}
	w.heal()
	started := slices.DeleteFunc(w.JobIDs(), func(id string) bool { return slices.Contains(jobs, id) })
	after := w.state(t, site)
	w.tell("%s: exit %d, started %v, the state holds %v", strings.Join(args, " "), exit, started, after["job_id"])
	for _, never := range []string{"Provider produced", "panic", "X-Amz-Signature", simulator.DefaultAPIKey} {
		if strings.Contains(output, never) {
			t.Fatalf("the output contains %q:\n%s", never, output)
		}
	}
	w.checkStart(t, started, output)
	w.checkState(t, before, after, exit, output)

	changed := strings.Contains(output, "1 changed") || strings.Contains(output, "1 added")
	w.held, _ = after["job_id"].(string)
	switch {
	case exit == 0 && changed:
		w.pending = ""
	case len(started) > 0 && !strings.Contains(output, "may have been started") && w.held != started[0]:
		w.pending = started[0]
	}
	if before == nil && after != nil && exit != 0 {
		w.try("untaint", site) // which an interrupted create is not
	}
	if exit == 0 && args[0] == "apply" {
		if left := w.linkLeft(t); left <= 0 {
			t.Errorf("the link expired %s ago", -left)
		}
		w.wantEmptyPlan(t, args[2:]...)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// checkStart checks that a job was started only if there was none to resume, and
// that the output says so.
func (w *walk) checkStart(t *testing.T, started []string, output string) {
	t.Helper()
	if len(started) > 1 {
		t.Errorf("%d jobs were started: %v", len(started), started)
	}
	for _, id := range started {
		for _, other := range []string{w.held, w.pending} {
			if w.alive(other) {
				t.Errorf("content %s was started again as %s, but %s was there", w.content, id, other)
			}
		}
		w.jobs[id] = &soakJob{content: w.content, dead: w.next != nil && w.next.Fail != ""}
		w.next = nil
		if strings.Contains(output, "No job was started") {
			t.Errorf("job %s was started, but the output is:\n%s", id, output)
		}
	}
}

// checkState checks that success means the content that was asked for, and that
// failure loses no job.
func (w *walk) checkState(t *testing.T, before, after map[string]any, exit int, output string) {
	t.Helper()
	id, _ := after["job_id"].(string)
	if exit == 0 {
		if job := w.jobs[id]; job == nil || job.content != w.content || after["bundle_url"] == nil {
			t.Errorf("content %s was asked for, but the state is %v", w.content, after)
		}
		return
	}
	if old := w.jobs[w.held]; old != nil && !old.dead && (id != w.held || before["bundle_url"] != nil && after["bundle_url"] == nil) {
		t.Errorf("the state was %v and is %v after:\n%s", before, after, output)
	}
}

// settle ends the disturbances. Then a few applies must do.
func (w *walk) settle(t *testing.T) {
	t.Helper()
	w.write(t, revision(w.content))
	for range 4 {
		for _, id := range w.JobIDs() {
			w.FinishJob(id, "")
		}
		if exit, _ := w.try("apply", "-auto-approve"); exit == 0 {
			w.wantEmptyPlan(t)
			return
		}
	}
	t.Error("the export does not settle")
}

// try runs a command and returns its exit code and unwrapped output.
func (w *walk) try(args ...string) (exit int, output string) {
	command, buffer := w.Command(append(args, "-no-color")...)
	_ = command.Run() // the exit code says it
	return command.ProcessState.ExitCode(), unwrapped(buffer.String())
}
