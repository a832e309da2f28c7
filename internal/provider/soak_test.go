// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"flag"
	"fmt"
	"math/rand/v2"
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
			w := &walk{cli: h.cli(t, ""), random: rand.New(rand.NewPCG(uint64(seed), 0)), content: "1", jobs: map[string]soakJob{}}
			defer func() {
				if t.Failed() {
					t.Log("the walk:\n" + strings.Join(w.story, "\n"))
				}
			}()
			for range 8 {
				heal := w.disturb()
				w.cli.write(t, revision(w.content, `timeouts = { create = "5m", update = "5m" }`))
				w.step(t, heal)
			}
			w.settle(t)
		})
	}
}

// walk is a model of one export.
type walk struct {
	cli     *cli
	random  *rand.Rand
	content string             // that the configuration asks for
	jobs    map[string]soakJob // by ID, those that were ever started
	held    string             // the job in the state, or empty
	pending string             // the job that an apply started and did not finish, or empty
	next    *simulator.JobSpec // describes the job that is started next
	story   []string
}

type soakJob struct {
	content string
	dead    bool // it fails, or the service forgot it
}

func (w *walk) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

// disturb changes one or two things. It returns how to end the faults among them.
func (w *walk) disturb() (heal func()) {
	heal = func() {}
	for range 1 + w.random.IntN(2) {
		switch w.random.IntN(7) {
		case 0:
			w.content = fmt.Sprint(1 + w.random.IntN(3))
			w.tell("ask for content %s", w.content)
		case 1:
			after := time.Duration(w.random.IntN(150)) * time.Minute
			w.cli.clock.Advance(after)
			w.tell("wait for %s", after)
		case 2, 3:
			if w.next == nil {
				w.next = &[]simulator.JobSpec{{Fail: "broken page"}, {Run: simulator.Forever}}[w.random.IntN(2)]
				w.cli.service.NextJob(*w.next)
				w.tell("let the next job run for %s, error %q", w.next.Run, w.next.Fail)
			}
		case 4:
			w.finishJobs()
		case 5:
			if job := w.jobs[w.held]; w.held != "" && w.random.IntN(3) == 0 {
				w.jobs[w.held] = soakJob{job.content, true}
				w.cli.service.ForgetJob(w.held)
				w.tell("forget %s", w.held)
			}
		case 6:
			fault := []simulator.Fault{
				{Status: 502},
				{Status: 502, Acts: true},
				{Status: 403},
				{Cut: simulator.CutAfter},
				{Status: 200, Body: loginPage},
			}[w.random.IntN(5)]
			fault.Endpoint = []string{simulator.EndpointStart, simulator.EndpointJob, simulator.EndpointBundle}[w.random.IntN(3)]
			fault.Skip, fault.Times = w.random.IntN(2), 1+w.random.IntN(6)
			remove, before := w.cli.service.AddFault(fault), heal
			heal = func() { remove(); before() }
			w.tell("add the fault %+v", fault)
		}
	}
	return heal
}

func (w *walk) finishJobs() {
	for _, id := range w.cli.service.JobIDs() {
		w.cli.service.FinishJob(id, "")
	}
	w.tell("finish all jobs")
}

// step applies, in one of three ways, and checks what happened.
func (w *walk) step(t *testing.T, heal func()) {
	t.Helper()
	jobs, before := w.cli.service.JobIDs(), w.cli.values(t)[site]
	command := [][]string{{"apply", "-auto-approve"}, {"apply", "-auto-approve", "-refresh=false"}, {"plan", "-out=saved"}}[w.random.IntN(3)]
	exit, output := w.try(command...)
	saved := command[0] == "plan"
	if saved && exit == 0 {
		w.cli.clock.Advance(time.Duration(w.random.IntN(90)) * time.Minute)
		exit, output = w.try("apply", "saved")
	}
	heal()
	after := w.cli.values(t)[site]
	started := slices.DeleteFunc(w.cli.service.JobIDs(), func(id string) bool { return slices.Contains(jobs, id) })
	w.tell("%v ends with %d, starts %v, the state holds %v", command, exit, started, after["job_id"])
	w.check(t, before, after, started, exit, output)

	w.held, _ = after["job_id"].(string)
	if exit == 0 && !strings.Contains(output, "0 added, 0 changed") {
		w.pending = ""
	} else if len(started) > 0 && started[0] != w.held && !strings.Contains(output, "may have been started") {
		w.pending = started[0]
	}
	if exit != 0 && slices.Contains(started, w.held) { // a create failed
		_, _ = w.try("untaint", site)
	}
	if exit == 0 && !saved {
		w.cli.wantLink(t)
		w.cli.wantEmptyPlan(t, command[2:]...)
	}
	if t.Failed() {
		t.Fatalf("the output was:\n%s", output)
	}
}

// check checks that a job was started only if there was none to resume, that success
// means the content that is asked for, and that failure loses nothing.
func (w *walk) check(t *testing.T, before, after map[string]any, started []string, exit int, output string) {
	t.Helper()
	for _, never := range []string{"Provider produced", "panic", "X-Amz-Signature", simulator.DefaultAPIKey} {
		if strings.Contains(output, never) {
			t.Errorf("the output contains %q", never)
		}
	}
	for n, id := range started {
		for _, other := range append([]string{w.held, w.pending}, started[:n]...) {
			if job := w.jobs[other]; other != "" && !job.dead && job.content == w.content {
				t.Errorf("content %s was started again as %s, but %s was there to resume", w.content, id, other)
			}
		}
		w.jobs[id] = soakJob{w.content, w.next != nil && w.next.Fail != ""}
		w.next = nil
		if strings.Contains(output, "No job was started") {
			t.Errorf("job %s was started, but the output denies it", id)
		}
	}
	switch id, _ := after["job_id"].(string); {
	case exit == 0 && (w.jobs[id].content != w.content || after["bundle_url"] == nil):
		t.Errorf("content %s was asked for, but the state is %v", w.content, after)
	case exit != 0 && w.held != "" && !w.jobs[w.held].dead && (id != w.held || before["bundle_url"] != nil && after["bundle_url"] == nil):
		t.Errorf("the state was %v and is %v", before, after)
	}
}

// settle ends what disturbs. A few applies must do then.
func (w *walk) settle(t *testing.T) {
	t.Helper()
	w.cli.write(t, revision(w.content))
	for range 4 {
		w.finishJobs()
		if exit, _ := w.try("apply", "-auto-approve"); exit == 0 {
			w.cli.wantEmptyPlan(t)
			return
		}
	}
	t.Error("the export does not settle")
}

// try runs a command and returns its exit code and its output, unwrapped.
func (w *walk) try(args ...string) (exit int, output string) {
	command, buffer := w.cli.terraform.Command(append(args, "-no-color")...)
	_ = command.Run() // the exit code says the same
	return command.ProcessState.ExitCode(), unwrapped(buffer.String())
}
