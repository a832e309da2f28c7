package export

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
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

// stored is a state in comparable form, without the IDs of its jobs.
type stored struct {
	current, next storedJob
	expires       time.Duration // of the link, after the present; unknown if negative
	kept          bool
	tainted       bool // Terraform replaces it
}

type storedJob struct {
	content, status string // no content: no job
	Marks
}

const unknownExpiry = -time.Hour

// contents are the inputs of each content, and domainOnly what is known of an imported job.
var (
	contents   = map[string]Inputs{"a": inputs("a"), "b": inputs("b")}
	domainOnly = NewInputs("docs.example.com", nil, "")
)

// state returns the state. The IDs of its jobs are "current" and "next".
func (s stored) state() *State {
	restore := func(id string, j storedJob) *Job {
		if j.content == "" {
			return nil
		}
		in := contents[j.content]
		if j.Imported {
			in = domainOnly
		}
		return &Job{ID: id, Inputs: in, Status: j.status, Marks: j.Marks}
	}
	restored := &State{Current: restore("current", s.current), Next: restore("next", s.next)}
	if restored.Current != nil {
		restored.Link = Link{URL: "old", Kept: s.kept}
		if s.expires != unknownExpiry {
			restored.Link.ExpiresAt = start.Add(s.expires)
		}
	}
	return restored
}

// store is the opposite of state.
func store(s *State, tainted bool) (to stored) {
	keep := func(j *Job) storedJob {
		if j == nil {
			return storedJob{}
		}
		for content, in := range contents {
			if j.Inputs == in || j.Imported && content == "a" {
				return storedJob{content, j.Status, j.Marks}
			}
		}
		panic("a job has inputs that nobody wanted")
	}
	to = stored{current: keep(s.Current), next: keep(s.Next), tainted: tainted}
	if s.Current != nil {
		to.expires, to.kept = unknownExpiry, s.Link.Kept
		if !s.Link.ExpiresAt.IsZero() {
			to.expires = s.Link.ExpiresAt.Sub(start)
		}
	}
	return to
}

// event changes a state, and returns what is wrong with it.
type event struct {
	name string
	run  func(stored, *scripted) (stored, []string)
}

// events returns all events that can follow a state.
func events(from stored) (all []event) {
	add := func(name string, run func(stored, *scripted) (stored, []string)) { all = append(all, event{name, run}) }
	wants := map[string]Wanted{
		"a": {Inputs: contents["a"], Known: true}, "b": {Inputs: contents["b"], Known: true},
		"a early": {Inputs: contents["a"], Known: true, RenewBefore: time.Hour},
		"a never": {Inputs: contents["a"], Known: true, NeverRenew: true},
	}
	if from == (stored{}) {
		for name, wanted := range wants {
			add("create "+name, func(_ stored, s *scripted) (stored, []string) { return create(s, wanted) })
		}
		add("import", func(stored, *scripted) (stored, []string) {
			return stored{next: storedJob{content: "a", Marks: Marks{Imported: true}}}, nil
		})
		return all
	}
	add("refresh", refresh)
	add("wait an hour", func(from stored, _ *scripted) (stored, []string) {
		if from.expires > 0 {
			from.expires -= time.Hour
		}
		return from, nil
	})
	for name, wanted := range wants {
		add("replace with "+name, func(from stored, s *scripted) (stored, []string) {
			deleted := from.state()
			if from.tainted { // Terraform withholds the private state
				deleted.Shown().Marks = Marks{}
			}
			return create(s, wanted, deleted.Unfinished())
		})
		if !from.tainted {
			for _, planned := range []time.Duration{0, -2 * time.Hour} {
				add(fmt.Sprintf("apply %s, planned at %s", name, planned), func(from stored, s *scripted) (stored, []string) {
					return apply(from, s, wanted, start.Add(planned))
				})
			}
			unknown := wanted
			unknown.Known = false
			add("plan "+name+" unknown", func(from stored, _ *scripted) (stored, []string) {
				if step := from.state().NextStep(unknown, start); step.JobStays && !from.next.Imported {
					return from, []string{"a plan without all inputs promises the job"}
				}
				return from, nil
			})
		}
	}
	return all
}

// recovers returns what is wrong if two applies do not suffice after the service has lost every job.
func recovers(from stored) string {
	for range 2 {
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
	if from.current.content == "a" && from.current.Marks == (Marks{}) && from.expires != 0 {
		return "" // nothing had to be asked for
	}
	return "two applies do not suffice"
}

func refresh(from stored, s *scripted) (stored, []string) {
	state := from.state()
	job, err := s.read(state.Shown().ID)
	state.Refresh(job, err)
	return store(state, from.tainted), nil
}

// create runs a create after some jobs were handed over.
func create(s *scripted, wanted Wanted, handed ...*Job) (stored, []string) {
	run := Run{State: &State{}, Wanted: wanted, Service: s, Clock: still{}}
	var first []*Job
	for _, job := range handed {
		if job != nil && !job.Imported && job.Inputs == wanted.Inputs {
			first = append(first, job)
		}
	}
	failure := run.Create(context.Background(), slices.Values(first))
	wrong := wrongWith(s, run, failure, first)
	if run.Shown() == nil {
		return stored{}, wrong
	}
	return store(run.State, failure != nil), wrong
}

// apply runs an update that was planned at another time.
func apply(from stored, s *scripted, wanted Wanted, planned time.Time) (stored, []string) {
	before, state := from.state(), from.state()
	plan, run := state.NextStep(wanted, planned), Run{State: state, Wanted: wanted, Service: s, Clock: still{}}
	step := state.NextStep(wanted, start)
	failure := run.Take(context.Background(), step)
	var known []*Job
	for _, job := range []*Job{before.Current, before.Unfinished()} {
		if job.has(wanted) {
			known = []*Job{job} // an unfinished job of the same content was started because Current was missing
		}
	}
	wrong := wrongWith(s, run, failure, known)
	say := func(is bool, what string) {
		if is {
			wrong = append(wrong, what)
		}
	}
	shown := run.Shown()
	say(plan.JobStays && shown.ID != before.Shown().ID, "the plan promised the job")
	say(plan.StatusStays && failure == nil && shown.Status != before.Shown().Status, "the plan promised the status")
	say(plan.LinkStays && run.Link != before.Link, "the plan promised the link")
	say(plan.Action == None && step.Action != None && step.Action != Renew, "the plan showed no step")
	say(before.Current != nil && run.Current == nil, "the link is lost")
	say(before.Current != nil && failure != nil && (run.Current.ID != before.Current.ID || run.Link != before.Link), "a failure replaced the link")
	if next := before.Unfinished(); next != nil && s.started == "" {
		say(run.Next == nil && run.Current.ID != next.ID, "the unfinished job is lost")
	}
	return store(state, false), wrong
}

// wrongWith returns what is wrong after a run that knew some jobs with the wanted inputs.
func wrongWith(s *scripted, run Run, failure *Failure, known []*Job) (wrong []string) {
	say := func(is bool, what string) {
		if is {
			wrong = append(wrong, what)
		}
	}
	say(s.starts > 1, "two starts")
	for _, job := range known {
		say(s.starts > 0 && !s.missing[job.ID], "a start, although job "+job.ID+" may be there")
	}
	isMissing := func(job *Job) bool { return s.starts > 0 && s.missing[job.ID] }
	say((run.Replaced != nil && s.starts > 0) != slices.ContainsFunc(known, isMissing), "the run does not say what it replaced")
	say(s.started != "" && run.Shown().ID != s.started && (run.Next == nil || run.Next.ID != s.started), "the started job is lost")
	if failure != nil {
		return wrong
	}
	current := run.Current
	say(run.Next != nil && run.Next.ID == current.ID, "a job with a link is unfinished")
	say(current == nil || current.Gone() && !run.Wanted.NeverRenew || current.Imported || current.Inputs != run.Wanted.Inputs, "a success without the wanted job")
	say(s.linked != "" && (run.Link.URL == "old" || current.ID != s.linked), "a success without the new link")
	if step := run.NextStep(run.Wanted, start); !run.Due(start, run.Wanted) {
		say(step.Action != None, "the next plan is not empty")
	}
	return wrong
}

// scripted is a service whose answers are chosen one after the other. It notes what it was asked for.
type scripted struct {
	lost    bool  // only new jobs are there, and all is well with them
	answers []int // the choices so far
	options []int // how many there were at each
	asked   []string

	starts          int
	started, linked string // the job
	missing         map[string]bool
}

// choose returns the next choice of some.
func (s *scripted) choose(request string, choices ...string) string {
	if s.lost && !strings.HasSuffix(request, "new") && request != "start" {
		return "404"
	} else if s.lost {
		return choices[0]
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

func (s *scripted) StartStaticExport(context.Context, []byte) (*client.StaticExportJob, error) {
	s.starts++
	switch s.choose("start", "running", "completed", "refused") {
	case "running":
		s.started = "new"
		return &client.StaticExportJob{ID: "new", Status: "running"}, nil
	case "completed":
		s.started = "new"
		return &client.StaticExportJob{ID: "new", Status: client.JobCompleted}, nil
	}
	return nil, answer("403")
}

func (s *scripted) WaitForStaticExport(_ context.Context, jobID string, _ time.Duration) (*client.StaticExportJob, error) {
	switch answered := s.choose("wait "+jobID, client.JobCompleted, client.JobFailed, "running", "404", "403"); answered {
	case client.JobCompleted, client.JobFailed, "running":
		return &client.StaticExportJob{ID: jobID, Status: answered}, answer(answered)
	default:
		s.miss(jobID, answered)
		return nil, answer(answered)
	}
}

func (s *scripted) GenerateBundle(_ context.Context, jobID string) (*client.Bundle, error) {
	answered := s.choose("link "+jobID, "for two hours", "for an hour", "expired", "without an expiry", "404", "403")
	expires := map[string]time.Time{"for two hours": start.Add(2 * time.Hour), "for an hour": start.Add(time.Hour), "expired": start, "without an expiry": {}}
	if at, ok := expires[answered]; ok {
		s.linked = jobID
		return &client.Bundle{URL: "new", ExpiresAt: at}, nil
	}
	s.miss(jobID, answered)
	return nil, answer(answered)
}

func (s *scripted) read(jobID string) (*client.StaticExportJob, error) {
	switch answered := s.choose("read "+jobID, client.JobCompleted, client.JobFailed, "running", "404", "403"); answered {
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

func (still) Now() time.Time { return start }

func (still) Sleep(context.Context, time.Duration) error { return nil }
