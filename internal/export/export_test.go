package export_test

import (
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

// want returns what a plan of a content wants.
func want(content string) export.Wanted {
	return export.Wanted{Inputs: exporttest.Inputs(content), Known: true}
}

var errTimeout = errors.New("timed out")

// answer returns the error of an answer.
func answer(status string) error {
	return &client.Error{Reason: map[string]client.Reason{"404": client.ReasonNotFound, "403": client.ReasonForbidden}[status]}
}

// Examples of what an apply does and leaves. TestEveryState goes through all.
func TestApplyOfAnExistingExport(t *testing.T) {
	t.Parallel()
	const exports = "start; wait new; link new"
	none, renew, resume, start := export.Step{}, export.Step{Action: export.Renew}, export.Step{Action: export.Resume}, export.Step{Action: export.Start}
	only := func(request, answer string) map[string]string { return map[string]string{request: answer} }
	renewAgain, resumeAgain := export.Step{Action: export.Renew, AsksAgain: true}, export.Step{Action: export.Resume, AsksAgain: true}
	for name, test := range map[string]struct {
		state, wants string
		step         export.Step
		answers      map[string]string
		asks         string
		fails        bool
		leaves       string
	}{
		"no change":                {"a1 completed |", "a", none, nil, "", false, "a1 completed |"},
		"due":                      {"a1 due | b1", "a", renew, nil, "link a1", false, "a1 | b1"},
		"due, its bundle is gone":  {"a1 due |", "a", renew, only("link a1", "404"), "link a1", true, "a1 bundle-missing due |"},
		"missing bundle, replaced": {"a1 bundle-missing |", "a", renewAgain, only("link a1", "404"), "link a1; " + exports, false, "new as:a completed |"},
		"new content":              {"a1 due |", "b", start, nil, exports, false, "new as:b completed |"},
		"new content, times out":   {"a1 |", "b", start, only("wait new", "running"), "start; wait new", true, "a1 | new as:b running"},
		"pending":                  {"a1 | b1", "b", resume, nil, "wait b1; link b1", false, "b1 completed |"},
		"pending, gone":            {"a1 | b1", "b", resume, only("wait b1", "404"), "wait b1", true, "a1 | b1 missing"},
		"pending, was missing":     {"a1 | b1 missing", "b", resumeAgain, only("wait b1", "404"), "wait b1; " + exports, false, "new as:b completed |"},
		"pending, was canceled":    {"a1 | b1", "b", resume, only("wait b1", "canceled"), "wait b1", true, "a1 | b1 canceled"},
		"canceled":                 {"a1 | b1 canceled", "b", start, nil, exports, false, "new as:b completed |"},
		"imported":                 {"| b1 completed imported", "b", resume, nil, "link b1", false, "b1 completed |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scripted{fixed: true, answered: test.answers}
			run := export.Run{State: exporttest.State(test.state), Wanted: want(test.wants), Service: s, Clock: still{}}
			step := run.NextStep(run.Wanted, exporttest.Now)
			if step != test.step {
				t.Errorf("the step is %+v, want %+v", step, test.step)
			}
			failure := run.Take(t.Context(), step)
			asked, left := strings.Join(s.asked, "; "), exporttest.Line(run.State)
			if asked != test.asks || left != test.leaves || (failure != nil) != test.fails {
				t.Errorf("asked %q and left %q, %+v; want %q and %q", asked, left, failure, test.asks, test.leaves)
			}
			if s.starts > 0 && s.request != run.Wanted.Inputs.Request {
				t.Errorf("sent %s, want the Request of Inputs", s.request)
			}
		})
	}
}

func TestImportForAnotherDomainIsNotResumed(t *testing.T) {
	t.Parallel()
	wanted := want("b")
	wanted.Inputs.Domain = "b.example.com"
	for _, wanted.Known = range []bool{true, false} {
		if step := exporttest.State("| b1 imported").NextStep(wanted, exporttest.Now); step.Action != export.Start {
			t.Errorf("the step is %+v", step)
		}
	}
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

func TestRefreshReadsAJobOnlyIfThatCanChangeAnApply(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{ // the job, unless the link is never renewed, and if so
		"a1 | b1": {"a1"}, "a1 missing |": {"a1"}, "a1 unlimited |": {"a1"}, "a1 failed |": {"a1"},
		"| a1": {"a1", "a1"}, "| a1 imported": {"a1", "a1"}, "| a1 failed": {}, "| a1 expired": {},
	} {
		for i, never := range []bool{false, true} {
			if job := exporttest.State(line).Refreshes(never); job == nil && want[i] != "" || job != nil && job.ID != want[i] {
				t.Errorf("a refresh of %q, never renewed: %t, reads %v", line, never, job)
			}
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
	s, whole := exporttest.State("| a1"), client.StaticExportJob{Status: "running"}
	for field, value := range reflect.ValueOf(&whole).Elem().Fields() {
		if field.IsExported() && value.Kind() == reflect.Pointer {
			value.Set(reflect.New(value.Type().Elem()))
		}
	}
	s.Refresh(&whole, nil)
	if before := *s.Next; !reflect.DeepEqual(refreshed(s, &client.StaticExportJob{}), before) {
		t.Errorf("record keeps not all that the service omits: use cmp.Or. Before, it was %+v, and then %+v", before, *s.Next)
	}
}

// refreshed returns the unfinished job after a refresh.
func refreshed(s *export.State, job *client.StaticExportJob) export.Job {
	s.Refresh(job, nil)
	return *s.Next
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
		run := export.Run{State: s, Wanted: wanted, Service: &scripted{expires: exporttest.Now.Add(test.expires)}, Clock: clock}
		failure := run.Take(t.Context(), export.Step{Action: export.Renew})
		if failure != nil || run.Link.Kept != test.want {
			t.Errorf("%s: kept %t, %v", name, run.Link.Kept, failure)
		}
	}
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
