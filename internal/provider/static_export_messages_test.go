package provider

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// linked returns the state of an export with a link that expires after a time.
func linked(expires time.Duration, marks export.Marks, next *export.Job) export.State {
	link := export.Link{URL: "https://storage.example/a", ExpiresAt: startOfTime.Add(expires)}
	return export.State{Current: job("se_1", "1", client.JobCompleted, marks), Link: link, Next: next}
}

func job(jobID, revision, status string, marks export.Marks) *export.Job {
	return &export.Job{ID: jobID, Inputs: content(revision), Status: status, Marks: marks}
}

func content(revision string) export.Inputs {
	return export.NewInputs("docs.example.com", map[string]*string{"revision": &revision}, "")
}

// runOf returns the run of an apply that wants a revision, a minute after the start of time.
func runOf(state export.State, wanted export.Wanted) *export.Run {
	return &export.Run{State: &state, Wanted: wanted, Clock: clocktest.NewVirtual(startOfTime.Add(time.Minute))}
}

func TestMessagesOfAFailedExport(t *testing.T) {
	t.Parallel()
	read := func(id, status string) *client.StaticExportJob {
		return &client.StaticExportJob{ID: id, Status: status, Progress: new(40.5), PageCount: new(int64(3)), Error: "page /a is broken"}
	}
	start := func(status int) error { return response("POST", "/v1/static-export/jobs", status) }
	poll := func(status int) error { return response("GET", "/v1/static-export/jobs/se_1", status) }
	link := func(status int) error { return response("POST", "/v1/static-export/jobs/se_1/bundle", status) }
	page := &client.Error{
		Text:   "the service returned HTTP 200 OK for POST /v1/static-export/jobs, but the body is a web page",
		Reason: client.ReasonNotTheAPI, MayHaveActed: true,
	}
	lost := &client.Error{
		Text:   "the request GET /v1/static-export/jobs/se_1 to docs.test failed: EOF",
		Reason: client.ReasonNoResponse, MayHaveActed: true,
	}
	timeout := &timeoutError{time.Hour, "create"}
	none := func() export.State { return export.State{} }
	first := func() export.State { return export.State{Next: job("se_1", "1", "running", export.Marks{})} }
	beside := func(expires time.Duration) func() export.State {
		return func() export.State {
			return linked(expires, export.Marks{}, job("se_2", "2", "running", export.Marks{}))
		}
	}
	works := func() export.State { return linked(time.Hour, export.Marks{}, nil) }
	endless := func() export.State {
		s := beside(0)()
		s.Link.ExpiresAt = time.Time{}
		return s
	}
	texts := map[string]string{}
	for name, test := range map[string]struct {
		state   func() export.State
		failure export.Failure // without its job
	}{
		"start, refused":                      {none, export.Failure{Stage: export.Starting, Cause: start(403)}},
		"start, not found":                    {none, export.Failure{Stage: export.Starting, Cause: start(404)}},
		"start, conflict":                     {none, export.Failure{Stage: export.Starting, Cause: start(409)}},
		"start, in doubt":                     {works, export.Failure{Stage: export.Starting, Cause: start(503)}},
		"start, refused, another job stays":   {first, export.Failure{Stage: export.Starting, Cause: start(403)}},
		"start, in doubt, another job stays":  {first, export.Failure{Stage: export.Starting, Cause: start(503)}},
		"start, answered by a website":        {none, export.Failure{Stage: export.Starting, Cause: page}},
		"start, interrupted":                  {none, export.Failure{Stage: export.Starting, Cause: context.Canceled}},
		"job, failed":                         {first, export.Failure{Stage: export.Waiting, Last: read("se_1", client.JobFailed)}},
		"job, failed in place":                {beside(0), export.Failure{Stage: export.Waiting, Last: read("se_2", client.JobFailed)}},
		"job, timed out":                      {first, export.Failure{Stage: export.Waiting, Last: read("se_1", "running"), Cause: timeout}},
		"job, timed out in place":             {beside(time.Hour), export.Failure{Stage: export.Waiting, Last: read("se_2", "running"), Cause: timeout}},
		"job, timed out in an unknown status": {first, export.Failure{Stage: export.Waiting, Last: read("se_1", "canceled"), Cause: timeout}},
		"job, interrupted":                    {first, export.Failure{Stage: export.Waiting, Last: read("se_1", "running"), Cause: context.Canceled}},
		"job, interrupted before it was read": {endless, export.Failure{Stage: export.Waiting, Cause: context.Canceled}},
		"job, missing":                        {first, export.Failure{Stage: export.Waiting, Cause: poll(404)}},
		"job, refused":                        {first, export.Failure{Stage: export.Waiting, Cause: poll(403)}},
		"job, lost connection":                {first, export.Failure{Stage: export.Waiting, Cause: lost}},
		"link, refused":                       {first, export.Failure{Stage: export.Linking, Cause: link(409)}},
		"link, missing":                       {first, export.Failure{Stage: export.Linking, Cause: link(404)}},
		"link, interrupted":                   {first, export.Failure{Stage: export.Linking, Cause: context.Canceled}},
		"renewal, unavailable":                {beside(0), export.Failure{Stage: export.Renewing, Cause: link(503)}},
		"renewal, missing":                    {works, export.Failure{Stage: export.Renewing, Cause: link(404)}},
		"renewal, interrupted":                {works, export.Failure{Stage: export.Renewing, Cause: context.Canceled}},
	} {
		run := runOf(test.state(), export.Wanted{Inputs: content("2"), Known: true})
		switch test.failure.Stage {
		case export.Starting:
		case export.Waiting, export.Linking:
			test.failure.Job = run.Next
			if test.failure.Last != nil {
				run.Next.Record(test.failure.Last)
			}
			run.Next.Missing = test.failure.Stage == export.Waiting && test.failure.Missing()
			run.Next.BundleMissing = test.failure.Stage == export.Linking && test.failure.Missing()
		case export.Renewing:
			test.failure.Job = run.Current
			run.Current.BundleMissing = test.failure.Missing()
		}
		if test.failure.Job != nil {
			run.Wanted.Inputs = test.failure.Job.Inputs
		}
		summary, detail := describe(&test.failure, run)
		texts[name] = summary + "\n" + detail
	}
	wantTexts(t, "failed_export.txt", texts)
}

// Terraform taints what a create leaves with an error, and with a warning not.
func TestFailedCreateIsAWarningIfItIsInterruptedAndHasAJob(t *testing.T) {
	t.Parallel()
	refused := response("POST", "/v1/static-export/jobs", 403)
	running := job("se_1", "1", "running", export.Marks{})
	left := []export.Job{*job("se_2", "2", "", export.Marks{}), *job("se_3", "3", "", export.Marks{})}
	texts := map[string]string{}
	for name, test := range map[string]struct {
		state   export.State
		failure export.Failure
		left    []export.Job
	}{
		"refused, two jobs are left":    {export.State{}, export.Failure{Stage: export.Starting, Cause: refused}, left},
		"interrupted":                   {export.State{Next: running}, export.Failure{Stage: export.Waiting, Job: running, Cause: context.Canceled}, nil},
		"interrupted before the start":  {export.State{}, export.Failure{Stage: export.Starting, Cause: context.Canceled}, nil},
		"interrupted at a second start": {export.State{Next: running}, export.Failure{Stage: export.Starting, Cause: context.Canceled}, nil},
	} {
		var diags diag.Diagnostics
		reportFailedCreate(&test.failure, runOf(test.state, export.Wanted{Inputs: content("1"), Known: true}), test.left, &diags)
		texts[name] = textOf(diags)
	}
	wantTexts(t, "failed_create.txt", texts)
}

// The CLI shows only one of several warnings that have the same first line, which therefore names
// the job.
func TestWarningsOfAPlan(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	none, gone, noBundle, imported := export.Marks{}, export.Marks{Missing: true}, export.Marks{BundleMissing: true}, export.Marks{Imported: true}
	broken, otherPending := job("se_1", "1", client.JobFailed, none), job("se_3", "3", "", none)
	otherDomain := export.Wanted{Inputs: content("1"), Known: true}
	otherDomain.Inputs.Domain = "b.example.com"
	old, changed, unknown := export.Wanted{Inputs: content("1"), Known: true}, export.Wanted{Inputs: content("2"), Known: true}, export.Wanted{Inputs: content("")}
	for name, test := range map[string]struct {
		state  export.State
		wanted export.Wanted
	}{
		"no change":                                 {linked(time.Hour, none, nil), old},
		"new content":                               {linked(time.Hour, none, nil), changed},
		"due":                                       {linked(0, none, nil), old},
		"first export, running":                     {export.State{Next: job("se_1", "1", "running", none)}, old},
		"first export, running, unknown content":    {export.State{Next: job("se_1", "1", "running", none)}, unknown},
		"first export, running, new content":        {export.State{Next: job("se_1", "1", "running", none)}, changed},
		"first export, running, missing":            {export.State{Next: job("se_1", "1", "running", gone)}, old},
		"first export, failed":                      {export.State{Next: broken}, old},
		"first export, failed, new content":         {export.State{Next: broken}, changed},
		"imported":                                  {export.State{Next: job("se_1", "", "running", imported)}, export.Wanted{Inputs: export.NewInputs("docs.example.com", nil, ""), Known: true}},
		"imported, with inputs":                     {export.State{Next: job("se_1", "", "running", imported)}, changed},
		"imported, unknown content":                 {export.State{Next: job("se_1", "", "running", imported)}, unknown},
		"imported, another domain":                  {export.State{Next: job("se_1", "", "running", imported)}, otherDomain},
		"pending for new content":                   {linked(time.Hour, none, job("se_2", "2", "", none)), changed},
		"pending for new content, failed":           {linked(time.Hour, none, job("se_2", "2", client.JobFailed, none)), changed},
		"pending for other content":                 {linked(time.Hour, none, otherPending), old},
		"pending for other content than the new":    {linked(time.Hour, none, otherPending), changed},
		"pending, unknown content":                  {linked(time.Hour, none, otherPending), unknown},
		"missing":                                   {linked(time.Hour, gone, nil), old},
		"missing bundle, pending for other content": {linked(time.Hour, noBundle, otherPending), old},
		"missing, unknown content":                  {linked(time.Hour, gone, nil), unknown},
		"missing, its replacement pending":          {linked(time.Hour, gone, job("se_2", "1", "", none)), old},
		"missing, new content":                      {linked(time.Hour, gone, nil), changed},
	} {
		var diags diag.Diagnostics
		warnAboutStep(test.state.NextStep(test.wanted, test.state.Due(startOfTime, test.wanted)), &test.state, test.wanted, &diags)
		texts[name] = textOf(diags)
	}
	wantTexts(t, "plan_of_export.txt", texts)
}

func TestMessagesOfARefresh(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	broken := &client.StaticExportJob{ID: "se_1", Status: client.JobFailed, Error: "page /a is broken"}
	read := func(status int) error { return response("GET", "/v1/static-export/jobs/se_1", status) }
	for name, report := range map[string]func(*diag.Diagnostics){
		"refused":                     func(diags *diag.Diagnostics) { addRefreshFailure(read(403), diags) },
		"missing":                     func(diags *diag.Diagnostics) { warnAboutMissingJob("se_1", read(404), diags) },
		"failed":                      func(diags *diag.Diagnostics) { warnAboutFailedJob(broken, diags) },
		"first export without a link": func(diags *diag.Diagnostics) { warnAboutUnfinishedJob("se_1", diags) },
		"import, missing":             func(diags *diag.Diagnostics) { addImportFailure(nil, read(404), diags) },
		"import, failed":              func(diags *diag.Diagnostics) { addImportFailure(broken, nil, diags) },
	} {
		var diags diag.Diagnostics
		report(&diags)
		texts[name] = textOf(diags)
	}
	wantTexts(t, "refresh_of_export.txt", texts)
}

func TestWarningsOfANewLink(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	never, early := export.Wanted{NeverRenew: true}, export.Wanted{RenewBefore: 61 * time.Minute}
	for name, test := range map[string]struct {
		link   export.Link
		wanted export.Wanted
	}{
		"that works":                             {export.Link{ExpiresAt: startOfTime.Add(time.Hour)}, export.Wanted{}},
		"of unknown expiry":                      {export.Link{}, never},
		"that the service has kept":              {export.Link{ExpiresAt: startOfTime.Add(time.Hour), Kept: true}, early},
		"that is due at once":                    {export.Link{ExpiresAt: startOfTime.Add(time.Hour)}, early},
		"that has expired":                       {export.Link{ExpiresAt: startOfTime}, export.Wanted{}},
		"that has expired, and is never renewed": {export.Link{ExpiresAt: startOfTime}, never},
	} {
		var diags diag.Diagnostics
		state := export.State{Current: &export.Job{ID: "se_1"}, Link: test.link}
		warnAboutLink(&export.Run{State: &state, Wanted: test.wanted, Clock: clocktest.NewVirtual(startOfTime)}, &diags)
		texts[name] = textOf(diags)
	}
	wantTexts(t, "link_of_export.txt", texts)
}
