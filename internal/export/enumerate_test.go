package export_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
	"github.com/docs-hosting/terraform-provider-docs/internal/exporttest"
)

// TestEveryState goes from each state that an export can reach through each event that can follow, with every answer
// that each request can get, and checks what holds for all of them.
func TestEveryState(t *testing.T) {
	t.Parallel()
	const least = 500 // states: a mistake here must not end the search early
	absent := stored{}
	reached, queue, runs := map[stored]bool{absent: true}, []stored{absent}, 0
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		if what := recovers(from); what != "" {
			t.Fatalf("%+v: %s", from, what)
		}
		for _, event := range events(from) {
			for answers := []int{}; answers != nil; runs++ {
				s := &scripted{answers: answers}
				to, wrong := event.run(from, s)
				for _, what := range wrong {
					t.Errorf("%s: from %+v to %+v, with %v: %s", event.name, from, to, s.asked, what)
				}
				if t.Failed() {
					return
				}
				if !reached[to] {
					reached[to] = true
					queue = append(queue, to)
				}
				answers = s.next()
			}
		}
	}
	t.Logf("%d states, %d runs", len(reached), runs)
	if len(reached) < least {
		t.Errorf("only %d states were reached", len(reached))
	}
}

// stored is a state. In its line, the ID of Current is its content and "1", and that of Next has a "2".
type stored struct {
	line    string
	tainted bool // so Terraform replaces it
}

func (s stored) state() *export.State { return exporttest.State(s.line) }

var inputsOfB = exporttest.Inputs("b") // which take a while

// store returns a state with the IDs of a line.
func store(s *export.State, tainted bool) stored {
	renamed := func(j *export.Job, number string) *export.Job {
		if j == nil {
			return nil
		}
		named := *j
		named.ID = "a" + number // an imported job has the content a
		if j.Inputs == inputsOfB {
			named.ID = "b" + number
		}
		return &named
	}
	return stored{exporttest.Line(&export.State{Current: renamed(s.Current, "1"), Link: s.Link, Next: renamed(s.Next, "2")}), tainted}
}

// event changes a state, and returns what is wrong with it.
type event struct {
	name string
	run  func(stored, *scripted) (stored, []string)
}

// plans are what a configuration can want.
func plans() map[string]export.Wanted {
	early, never := want("a"), want("a")
	early.RenewBefore, never.NeverRenew = time.Hour, true
	return map[string]export.Wanted{"a": want("a"), "b": want("b"), "a early": early, "a never": never}
}

// events returns all events that can follow a state.
func events(from stored) (all []event) {
	add := func(name string, run func(stored, *scripted) (stored, []string)) { all = append(all, event{name, run}) }
	if from == (stored{}) {
		for name, wanted := range plans() {
			add("create "+name, func(_ stored, s *scripted) (stored, []string) { return create(s, wanted, nil) })
		}
		add("import", func(stored, *scripted) (stored, []string) { return stored{line: "| a2 imported"}, nil })
		return all
	}
	add("refresh", refresh)
	add("wait an hour", func(from stored, _ *scripted) (stored, []string) {
		s := from.state()
		if s.Link.ExpiresAt.After(exporttest.Now) {
			s.Link.ExpiresAt = s.Link.ExpiresAt.Add(-time.Hour)
		}
		return store(s, from.tainted), nil
	})
	for name, wanted := range plans() {
		add("replace with "+name, func(from stored, s *scripted) (stored, []string) {
			if !from.tainted {
				return create(s, wanted, nil)
			}
			deleted := from.state()
			deleted.Shown().Marks = export.Marks{} // Terraform withholds the private state
			return create(s, wanted, deleted.Unfinished())
		})
		if !from.tainted {
			for _, planned := range []time.Duration{0, -2 * time.Hour} {
				add(fmt.Sprintf("apply %s, planned at %s", name, planned), func(from stored, s *scripted) (stored, []string) {
					return apply(from, s, wanted, exporttest.Now.Add(planned))
				})
			}
			unknown := wanted
			unknown.Known = false
			add("plan "+name+" unknown", func(from stored, _ *scripted) (stored, []string) {
				state := from.state()
				step := state.NextStep(unknown, exporttest.Now)
				if !step.MayStart() && !state.Latest().Imported {
					return from, []string{"a plan without all inputs promises that no job is started"}
				}
				return from, nil
			})
		}
	}
	return all
}

// recovers returns what is wrong if three applies do not suffice after the service has lost every job: two may find
// that Current and Next are missing.
func recovers(from stored) string {
	if state := from.state(); state.Current != nil && has(state.Current, want("a")) &&
		state.Current.Marks == (export.Marks{}) && !state.Due(exporttest.Now, want("a")) {
		return "" // nothing has to be asked for
	}
	for range 3 {
		for _, event := range events(from) {
			if event.name == "apply a, planned at 0s" || event.name == "replace with a" && from.tainted || event.name == "create a" {
				s := &scripted{lost: true}
				if from, _ = event.run(from, s); s.linked == "new" {
					return ""
				}
				break
			}
		}
	}
	return "three applies do not suffice"
}

func refresh(from stored, s *scripted) (stored, []string) {
	state := from.state()
	if refreshed := state.Refreshes(false); refreshed != nil {
		job, err := s.read(refreshed.ID)
		state.Refresh(job, err)
	}
	return store(state, from.tainted), nil
}

// create runs a create after a job was handed over, or nil.
func create(s *scripted, wanted export.Wanted, handed *export.Job) (stored, []string) {
	run := export.Run{State: &export.State{}, Wanted: wanted, Service: s, Clock: still{}}
	if handed != nil && (handed.Imported || handed.Inputs != wanted.Inputs) {
		handed = nil
	}
	failure := run.Create(context.Background(), handed)
	wrong := wrongWith(s, run, failure, handed)
	if run.Shown() == nil {
		return stored{}, wrong
	}
	return store(run.State, failure != nil), wrong
}

// apply runs an update that was planned at another time.
func apply(from stored, s *scripted, wanted export.Wanted, planned time.Time) (stored, []string) {
	before, state := from.state(), from.state()
	plan, run := state.NextStep(wanted, planned), export.Run{State: state, Wanted: wanted, Service: s, Clock: still{}}
	step := state.NextStep(wanted, exporttest.Now)
	failure := run.Take(context.Background(), step)
	var known *export.Job // an unfinished job of the same content was started because Current was missing
	for _, job := range []*export.Job{before.Current, before.Unfinished()} {
		if has(job, wanted) {
			known = job
		}
	}
	wrong := wrongWith(s, run, failure, known)
	say := func(is bool, what string) {
		if is {
			wrong = append(wrong, what)
		}
	}
	keeps := plan.KeepsCurrent()
	say(keeps && (run.Current == nil || run.Current.ID != before.Current.ID), "the plan promised the job of the link")
	say(keeps && failure == nil && run.Current.Status != before.Current.Status, "the plan promised the status")
	say(!plan.MayStart() && s.starts > 0, "the plan promised that no job is started")
	say(!plan.MayStart() && run.Latest().ID != before.Latest().ID, "the plan promised the latest job")
	say(plan.LinkStays && run.Link != before.Link, "the plan promised the link")
	say(plan.Action == export.None && !step.KeepsCurrent(), "the plan showed no step")
	same := step.Action == export.Renew && s.starts == 0 && run.Link.ExpiresAt.Equal(before.Link.ExpiresAt) && run.Link.ExpiresAt.After(exporttest.Now)
	say(same && failure == nil && run.Due(exporttest.Now, wanted), "a link that a renewal has not changed stays due")
	say(before.Current != nil && run.Current == nil, "the link is lost")
	say(before.Current != nil && failure != nil && (run.Current.ID != before.Current.ID || run.Link != before.Link), "a failure replaced the link")
	if next := before.Unfinished(); next != nil && s.started == "" {
		say(run.Next == nil && run.Current.ID != next.ID, "the unfinished job is lost")
	}
	return store(state, false), wrong
}

// has reports whether a job, which may be nil, has the wanted inputs.
func has(j *export.Job, wanted export.Wanted) bool {
	return j != nil && (j.Inputs == wanted.Inputs || j.Imported)
}

// wrongWith returns what is wrong after a run that knew a job with the wanted inputs, or nil.
func wrongWith(s *scripted, run export.Run, failure *export.Failure, known *export.Job) (wrong []string) {
	say := func(is bool, what string) {
		if is {
			wrong = append(wrong, what)
		}
	}
	isMissing := known != nil && s.missing[known.ID]
	say(s.starts > 1, "two starts")
	say(s.starts > 0 && known != nil && !isMissing, "a start, although the job may be there")
	say((run.Replaced != nil) != (s.starts > 0 && isMissing), "the run does not say what it replaced")
	say(s.started != "" && run.Latest().ID != s.started, "the started job is not the latest")
	if failure != nil {
		return wrong
	}
	current := run.Current
	say(run.Next != nil && run.Next.ID == current.ID, "a job with a link is unfinished")
	isWanted := current != nil && !current.Imported && current.Inputs == run.Wanted.Inputs
	say(!isWanted || (current.Missing || current.BundleMissing) && !run.Wanted.NeverRenew, "a success without the wanted job")
	say(s.linked != "" && (run.Link.URL != newLink || current.ID != s.linked), "a success without the new link")
	if step := run.NextStep(run.Wanted, exporttest.Now); !run.Due(exporttest.Now, run.Wanted) {
		say(step.Action != export.None, "the next plan is not empty")
	}
	return wrong
}

// scripted is a service whose answers are chosen one after the other, or fixed. It notes what it was asked for.
type scripted struct {
	lost     bool  // only new jobs are there, and all is well with them
	answers  []int // the choices so far
	options  []int // how many there were at each
	fixed    bool  // all is well but for what is answered
	answered map[string]string
	expires  time.Time // of a link, if it is fixed
	asked    []string

	starts          int
	request         client.StartRequest
	started, linked string // the job
	missing         map[string]bool
}

const newLink = "https://storage.example/new"

// choose returns the next choice of some.
func (s *scripted) choose(request string, choices ...string) string {
	if s.lost && !strings.HasSuffix(request, "new") && request != "start" {
		return "404"
	} else if s.lost {
		return choices[0]
	}
	if s.fixed {
		s.asked = append(s.asked, request)
		return cmp.Or(s.answered[request], choices[0])
	}
	at := len(s.options)
	s.options = append(s.options, len(choices))
	if at == len(s.answers) {
		s.answers = append(s.answers, 0)
	}
	choice := choices[s.answers[at]]
	s.asked = append(s.asked, request+": "+choice)
	return choice
}

// next returns the choices after these, in order, or nil.
func (s *scripted) next() []int {
	for i := len(s.answers) - 1; i >= 0; i-- {
		if s.answers[i]+1 < s.options[i] {
			return append(slices.Clone(s.answers[:i]), s.answers[i]+1)
		}
	}
	return nil
}

func (s *scripted) StartStaticExport(_ context.Context, request client.StartRequest) (*client.StaticExportJob, error) {
	s.starts++
	s.request = request
	status := s.choose("start", "running", client.JobCompleted, "403")
	if status == "403" {
		return nil, answer(status)
	}
	s.started = "new"
	return &client.StaticExportJob{ID: "new", Status: status}, nil
}

func (s *scripted) WaitForStaticExport(_ context.Context, jobID string, _ time.Duration) (*client.StaticExportJob, error) {
	switch answered := s.choose("wait "+jobID, client.JobCompleted, "failed", "running", "404", "403"); answered {
	case client.JobCompleted, "failed", "canceled":
		return &client.StaticExportJob{ID: jobID, Status: answered}, nil
	case "running":
		return &client.StaticExportJob{ID: jobID, Status: answered}, errTimeout
	default:
		s.miss(jobID, answered)
		return nil, answer(answered)
	}
}

func (s *scripted) GenerateBundle(_ context.Context, jobID string) (*client.Bundle, error) {
	if !s.expires.IsZero() {
		return &client.Bundle{URL: newLink, ExpiresAt: s.expires}, nil
	}
	answered := s.choose("link "+jobID, "for an hour", "for two hours", "expired", "without an expiry", "404", "403")
	expires := map[string]time.Time{
		"for two hours": exporttest.Now.Add(2 * time.Hour), "for an hour": exporttest.Now.Add(time.Hour),
		"expired": exporttest.Now, "without an expiry": {},
	}
	if at, ok := expires[answered]; ok {
		s.linked = jobID
		return &client.Bundle{URL: newLink, ExpiresAt: at}, nil
	}
	s.miss(jobID, answered)
	return nil, answer(answered)
}

func (s *scripted) read(jobID string) (*client.StaticExportJob, error) {
	switch answered := s.choose("read "+jobID, client.JobCompleted, "failed", "running", "404", "403"); answered {
	case "404", "403":
		return nil, answer(answered)
	default:
		return &client.StaticExportJob{ID: jobID, Status: answered}, nil
	}
}

func (s *scripted) miss(jobID, answered string) {
	if s.missing == nil {
		s.missing = map[string]bool{}
	}
	s.missing[jobID] = s.missing[jobID] || answered == "404"
}

// still is a clock that stands still.
type still struct{ clock.System }

func (still) Now() time.Time { return exporttest.Now }

func (still) Sleep(context.Context, time.Duration) error { return nil }
