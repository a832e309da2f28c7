package export

import (
	"cmp"
	"context"
	"errors"
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

func inputs(content string) Inputs { return inputsOf("docs.example.com", content) }

func inputsOf(domain, content string) Inputs {
	return NewInputs(domain, map[string]*string{"revision": &content}, `{"version":7}`)
}

// want returns what a plan of a content wants. Of "?a", something is not known yet, and "a.b.example.com" is the
// content a of another domain.
func want(content string) Wanted {
	content, unknown := strings.CutPrefix(content, "?")
	content, domain, _ := strings.Cut(content, ".")
	return Wanted{Inputs: inputsOf(cmp.Or(domain, "docs.example.com"), content), Known: !unknown}
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
	answers string
	asked   []string
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
	s.asked = append(s.asked, "start "+string(body))
	return &client.StaticExportJob{ID: "new", Status: "queued"}, answer(s.find("start"))
}

func (s *service) WaitForStaticExport(_ context.Context, jobID string, _ time.Duration) (*client.StaticExportJob, error) {
	s.asked = append(s.asked, "wait "+jobID)
	switch text := s.find(jobID); text {
	case "running", client.JobFailed:
		return &client.StaticExportJob{ID: jobID, Status: text}, answer(text)
	case "404", "403", "stopped":
		return nil, answer(text)
	}
	return &client.StaticExportJob{ID: jobID, Status: client.JobCompleted}, nil
}

func (s *service) GenerateBundle(_ context.Context, jobID string) (*client.Bundle, error) {
	s.asked = append(s.asked, "link "+jobID)
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

// exports is what a service is asked for by an export of the content a.
const exports = `start {"domain":"docs.example.com","version":7}; wait new; link new`

type applyCase struct {
	state, wants string
	action       Action
	answers      string
	asks         string
	fails        string
	leaves       string
}

// Examples of what an apply does and leaves. TestEveryState goes through all.
func TestApplyOfAnExistingExport(t *testing.T) {
	t.Parallel()
	const starts = `start {"domain":"docs.example.com","version":7}`
	for name, test := range map[string]applyCase{
		"no change":                {state: "a1 completed |", wants: "a", action: None, leaves: "a1 completed |"},
		"back to the old content":  {state: "a1 | b1", wants: "a", action: None, leaves: "a1 | b1"},
		"due":                      {state: "a1 due |", wants: "a", action: Renew, asks: "link a1", leaves: "a1 |"},
		"due, another one waits":   {state: "a1 due | b1", wants: "a", action: Renew, asks: "link a1", leaves: "a1 | b1"},
		"due, its bundle is gone":  {state: "a1 due |", wants: "a", action: Renew, answers: "a1 link 404", asks: "link a1", fails: "renewal of a1: missing", leaves: "a1 bundle-missing due |"},
		"missing bundle, is back":  {state: "a1 bundle-missing |", wants: "a", action: Renew, asks: "link a1", leaves: "a1 |"},
		"missing bundle, replaced": {state: "a1 bundle-missing |", wants: "a", action: Renew, answers: "a1 link 404", asks: "link a1; " + exports, leaves: "new completed |"},
		"missing, is back":         {state: "a1 missing |", wants: "a", action: Renew, asks: "link a1", leaves: "a1 |"},
		"missing, replaced":        {state: "a1 missing | b1", wants: "a", action: Renew, answers: "a1 link 404", asks: "link a1; " + exports, leaves: "new completed |"},
		"missing, new content":     {state: "a1 missing |", wants: "b", action: Start, asks: exports, leaves: "new completed |"},

		"new content":            {state: "a1 due |", wants: "b", action: Start, asks: exports, leaves: "new completed |"},
		"new content, unknown":   {state: "a1 |", wants: "?a", action: Start, answers: "start 403", asks: starts, fails: "start", leaves: "a1 |"},
		"new content, times out": {state: "a1 |", wants: "b", action: Start, answers: "new running", asks: starts + "; wait new", fails: "wait of new", leaves: "a1 | new running"},

		"pending":                   {state: "a1 | b1", wants: "b", action: Resume, asks: "wait b1; link b1", leaves: "b1 completed |"},
		"pending, completed":        {state: "a1 | b1 completed", wants: "b", action: Resume, asks: "link b1", leaves: "b1 completed |"},
		"pending, has failed":       {state: "a1 | b1 failed", wants: "b", action: Start, asks: exports, leaves: "new completed |"},
		"pending, gone":             {state: "a1 | b1", wants: "b", action: Resume, answers: "b1 404", asks: "wait b1; " + exports, leaves: "new completed |"},
		"pending, unknown content":  {state: "a1 | b1", wants: "?b", action: Start, answers: "start 403", asks: starts, fails: "start", leaves: "a1 | b1"},
		"first":                     {state: "| a1 running", wants: "a", action: Resume, asks: "wait a1; link a1", leaves: "a1 completed |"},
		"first, gone":               {state: "| a1 running", wants: "a", action: Resume, answers: "a1 404", asks: "wait a1", fails: "wait of a1: missing", leaves: "| a1 running missing"},
		"first, was missing since":  {state: "| a1 completed missing", wants: "a", action: Resume, asks: "link a1", leaves: "a1 completed |"},
		"imported":                  {state: "| a1 completed imported", wants: "b", action: Resume, asks: "link a1", leaves: "a1 completed |"},
		"imported, another domain":  {state: "| a1 completed imported", wants: "a.b.example.com", action: Start, answers: "start 403", asks: `start {"domain":"b.example.com","version":7}`, fails: "start", leaves: "| a1 completed imported"},
		"imported, unknown content": {state: "| a1 completed imported", wants: "?a", action: Resume, asks: "link a1", leaves: "a1 completed |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, service := state(test.state), &service{answers: test.answers}
			a := Run{State: before, Wanted: want(test.wants), Service: service, Clock: clocktest.NewVirtual(start)}
			step := before.NextStep(a.Wanted, start)
			if step.Action != test.action {
				t.Errorf("action %d, want %d", step.Action, test.action)
			}
			check(t, test, service, a.Take(t.Context(), step), before)
		})
	}
}

func check(t *testing.T, test applyCase, service *service, failure *Failure, after *State) {
	t.Helper()
	if asked := strings.Join(service.asked, "; "); asked != test.asks {
		t.Errorf("asked %q, want %q", asked, test.asks)
	}
	if got := outcome(failure); got != test.fails {
		t.Errorf("failed with %q, want %q", got, test.fails)
	}
	if got := after.String(); got != test.leaves {
		t.Errorf("left %q, want %q", got, test.leaves)
	}
}

func TestCreateTriesJobsFirst(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first []string
		applyCase
	}{
		"none":                         {nil, applyCase{asks: exports, leaves: "new completed |"}},
		"one":                          {[]string{"a1 running"}, applyCase{asks: "wait a1; link a1", leaves: "a1 completed |"}},
		"one that fails":               {[]string{"a1", "a2"}, applyCase{answers: "a1 failed", asks: "wait a1", fails: "wait of a1", leaves: "| a1 failed"}},
		"three, two are gone":          {[]string{"a1", "a2 completed", "a3"}, applyCase{answers: "a1 404, a2 link 404", asks: "wait a1; link a2; wait a3; link a3", leaves: "a3 completed |"}},
		"one that is gone, no start":   {[]string{"a1"}, applyCase{answers: "a1 404, start 403", asks: `wait a1; start {"domain":"docs.example.com","version":7}`, fails: "start", leaves: "| a1 missing"}},
		"none, and it is refused":      {nil, applyCase{answers: "start 403", asks: `start {"domain":"docs.example.com","version":7}`, fails: "start", leaves: "|"}},
		"none, and there is no bundle": {nil, applyCase{answers: "new link 404", asks: exports, fails: "link of new: missing", leaves: "| new completed bundle-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := func(yield func(*Job) bool) {
				for _, text := range test.first {
					if !yield(job(strings.Fields(text))) {
						return
					}
				}
			}
			service, clock := &service{answers: test.answers}, clocktest.NewVirtual(start)
			a := Run{State: &State{}, Wanted: want("a"), Service: service, Clock: clock}
			check(t, test.applyCase, service, a.Create(t.Context(), first), a.State)
			if started := strings.Contains(test.asks, "wait new"); started != (clock.Now().Sub(start) == firstPause) {
				t.Errorf("the first poll of a new job comes after %s", clock.Now().Sub(start))
			}
		})
	}
}

// A plan shows what stays as known.
func TestStepSaysWhatStays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state, wants      string
		never             bool
		link, job, status bool
	}{
		"works":                      {"a1 |", "a", false, false, true, true},
		"never renewed":              {"a1 due |", "a", true, true, true, true},
		"due":                        {"a1 due |", "a", false, false, true, true},
		"new content":                {"a1 |", "b", false, false, false, false},
		"pending":                    {"a1 | b1", "b", false, false, false, false},
		"missing":                    {"a1 missing |", "a", false, false, false, false},
		"missing, never renewed":     {"a1 missing |", "a", true, true, true, true},
		"missing bundle":             {"a1 bundle-missing |", "a", false, false, false, false},
		"first":                      {"| a1", "a", false, false, true, false},
		"first, completed":           {"| a1 completed", "a", false, false, true, true},
		"first, was missing":         {"| a1 completed missing", "a", true, false, false, false},
		"another domain, not known?": {"| a1 imported", "?a.b.example.com", false, false, false, false},
	} {
		s, w := state(test.state), want(test.wants)
		w.NeverRenew = test.never
		if step := s.NextStep(w, start); step.LinkStays != test.link || step.JobStays != test.job || step.StatusStays != test.status {
			t.Errorf("%s: %+v", name, step)
		}
	}
}

func TestRefreshRecordsWhatTheServiceReturned(t *testing.T) {
	t.Parallel()
	read := func(status string) *client.StaticExportJob { return &client.StaticExportJob{Status: status} }
	for name, test := range map[string]struct {
		state  string
		job    *client.StaticExportJob
		err    error
		leaves string
	}{
		"another status":   {"| a1 running", read("completed"), nil, "| a1 completed"},
		"without a status": {"| a1 running", read(""), nil, "| a1 running"},
		"found again":      {"a1 bundle-missing missing | b1 missing", read("completed"), nil, "a1 completed bundle-missing | b1 missing"},
		"not found":        {"a1 completed | b1", nil, answer("404"), "a1 completed missing | b1"},
		"refused":          {"a1 completed | b1 missing", nil, answer("403"), "a1 completed | b1 missing"},
	} {
		s := state(test.state)
		if s.Refresh(test.job, test.err); s.String() != test.leaves {
			t.Errorf("%s: left %q, want %q", name, s, test.leaves)
		}
	}
	s := state("| a1")
	s.Refresh(&client.StaticExportJob{PageCount: new(int64(3))}, nil)
	if s.Refresh(read("running"), nil); *s.Next.PageCount != 3 {
		t.Errorf("the page count is %d", *s.Next.PageCount)
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
	if s.Link.ExpiresAt = (time.Time{}); s.Due(start.AddDate(9, 0, 0), Wanted{}) {
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
		s := state("a1 |")
		a := Run{State: s, Wanted: want("a"), Service: &expiring{expires: start.Add(test.expires)}, Clock: clocktest.NewVirtual(start.Add(test.at))}
		if failure := a.Take(t.Context(), Step{Action: Renew}); failure != nil || a.Link.Kept != test.want {
			t.Errorf("%s: kept %t, %v", name, a.Link.Kept, failure)
		}
	}
}

// expiring is a service whose links expire at a time.
type expiring struct {
	service
	expires time.Time
}

func (e *expiring) GenerateBundle(context.Context, string) (*client.Bundle, error) {
	return &client.Bundle{URL: "https://storage.example/a1/2", ExpiresAt: e.expires}, nil
}

func TestEqualInputs(t *testing.T) {
	t.Parallel()
	one, none := "1", map[string]*string{}
	const parameters = `{"a":1,"b":[12345678901234567890]}`
	base := NewInputs("docs.example.com", map[string]*string{"revision": &one}, parameters)
	for name, test := range map[string]struct {
		other Inputs
		equal bool
	}{
		"the same":           {NewInputs("docs.example.com", map[string]*string{"revision": &one}, `{ "b": [12345678901234567890], "a":1 }`), true},
		"no triggers":        {NewInputs("docs.example.com", none, parameters), false},
		"a null trigger":     {NewInputs("docs.example.com", map[string]*string{"revision": nil}, parameters), false},
		"another domain":     {NewInputs("b.example.com", map[string]*string{"revision": &one}, parameters), false},
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
