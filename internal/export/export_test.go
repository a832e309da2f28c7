package export_test

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
	"github.com/docs-hosting/terraform-provider-docs/internal/exporttest"
)

// want returns what a plan of a content wants. Of "?a", something is not known yet, and "a.b.example.com" is the
// content a of another domain.
func want(content string) export.Wanted {
	content, unknown := strings.CutPrefix(content, "?")
	content, domain, _ := strings.Cut(content, ".")
	inputs := exporttest.Inputs(content)
	inputs.Domain = cmp.Or(domain, exporttest.Domain)
	return export.Wanted{Inputs: inputs, Known: !unknown}
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
	case "":
		return nil
	case "404":
		return &client.Error{Reason: client.ReasonNotFound}
	case "403":
		return &client.Error{Reason: client.ReasonForbidden}
	case "running":
		return errTimeout
	case "stopped":
		return context.Canceled
	}
	panic("nobody answers " + text)
}

func (s *service) find(of string) string {
	for one := range strings.SplitSeq(s.answers, ", ") {
		if text, found := strings.CutPrefix(one, of+" "); found {
			return text
		}
	}
	return ""
}

func (s *service) StartStaticExport(
	_ context.Context, req client.StartRequest,
) (*client.StaticExportJob, error) {
	s.asked = append(s.asked, "start "+req.Domain+" "+req.Parameters)
	return &client.StaticExportJob{ID: "new", Status: "queued"}, answer(s.find("start"))
}

func (s *service) WaitForStaticExport(
	_ context.Context, jobID string, _ time.Duration,
) (*client.StaticExportJob, error) {
	s.asked = append(s.asked, "wait "+jobID)
	switch text := s.find(jobID); text {
	case client.JobFailed:
		return &client.StaticExportJob{ID: jobID, Status: text}, nil
	case "running":
		return &client.StaticExportJob{ID: jobID, Status: text}, answer(text)
	case "", "link 404", "link 403":
		return &client.StaticExportJob{ID: jobID, Status: client.JobCompleted}, nil
	default:
		return nil, answer(text)
	}
}

func (s *service) GenerateBundle(_ context.Context, jobID string) (*client.Bundle, error) {
	s.asked = append(s.asked, "link "+jobID)
	bundle := &client.Bundle{URL: "https://storage.example/" + jobID + "/2", ExpiresAt: exporttest.Now.Add(time.Hour)}
	return bundle, answer(strings.TrimPrefix(s.find(jobID), "link "))
}

// outcome says how an apply ended.
func outcome(f *export.Failure) string {
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

// starts and exports are what a service is asked for by a start, and by an export.
const (
	starts  = `start docs.example.com {"version":7}`
	exports = starts + "; wait new; link new"
)

type applyCase struct {
	state, wants string
	action       export.Action
	answers      string
	asks         string
	fails        string
	leaves       string
}

// Examples of what an apply does and leaves. TestEveryState goes through all.
func TestApplyOfAnExistingExport(t *testing.T) {
	t.Parallel()
	const none, renew, resume, askAgain, start = export.None, export.Renew, export.Resume, export.AskAgain, export.Start
	for name, test := range map[string]applyCase{
		"no change":               {"a1 completed |", "a", none, "", "", "", "a1 completed |"},
		"back to the old content": {"a1 | b1", "a", none, "", "", "", "a1 | b1"},
		"due":                     {"a1 due |", "a", renew, "", "link a1", "", "a1 |"},
		"due, another one waits":  {"a1 due | b1", "a", renew, "", "link a1", "", "a1 | b1"},
		"due, its bundle is gone": {"a1 due |", "a", renew, "a1 link 404", "link a1", "renewal of a1: missing", "a1 bundle-missing due |"},

		"missing bundle, is back":  {"a1 bundle-missing |", "a", askAgain, "", "link a1", "", "a1 |"},
		"missing bundle, replaced": {"a1 bundle-missing |", "a", askAgain, "a1 link 404", "link a1; " + exports, "", "new as:a completed |"},
		"missing, is back":         {"a1 missing |", "a", askAgain, "", "link a1", "", "a1 |"},
		"missing, replaced":        {"a1 missing | b1", "a", askAgain, "a1 link 404", "link a1; " + exports, "", "new as:a completed |"},
		"missing, refused":         {"a1 missing |", "a", askAgain, "a1 link 403", "link a1", "renewal of a1", "a1 missing |"},
		"missing, new content":     {"a1 missing |", "b", start, "", exports, "", "new as:b completed |"},
		"missing, its replacement": {"a1 missing | a2", "a", resume, "", "wait a2; link a2", "", "a2 completed |"},

		"new content":            {"a1 due |", "b", start, "", exports, "", "new as:b completed |"},
		"new content, unknown":   {"a1 |", "?a", start, "start 403", starts, "start", "a1 |"},
		"new content, times out": {"a1 |", "b", start, "new running", starts + "; wait new", "wait of new", "a1 | new as:b running"},

		"pending":                  {"a1 | b1", "b", resume, "", "wait b1; link b1", "", "b1 completed |"},
		"pending, completed":       {"a1 | b1 completed", "b", resume, "", "link b1", "", "b1 completed |"},
		"pending, has failed":      {"a1 | b1 failed", "b", start, "", exports, "", "new as:b completed |"},
		"pending, gone":            {"a1 | b1", "b", resume, "b1 404", "wait b1", "wait of b1: missing", "a1 | b1 missing"},
		"pending, was missing":     {"a1 | b1 missing", "b", askAgain, "b1 404", "wait b1; " + exports, "", "new as:b completed |"},
		"pending, unknown content": {"a1 | b1", "?b", start, "start 403", starts, "start", "a1 | b1"},

		"first":                   {"| a1 running", "a", resume, "", "wait a1; link a1", "", "a1 completed |"},
		"first, gone":             {"| a1 running", "a", resume, "a1 404", "wait a1", "wait of a1: missing", "| a1 running missing"},
		"first, was missing":      {"| a1 completed missing", "a", askAgain, "", "link a1", "", "a1 completed |"},
		"imported":                {"| b1 completed imported", "b", resume, "", "link b1", "", "b1 completed |"},
		"imported, other domain":  {"| b1 imported", "b.b.example.com", start, "start 403", `start b.example.com {"version":7}`, "start", "| b1 imported"},
		"imported, unknown":       {"| b1 completed imported", "?b", resume, "", "link b1", "", "b1 completed |"},
		"imported, unknown other": {"| b1 imported", "?b.b.example.com", start, "start 403", `start b.example.com {"version":7}`, "start", "| b1 imported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, service := exporttest.State(test.state), &service{answers: test.answers}
			run := export.Run{State: before, Wanted: want(test.wants), Service: service, Clock: clocktest.NewVirtual(exporttest.Now)}
			step := before.NextStep(run.Wanted, exporttest.Now)
			if step.Action != test.action {
				t.Errorf("action %d, want %d", step.Action, test.action)
			}
			check(t, test, service, run.Take(t.Context(), step), before)
		})
	}
}

func check(t *testing.T, test applyCase, service *service, failure *export.Failure, after *export.State) {
	t.Helper()
	if asked := strings.Join(service.asked, "; "); asked != test.asks {
		t.Errorf("asked %q, want %q", asked, test.asks)
	}
	if got := outcome(failure); got != test.fails {
		t.Errorf("failed with %q, want %q", got, test.fails)
	}
	if got := exporttest.Line(after); got != test.leaves {
		t.Errorf("left %q, want %q", got, test.leaves)
	}
}

func TestCreateResumesTheJobThatWasHandedOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handed string
		applyCase
	}{
		"none":                       {"", applyCase{asks: exports, leaves: "new as:a completed |"}},
		"one":                        {"a1 running", applyCase{asks: "wait a1; link a1", leaves: "a1 completed |"}},
		"one that fails":             {"a1", applyCase{answers: "a1 failed", asks: "wait a1", fails: "wait of a1", leaves: "| a1 failed"}},
		"one that is gone":           {"a1", applyCase{answers: "a1 404", asks: "wait a1; " + exports, leaves: "new as:a completed |"}},
		"one whose bundle is gone":   {"a1 completed", applyCase{answers: "a1 link 404", asks: "link a1; " + exports, leaves: "new as:a completed |"}},
		"one that is gone, no start": {"a1", applyCase{answers: "a1 404, start 403", asks: "wait a1; " + starts, fails: "start", leaves: "| a1 missing"}},
		"none, and it is refused":    {"", applyCase{answers: "start 403", asks: starts, fails: "start", leaves: "|"}},
		"none, and there is no bundle": {"", applyCase{
			answers: "new link 404", asks: exports, fails: "link of new: missing", leaves: "| new as:a completed bundle-missing",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, clock := &service{answers: test.answers}, clocktest.NewVirtual(exporttest.Now)
			run := export.Run{State: &export.State{}, Wanted: want("a"), Service: service, Clock: clock}
			check(t, test.applyCase, service, run.Create(t.Context(), exporttest.Job(test.handed)), run.State)
			if started := strings.Contains(test.asks, "wait new"); started != (clock.Now().Sub(exporttest.Now) == time.Second) {
				t.Errorf("the first poll of a new job comes after %s", clock.Now().Sub(exporttest.Now))
			}
		})
	}
}

// Only triggers stay with the provider.
func TestStartRequestHasEachInput(t *testing.T) {
	t.Parallel()
	inputs, sent := export.Inputs{}, recorder{}
	for field, value := range reflect.ValueOf(&inputs).Elem().Fields() {
		value.SetString("the " + field.Name)
	}
	run := export.Run{State: &export.State{}, Wanted: export.Wanted{Inputs: inputs}, Service: &sent, Clock: clocktest.NewVirtual(exporttest.Now)}
	_ = run.Create(t.Context(), nil)
	for field, value := range reflect.ValueOf(inputs).Fields() {
		got := reflect.ValueOf(sent.request).FieldByName(field.Name)
		if field.Name != "Triggers" && (!got.IsValid() || got.String() != value.String()) {
			t.Errorf("Run.start does not send %s of Inputs: add it to client.StartRequest", field.Name)
		}
	}
}

// recorder is a service that starts no job.
type recorder struct {
	service
	request client.StartRequest
}

func (r *recorder) StartStaticExport(_ context.Context, request client.StartRequest) (*client.StaticExportJob, error) {
	r.request = request
	return nil, answer("403")
}

func TestLinkStaysOnlyIfItIsNeverRenewed(t *testing.T) {
	t.Parallel()
	for line, stays := range map[string]bool{"a1 |": false, "a1 unlimited |": true} {
		if step := exporttest.State(line).NextStep(want("a"), exporttest.Now); step.LinkStays != stays {
			t.Errorf("%s: the link stays: %t", line, step.LinkStays)
		}
	}
	never := want("a")
	never.NeverRenew = true
	for _, line := range []string{"a1 due |", "a1 missing |"} {
		if step := exporttest.State(line).NextStep(never, exporttest.Now); step.Action != export.None || !step.LinkStays {
			t.Errorf("%s, never renewed: %+v", line, step)
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
		"found again":      {"a1 missing bundle-missing | b1 missing", read("completed"), nil, "a1 completed bundle-missing | b1 missing"},
		"not found":        {"a1 completed | b1", nil, answer("404"), "a1 completed missing | b1"},
		"refused":          {"a1 completed | b1 missing", nil, answer("403"), "a1 completed | b1 missing"},
	} {
		s := exporttest.State(test.state)
		if s.Refresh(test.job, test.err); exporttest.Line(s) != test.leaves {
			t.Errorf("%s: left %q, want %q", name, exporttest.Line(s), test.leaves)
		}
	}
	s := exporttest.State("| a1")
	s.Refresh(&client.StaticExportJob{PageCount: new(int64(3))}, nil)
	if s.Refresh(read("running"), nil); *s.Next.PageCount != 3 {
		t.Errorf("the page count is %d", *s.Next.PageCount)
	}
}

func TestLinkIsDueAtItsExpiryLessRenewBefore(t *testing.T) {
	t.Parallel()
	s := exporttest.State("a1 |")
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
		if got := s.Due(exporttest.Now.Add(test.at), export.Wanted{RenewBefore: test.renewBefore}); got != test.want {
			t.Errorf("%+v: due %t", test, got)
		}
	}
	if exporttest.State("a1 unlimited |").Due(exporttest.Now.AddDate(9, 0, 0), export.Wanted{}) {
		t.Error("a link without an expiry is due")
	}
}

// A service may return the earlier link until it has expired, or a cache once.
func TestLinkIsKeptIfARenewalBeforeItsExpiryDoesNotChangeThat(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at, expires, lead time.Duration
		want              bool
	}{
		"the same":                  {59 * time.Minute, time.Hour, 9 * time.Minute, true},
		"the same, not due":         {59 * time.Minute, time.Hour, 0, false},                              // after a bundle was missing
		"the same, with a fraction": {59 * time.Minute, time.Hour + time.Second/2, 9 * time.Minute, true}, // the state has whole seconds
		"a later one":               {59 * time.Minute, time.Hour + time.Second, 9 * time.Minute, false},
		"an earlier one":            {58 * time.Minute, time.Hour - time.Second, 9 * time.Minute, false}, // the service's clock was set
		"the same, when it expires": {time.Hour, time.Hour, 9 * time.Minute, false},
	} {
		s, clock := exporttest.State("a1 |"), clocktest.NewVirtual(exporttest.Now.Add(test.at))
		wanted := want("a")
		wanted.RenewBefore = test.lead
		run := export.Run{State: s, Wanted: wanted, Service: &expiring{expires: exporttest.Now.Add(test.expires)}, Clock: clock}
		failure := run.Take(t.Context(), export.Step{Action: export.Renew, Job: s.Current})
		if failure != nil || run.Link.Kept != test.want {
			t.Errorf("%s: kept %t, %v", name, run.Link.Kept, failure)
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
	one := map[string]*string{"revision": new("1")}
	none := map[string]*string{}
	const domain, parameters = "docs.example.com", `{"a":1,"b":[12345678901234567890]}`
	base := exporttest.NewInputs(domain, one, parameters)
	for name, test := range map[string]struct {
		other export.Inputs
		equal bool
	}{
		"the same":           {exporttest.NewInputs(domain, one, `{ "b": [12345678901234567890], "a":1 }`), true},
		"no triggers":        {exporttest.NewInputs(domain, none, parameters), false},
		"a null trigger":     {exporttest.NewInputs(domain, map[string]*string{"revision": nil}, parameters), false},
		"another domain":     {exporttest.NewInputs("b.example.com", one, parameters), false},
		"beyond a float":     {exporttest.NewInputs(domain, one, `{"a":1,"b":[12345678901234567891]}`), false},
		"without parameters": {exporttest.NewInputs(domain, one, ""), false},
	} {
		if (base == test.other) != test.equal {
			t.Errorf("%s: %v", name, test.other)
		}
	}
	if exporttest.NewInputs("a", nil, "") != exporttest.NewInputs("a", none, "{}") {
		t.Error("no inputs are not like empty ones")
	}
	for _, parameters := range []string{"[1]", "null", "{} {}", "{"} {
		if _, err := export.NewInputs("a", nil, parameters); err == nil {
			t.Errorf("%s is accepted", parameters)
		}
	}
}
