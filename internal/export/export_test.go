package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
)

var start = time.Date(2130, time.January, 31, 12, 0, 0, 0, time.UTC)

// In the tables, a job has its content as the first letter of its ID, and a state is "Current | Next", such as
// "a1 due | b1 missing": the job a1 of the content a, whose link is due, and the job b1, which was missing. A link
// that is not due works for an hour.

func inputs(content string) Inputs {
	return NewInputs("docs.example.com", map[string]*string{"revision": &content}, `{"version":7}`)
}

// want returns what a plan of a content wants. Of "?a", something is not known yet, and "a.b.example.com" is the
// content a of another domain.
func want(content string) Wanted {
	content, unknown := strings.CutPrefix(content, "?")
	content, domain, _ := strings.Cut(content, ".")
	w := Wanted{Inputs: inputs(content), Known: !unknown}
	w.Inputs.Domain = cmp.Or(domain, w.Inputs.Domain)
	return w
}

func state(text string) *State {
	current, next, _ := strings.Cut(text, "|")
	s := &State{Current: job(strings.Fields(current)), Next: job(strings.Fields(next))}
	if s.Current != nil {
		s.Link = Link{URL: "https://storage.example/" + s.Current.ID, ExpiresAt: start.Add(time.Hour)}
		if slices.Contains(strings.Fields(current), "due") {
			s.Link.ExpiresAt = start
		}
	}
	return s
}

func job(words []string) *Job {
	if len(words) == 0 {
		return nil
	}
	j := &Job{ID: words[0], Inputs: inputs(words[0][:1])}
	for _, word := range words[1:] {
		switch word {
		case "missing":
			j.Missing = true
		case "bundle-missing":
			j.BundleMissing = true
		case "imported":
			j.Imported, j.Inputs = true, NewInputs(j.Inputs.Domain, nil, "")
		case "due": // of the link
		default:
			j.Status = word
		}
	}
	return j
}

// String is the opposite of state.
func (s *State) String() string {
	text := func(j *Job, due bool) string {
		words := []string{j.ID, j.Status}
		for word, is := range map[string]bool{"missing": j.Missing, "bundle-missing": j.BundleMissing, "imported": j.Imported, "due": due} {
			if is {
				words = append(words, word)
			}
		}
		slices.Sort(words[2:])
		return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	}
	current, next := "", ""
	if s.Current != nil {
		current = text(s.Current, s.Due(start, Wanted{}))
	}
	if s.Next != nil {
		next = text(s.Next, false)
	}
	return strings.TrimSpace(current + " | " + next)
}

// service answers by the ID of a job, or by "start", such as "a1 404, start 403". An answer is "404", "403",
// "running" until a timeout, "stopped" by an interrupt, "failed", or "link 404" and "link 403" for its link.
// Otherwise, all is well.
type service struct {
	answers    string
	asked      []string
	parameters map[string]any
	last       context.Context
}

var errTimeout = errors.New("timed out")

func answer(text string) error {
	switch text {
	case "404":
		return &client.Error{Reason: client.ReasonNotFound}
	case "403":
		return &client.Error{Reason: client.ReasonForbidden}
	case "running":
		return errTimeout
	case "stopped":
		return context.Canceled
	}
	return nil
}

func (s *service) find(of string) string {
	for one := range strings.SplitSeq(s.answers, ", ") {
		if text, found := strings.CutPrefix(one, of+" "); found {
			return text
		}
	}
	return ""
}

func (s *service) StartStaticExport(_ context.Context, body []byte) (*client.StaticExportJob, error) {
	value, _ := DecodeJSON(body)
	s.parameters = value.(map[string]any)
	s.asked = append(s.asked, fmt.Sprint("start of ", s.parameters["domain"]))
	return &client.StaticExportJob{ID: "new", Status: "queued"}, answer(s.find("start"))
}

func (s *service) WaitForStaticExport(_ context.Context, jobID string, _ time.Duration) (*client.StaticExportJob, error) {
	s.asked = append(s.asked, "wait for "+jobID)
	switch text := s.find(jobID); text {
	case "running", client.JobFailed:
		return &client.StaticExportJob{ID: jobID, Status: text}, answer(text)
	case "404", "403", "stopped":
		return nil, answer(text)
	}
	return &client.StaticExportJob{ID: jobID, Status: client.JobCompleted}, nil
}

func (s *service) GenerateBundle(ctx context.Context, jobID string) (*client.Bundle, error) {
	s.last = ctx
	s.asked = append(s.asked, "link to "+jobID)
	problem, _ := strings.CutPrefix(s.find(jobID), "link ")
	return &client.Bundle{URL: "https://storage.example/" + jobID + "/2", ExpiresAt: start.Add(time.Hour + time.Second)}, answer(problem)
}

// outcome says how an apply ended.
func outcome(f *Failure) string {
	if f == nil {
		return ""
	}
	text := [...]string{"start", "wait", "link", "renewal"}[f.Stage]
	if f.Job != nil {
		text += " of " + f.Job.ID
	}
	if f.Missing() {
		return text + ": missing"
	}
	return text
}

type applyCase struct {
	state, wants string
	step         Step
	answers      string
	asks         string
	fails        string
	leaves       string
}

func TestApplyOfAnExistingExport(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]applyCase{
		"no change":                {state: "a1 completed |", wants: "a", step: None, leaves: "a1 completed |"},
		"failed since, not due":    {state: "a1 failed |", wants: "a", step: None, leaves: "a1 failed |"},
		"back to the old content":  {state: "a1 | b1", wants: "a", step: None, leaves: "a1 | b1"},
		"due":                      {state: "a1 due |", wants: "a", step: Renew, asks: "link to a1", leaves: "a1 |"},
		"due, another one waits":   {state: "a1 due | b1", wants: "a", step: Renew, asks: "link to a1", leaves: "a1 | b1"},
		"due, refused":             {state: "a1 due |", wants: "a", step: Renew, answers: "a1 link 403", asks: "link to a1", fails: "renewal of a1", leaves: "a1 due |"},
		"due, its bundle is gone":  {state: "a1 due |", wants: "a", step: Renew, answers: "a1 link 404", asks: "link to a1", fails: "renewal of a1: missing", leaves: "a1 bundle-missing due |"},
		"missing bundle, is back":  {state: "a1 bundle-missing due |", wants: "a", step: Renew, asks: "link to a1", leaves: "a1 |"},
		"missing bundle, refused":  {state: "a1 bundle-missing |", wants: "a", step: Renew, answers: "a1 link 403", asks: "link to a1", fails: "renewal of a1", leaves: "a1 bundle-missing |"},
		"missing bundle, replaced": {state: "a1 bundle-missing |", wants: "a", step: Renew, answers: "a1 link 404", asks: "link to a1; start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"missing bundle, no start": {state: "a1 bundle-missing |", wants: "a", step: Renew, answers: "a1 link 404, start 403", asks: "link to a1; start of docs.example.com", fails: "start", leaves: "a1 bundle-missing |"},
		"missing bundle, failed":   {state: "a1 failed bundle-missing |", wants: "a", step: Start, asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"missing bundle, pending":  {state: "a1 bundle-missing | a2", wants: "a", step: Resume, asks: "wait for a2; link to a2", leaves: "a2 completed |"},
		"missing":                  {state: "a1 missing |", wants: "a", step: Start, asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"missing, pending":         {state: "a1 missing | a2", wants: "a", step: Resume, asks: "wait for a2; link to a2", leaves: "a2 completed |"},
		"missing, other pending":   {state: "a1 missing | b1", wants: "a", step: Start, asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"failed, due":              {state: "a1 failed due |", wants: "a", step: Start, asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"},

		"new content":               {state: "a1 due |", wants: "b", step: Start, asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"new content, unknown":      {state: "a1 |", wants: "?a", step: Start, answers: "start 403", asks: "start of docs.example.com", fails: "start", leaves: "a1 |"},
		"new content, fails":        {state: "a1 |", wants: "b", step: Start, answers: "new failed", asks: "start of docs.example.com; wait for new", fails: "wait of new", leaves: "a1 | new failed"},
		"new content, times out":    {state: "a1 |", wants: "b", step: Start, answers: "new running", asks: "start of docs.example.com; wait for new", fails: "wait of new", leaves: "a1 | new running"},
		"new content, not found":    {state: "a1 |", wants: "b", step: Start, answers: "new 404", asks: "start of docs.example.com; wait for new", fails: "wait of new: missing", leaves: "a1 | new queued missing"},
		"new content, no link":      {state: "a1 |", wants: "b", step: Start, answers: "new link 403", asks: "start of docs.example.com; wait for new; link to new", fails: "link of new", leaves: "a1 | new completed"},
		"new content, other waits":  {state: "a1 | b1", wants: "c", step: Start, asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"pending":                   {state: "a1 | b1", wants: "b", step: Resume, asks: "wait for b1; link to b1", leaves: "b1 completed |"},
		"pending, completed":        {state: "a1 | b1 completed", wants: "b", step: Resume, asks: "link to b1", leaves: "b1 completed |"},
		"pending, fails":            {state: "a1 | b1", wants: "b", step: Resume, answers: "b1 failed", asks: "wait for b1", fails: "wait of b1", leaves: "a1 | b1 failed"},
		"pending, has failed":       {state: "a1 | b1 failed", wants: "b", step: Start, asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"pending, gone":             {state: "a1 | b1", wants: "b", step: Resume, answers: "b1 404", asks: "wait for b1; start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"pending, bundle gone":      {state: "a1 | b1", wants: "b", step: Resume, answers: "b1 link 404", asks: "wait for b1; link to b1; start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"pending, gone, no start":   {state: "a1 | b1", wants: "b", step: Resume, answers: "b1 404, start 403", asks: "wait for b1; start of docs.example.com", fails: "start", leaves: "a1 | b1 missing"},
		"pending, was missing":      {state: "a1 | b1 missing", wants: "b", step: Resume, asks: "wait for b1; link to b1", leaves: "b1 completed |"},
		"pending, refused":          {state: "a1 | b1 missing", wants: "b", step: Resume, answers: "b1 403", asks: "wait for b1", fails: "wait of b1", leaves: "a1 | b1 missing"},
		"pending, its bundle was":   {state: "a1 | b1 completed bundle-missing", wants: "b", step: Resume, answers: "b1 link 403", asks: "link to b1", fails: "link of b1", leaves: "a1 | b1 completed bundle-missing"},
		"pending, unknown content":  {state: "a1 | b1", wants: "?b", step: Start, answers: "start 403", asks: "start of docs.example.com", fails: "start", leaves: "a1 | b1"},
		"first":                     {state: "| a1 running", wants: "a", step: Resume, asks: "wait for a1; link to a1", leaves: "a1 completed |"},
		"first, stopped":            {state: "| a1 running", wants: "a", step: Resume, answers: "a1 stopped", asks: "wait for a1", fails: "wait of a1", leaves: "| a1 running"},
		"first, gone":               {state: "| a1 running", wants: "a", step: Resume, answers: "a1 404", asks: "wait for a1", fails: "wait of a1: missing", leaves: "| a1 running missing"},
		"first, bundle gone":        {state: "| a1 completed", wants: "a", step: Resume, answers: "a1 link 404", asks: "link to a1", fails: "link of a1: missing", leaves: "| a1 completed bundle-missing"},
		"first, was missing":        {state: "| a1 running missing", wants: "a", step: Resume, asks: "wait for a1; link to a1", leaves: "a1 completed |"},
		"first, was missing since":  {state: "| a1 completed missing", wants: "a", step: Resume, asks: "wait for a1; link to a1", leaves: "a1 completed |"},
		"first, missing once more":  {state: "| a1 completed bundle-missing", wants: "a", step: Resume, answers: "a1 link 404", asks: "link to a1; start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"first, missing, no start":  {state: "| a1 missing", wants: "a", step: Resume, answers: "a1 404, start 403", asks: "wait for a1; start of docs.example.com", fails: "start", leaves: "| a1 missing"},
		"first, failed":             {state: "| a1 failed", wants: "a", step: Start, asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"},
		"first, new content":        {state: "| a1 running", wants: "b", step: Start, answers: "new running", asks: "start of docs.example.com; wait for new", fails: "wait of new", leaves: "| new running"},
		"imported":                  {state: "| a1 completed imported", wants: "b", step: Resume, asks: "link to a1", leaves: "a1 completed |"},
		"imported, refused":         {state: "| a1 completed imported", wants: "b", step: Resume, answers: "a1 link 403", asks: "link to a1", fails: "link of a1", leaves: "| a1 completed imported"},
		"imported, another domain":  {state: "| a1 completed imported", wants: "a.b.example.com", step: Start, asks: "start of b.example.com; wait for new; link to new", leaves: "new completed |"},
		"imported, unknown content": {state: "| a1 completed imported", wants: "?a", step: Resume, asks: "link to a1", leaves: "a1 completed |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, service := state(test.state), &service{answers: test.answers}
			a := Run{State: before, Wanted: want(test.wants), Service: service, Clock: clocktest.NewVirtual(start)}
			step := before.NextStep(a.Wanted, before.Due(start, a.Wanted))
			if step != test.step {
				t.Errorf("step %d, want %d", step, test.step)
			}
			failure := a.Take(t.Context(), step)
			check(t, test, service, failure, before)
			for _, job := range []*Job{a.Current, a.Next} {
				if job != nil && (failure == nil && job == a.Current || job.ID == "new") && job.Inputs != a.Wanted.Inputs {
					t.Errorf("the inputs of %s are %v", job.ID, job.Inputs)
				}
			}
		})
	}
}

func check(t *testing.T, test applyCase, service *service, failure *Failure, after *State) {
	t.Helper()
	if asked := strings.Join(service.asked, "; "); asked != test.asks {
		t.Errorf("asked %q, want %q", asked, test.asks)
	}
	if version := fmt.Sprint(service.parameters["version"]); service.parameters != nil && version != "7" {
		t.Errorf("started with version %s", version)
	}
	if got := outcome(failure); got != test.fails {
		t.Errorf("failed with %q, want %q", got, test.fails)
	}
	if got := after.String(); got != test.leaves {
		t.Errorf("left %q, want %q", got, test.leaves)
	}
}

func TestCreateResumesWhatWasHandedOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deleted []string // states
		applyCase
	}{
		"nothing":                     {nil, applyCase{asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"}},
		"other content":               {[]string{"| b1"}, applyCase{asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"}},
		"nothing without a link":      {[]string{"a1 |", "| a2 failed", "| a3 imported"}, applyCase{asks: "start of docs.example.com; wait for new; link to new", leaves: "new completed |"}},
		"one":                         {[]string{"| a1 running"}, applyCase{asks: "wait for a1; link to a1", leaves: "a1 completed |"}},
		"beside a link":               {[]string{"a1 missing | a2"}, applyCase{asks: "wait for a2; link to a2", leaves: "a2 completed |"}},
		"two, the first one is gone":  {[]string{"| a1 missing", "| a2"}, applyCase{answers: "a1 404", asks: "wait for a1; wait for a2; link to a2", leaves: "a2 completed |"}},
		"one that fails":              {[]string{"| a1", "| a2"}, applyCase{answers: "a1 failed", asks: "wait for a1", fails: "wait of a1", leaves: "| a1 failed"}},
		"one that is gone":            {[]string{"| a1"}, applyCase{answers: "a1 404", asks: "wait for a1; start of docs.example.com; wait for new; link to new", leaves: "new completed |"}},
		"one whose bundle is gone":    {[]string{"| a1 completed"}, applyCase{answers: "a1 link 404", asks: "link to a1; start of docs.example.com; wait for new; link to new", leaves: "new completed |"}},
		"three, two are gone":         {[]string{"| a1", "| a2 completed", "| a3"}, applyCase{answers: "a1 404, a2 link 404", asks: "wait for a1; link to a2; wait for a3; link to a3", leaves: "a3 completed |"}},
		"one that is gone, no start":  {[]string{"| a1"}, applyCase{answers: "a1 404, start 403", asks: "wait for a1; start of docs.example.com", fails: "start", leaves: "| a1 missing"}},
		"nothing, and it is refused":  {nil, applyCase{answers: "start 403", asks: "start of docs.example.com", fails: "start", leaves: "|"}},
		"nothing, and it is unlinked": {nil, applyCase{answers: "new link 404", asks: "start of docs.example.com; wait for new; link to new", fails: "link of new: missing", leaves: "| new completed bundle-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var handover Handover
			for _, text := range test.deleted {
				handover.Add(state(text))
			}
			service := &service{answers: test.answers}
			a := Run{State: &State{}, Wanted: want("a"), Service: service, Clock: clocktest.NewVirtual(start)}
			check(t, test.applyCase, service, a.Create(t.Context(), &handover), a.State)
		})
	}
}

func TestHandoverNamesWhatNobodyHasTaken(t *testing.T) {
	t.Parallel()
	var handover Handover
	for _, text := range []string{"| a1", "| b1", "| a2", "c1 |"} {
		handover.Add(state(text))
	}
	r := Run{State: &State{}, Wanted: want("a"), Service: &service{}, Clock: clocktest.NewVirtual(start)}
	if failure := r.Create(t.Context(), &handover); failure != nil {
		t.Fatal(outcome(failure))
	}
	left := handover.Left()
	if len(left) != 2 || left[0].ID != "b1" || left[1].ID != "a2" || left[0].Inputs != inputs("b") {
		t.Errorf("left %+v", left)
	}
}

func TestPlanShowsWhatMayHappenLater(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state, wants string
		never        bool
		later        Step
		keeps        bool
	}{
		"works":                      {"a1 |", "a", false, Renew, true},
		"never renewed":              {"a1 due |", "a", true, None, true},
		"failed":                     {"a1 failed |", "a", false, Start, false},
		"failed, never renewed":      {"a1 failed |", "a", true, None, true},
		"failed, its content waits":  {"a1 failed | a2", "a", false, Resume, false},
		"new content":                {"a1 |", "b", false, Start, false},
		"pending":                    {"a1 | b1", "b", false, Resume, false},
		"missing bundle":             {"a1 bundle-missing |", "a", false, Renew, false},
		"first":                      {"| a1", "a", false, Resume, true},
		"first, was missing":         {"| a1 missing", "a", true, Resume, false},
		"first, bundle was missing":  {"| a1 bundle-missing", "a", false, Resume, false},
		"another domain, not known?": {"| a1 imported", "?a.b.example.com", false, Start, false},
	} {
		s, w := state(test.state), want(test.wants)
		w.NeverRenew = test.never
		if later := s.NextStep(w, s.WillBeDue(w)); later != test.later || s.KeepsShown(later) != test.keeps {
			t.Errorf("%s: step %d, keeps the job: %t", name, later, s.KeepsShown(later))
		}
	}
}

func TestOldLinkIsRenewedAfterAFailureIfItIsDue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state   string
		failure Failure
		renews  bool
	}{
		"due":              {"a1 due | b1", Failure{Stage: Waiting}, true},
		"due, no start":    {"a1 due |", Failure{Stage: Starting, Cause: answer("403")}, true},
		"not due":          {"a1 | b1", Failure{Stage: Waiting}, false},
		"no link":          {"| b1", Failure{Stage: Waiting}, false},
		"tried already":    {"a1 due |", Failure{Stage: Renewing, Cause: answer("403")}, false},
		"interrupted":      {"a1 due | b1", Failure{Stage: Waiting, Cause: context.Canceled}, false},
		"missing":          {"a1 due missing | b1", Failure{Stage: Waiting}, false},
		"failed since":     {"a1 failed due | b1", Failure{Stage: Waiting}, false},
		"without a bundle": {"a1 due bundle-missing | b1", Failure{Stage: Waiting}, false},
	} {
		service, clock := &service{}, clocktest.NewVirtual(start)
		a := Run{State: state(test.state), Wanted: want("b"), Service: service, Clock: clock}
		a.RenewOld(t.Context(), &test.failure)
		if renewed := len(service.asked) == 1 && service.asked[0] == "link to a1"; renewed != test.renews {
			t.Errorf("%s: asked %q", name, service.asked)
		} else if renewed {
			if until, _ := service.last.Deadline(); until.Sub(start) != 30*time.Second {
				t.Errorf("%s: until %s", name, until)
			}
		}
	}
}

func TestLinkIsDueAtItsExpiryLessRenewBefore(t *testing.T) {
	t.Parallel()
	s := state("a1 |")
	for _, test := range []struct {
		renewBefore, at time.Duration
		kept, want      bool
	}{
		{0, time.Hour - time.Second, false, false},
		{0, time.Hour, false, true},
		{20 * time.Minute, 40*time.Minute - time.Second, false, false},
		{20 * time.Minute, 40 * time.Minute, false, true},
		{20 * time.Minute, 59 * time.Minute, true, false},
		{20 * time.Minute, time.Hour, true, true},
	} {
		s.Link.Kept = test.kept
		if got := s.Due(start.Add(test.at), Wanted{RenewBefore: test.renewBefore}); got != test.want {
			t.Errorf("%+v: due %t", test, got)
		}
	}
	if s.Link.ExpiresAt = (time.Time{}); s.WillBeDue(Wanted{}) {
		t.Error("a link without an expiry is due")
	}
}

// A service may return the earlier link until it has expired, or a cache once.
func TestLinkIsKeptIfARenewalBeforeItsExpiryDoesNotChangeThat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at, expires time.Duration
		want        bool
	}{
		"the same":                  {59 * time.Minute, time.Hour, true},
		"the same, with a fraction": {59 * time.Minute, time.Hour + time.Second/2, true}, // the state has whole seconds
		"a later one":               {59 * time.Minute, time.Hour + time.Second, false},
		"an earlier one":            {58 * time.Minute, time.Hour - time.Second, false}, // such as after the service's clock was set
		"the same, when it expires": {time.Hour, time.Hour, false},
	} {
		a := Run{State: state("a1 |"), Wanted: want("a"), Service: expiring(start.Add(test.expires)), Clock: clocktest.NewVirtual(start.Add(test.at))}
		if failure := a.Take(t.Context(), Renew); failure != nil || a.Link.Kept != test.want {
			t.Errorf("%s: kept %t, %v", name, a.Link.Kept, failure)
		}
	}
}

// expiring is a service whose links expire at a time.
type expiring time.Time

func (e expiring) StartStaticExport(context.Context, []byte) (*client.StaticExportJob, error) {
	return nil, errTimeout
}

func (e expiring) WaitForStaticExport(context.Context, string, time.Duration) (*client.StaticExportJob, error) {
	return nil, errTimeout
}

func (e expiring) GenerateBundle(context.Context, string) (*client.Bundle, error) {
	return &client.Bundle{URL: "https://storage.example/a1/2", ExpiresAt: time.Time(e)}, nil
}

func TestResponseThatOmitsAFieldChangesNothing(t *testing.T) {
	t.Parallel()
	j := Job{Marks: Marks{Missing: true, BundleMissing: true}}
	j.Record(&client.StaticExportJob{Status: "running", PageCount: new(int64(3))})
	j.Record(&client.StaticExportJob{})
	if j.Status != "running" || *j.PageCount != 3 || j.Missing || !j.BundleMissing {
		t.Errorf("the job is %+v", j)
	}
}

func TestEqualInputs(t *testing.T) {
	t.Parallel()
	one, none := "1", map[string]*string{}
	base := NewInputs("docs.example.com", map[string]*string{"revision": &one}, `{"a":1,"b":[12345678901234567890]}`)
	for name, test := range map[string]struct {
		other Inputs
		equal bool
	}{
		"the same":           {NewInputs("docs.example.com", map[string]*string{"revision": &one}, `{ "b": [12345678901234567890], "a":1 }`), true},
		"no triggers":        {NewInputs("docs.example.com", none, base.Parameters), false},
		"a null trigger":     {NewInputs("docs.example.com", map[string]*string{"revision": nil}, base.Parameters), false},
		"another domain":     {NewInputs("b.example.com", map[string]*string{"revision": &one}, base.Parameters), false},
		"beyond a float":     {NewInputs("docs.example.com", map[string]*string{"revision": &one}, `{"a":1,"b":[12345678901234567891]}`), false},
		"without parameters": {NewInputs("docs.example.com", map[string]*string{"revision": &one}, ""), false},
	} {
		if (base == test.other) != test.equal {
			t.Errorf("%s: %v", name, test.other)
		}
	}
	if NewInputs("a", nil, "") != NewInputs("a", none, "{}") || !NewInputs("a", nil, "").OnlyDomain() || base.OnlyDomain() {
		t.Error("no inputs are not like empty ones")
	}
}
