package provider

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// TestWhatAnExportSays holds every text that an export can print, each with its case. testdata/export.txt has them, so
// that they can be read one after the other.
func TestWhatAnExportSays(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for name, test := range map[string]messageCase{
		"create, refused":                      {answers: answers{"start": "403"}},
		"create, not found":                    {answers: answers{"start": "404"}},
		"create, conflict":                     {answers: answers{"start": "409"}},
		"create, answered by a website":        {answers: answers{"start": "<html>"}},
		"create, interrupted at the start":     {answers: answers{"start": "interrupt unsent"}},
		"create, interrupted after the start":  {answers: answers{"start": "interrupt lost"}},
		"create, interrupted":                  {answers: answers{"job": "interrupt lost"}},
		"create, interrupted at the link":      {answers: answers{"bundle": "interrupt lost"}},
		"create, failed":                       {answers: answers{"job": broken}},
		"create, timed out":                    {answers: answers{"job": running}},
		"create, timed out in another status":  {answers: answers{"job": `{"status":"canceled"}`}},
		"create, poll refused":                 {answers: answers{"job": "403"}},
		"create, job missing":                  {answers: answers{"job": "404"}},
		"create, link refused":                 {answers: answers{"bundle": "409"}},
		"create, bundle missing":               {answers: answers{"bundle": "404"}},
		"create, handed over, all is lost":     {handed: job("se_0", "2", "", export.Marks{}), answers: answers{"job": "404", "start": "403"}},
		"create, handed over, start in doubt":  {handed: job("se_0", "2", "", export.Marks{}), answers: answers{"job": "404", "start": "503"}},
		"create, handed over, interrupted":     {handed: job("se_0", "2", "", export.Marks{}), answers: answers{"job": "404", "start": "interrupt unsent"}},
		"update, start refused beside both":    {state: linked(time.Hour, export.Marks{}, job("se_0", "0", "", export.Marks{})), answers: answers{"start": "403"}},
		"update, start in doubt":               {state: linked(time.Hour, export.Marks{}, nil), answers: answers{"start": "503"}},
		"update, failed":                       {state: linked(0, export.Marks{}, nil), answers: answers{"job": broken}},
		"update, timed out":                    {state: linked(time.Hour, export.Marks{}, nil), answers: answers{"job": running}},
		"update, interrupted":                  {state: linked(time.Hour, export.Marks{}, nil), answers: answers{"job": "interrupt lost"}},
		"update, unknown expiry":               {state: unknownExpiry(), answers: answers{"job": broken}},
		"update, renewal unavailable":          {state: linked(0, export.Marks{}, nil), wants: "1", answers: answers{"bundle": "503"}},
		"update, renewal, bundle missing":      {state: linked(0, export.Marks{}, nil), wants: "1", answers: answers{"bundle": "404"}},
		"update, renewal interrupted":          {state: linked(0, export.Marks{}, nil), wants: "1", answers: answers{"bundle": "interrupt lost"}},
		"update, missing bundle unavailable":   {state: linked(time.Hour, export.Marks{BundleMissing: true}, nil), wants: "1", answers: answers{"bundle": "503"}},
		"update, bundle replaced, job missing": {state: linked(0, export.Marks{BundleMissing: true}, nil), wants: "1", answers: answers{"bundle": "404", "job": "404"}},
	} {
		texts[name] = test.text(t)
	}
	addPlans(texts)
	addRefreshes(t, texts)
	addLinks(texts)
	addImports(t, texts)
	wantTexts(t, "export.txt", texts)
}

// messageCase is an apply of revision "2", unless wants says another one, that fails. It is a create unless it has a
// state.
type messageCase struct {
	state   export.State
	handed  *export.Job
	wants   string
	answers answers
}

func (test messageCase) text(t *testing.T) string {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	c, clock := test.answers.client(t, interrupt)
	clock.Advance(time.Minute)
	timeout := &timeoutError{time.Hour, "create"}
	if test.state.Current != nil {
		timeout.field = "update"
	}
	ctx, cancel := clock.WithTimeout(ctx, timeout.limit, timeout)
	defer cancel()
	wanted := export.Wanted{Inputs: content("2"), Known: true}
	if test.wants != "" {
		wanted.Inputs = content(test.wants)
	}
	run := &export.Run{State: &test.state, Wanted: wanted, Clock: clock, Service: c}
	var diags diag.Diagnostics
	if test.state.Current == nil {
		handed := slices.DeleteFunc([]*export.Job{test.handed}, func(job *export.Job) bool { return job == nil })
		reportFailedCreate(run.Create(ctx, slices.Values(handed)), run, &diags)
	} else {
		diags.AddError(describe(run.Take(ctx, run.NextStep(wanted, clock.Now())), run))
	}
	return textOf(diags)
}

// linked returns the state of an export with a link that expires after a time.
func linked(expires time.Duration, marks export.Marks, next *export.Job) export.State {
	link := export.Link{URL: "https://storage.example/a", ExpiresAt: startOfTime.Add(expires)}
	return export.State{Current: job("se_1", "1", client.JobCompleted, marks), Link: link, Next: next}
}

func unknownExpiry() export.State {
	s := linked(0, export.Marks{}, nil)
	s.Link.ExpiresAt = time.Time{}
	return s
}

func job(jobID, revision, status string, marks export.Marks) *export.Job {
	return &export.Job{ID: jobID, Inputs: content(revision), Status: status, Marks: marks}
}

func content(revision string) export.Inputs {
	return export.NewInputs("docs.example.com", map[string]*string{"revision": &revision}, "")
}

// addPlans adds what plans say. The CLI shows only one of several warnings that have the same first line, which
// therefore names the job.
func addPlans(texts map[string]string) {
	none, gone, noBundle, imported := export.Marks{}, export.Marks{Missing: true}, export.Marks{BundleMissing: true}, export.Marks{Imported: true}
	otherDomain, onlyDomain := export.NewInputs("b.example.com", nil, ""), export.NewInputs("docs.example.com", nil, "")
	old, changed, unknown := export.Wanted{Inputs: content("1"), Known: true}, export.Wanted{Inputs: content("2"), Known: true}, export.Wanted{Inputs: content("")}
	for name, test := range map[string]struct {
		state  export.State
		wanted export.Wanted
	}{
		"no change":                                {linked(time.Hour, none, job("se_3", "3", "", none)), old},
		"new content":                              {linked(time.Hour, none, nil), changed},
		"due":                                      {linked(0, none, nil), old},
		"missing":                                  {linked(time.Hour, gone, nil), old},
		"missing bundle":                           {linked(time.Hour, noBundle, job("se_3", "3", "", none)), old},
		"missing, its replacement waits":           {linked(time.Hour, gone, job("se_2", "1", "", none)), old},
		"missing, new content":                     {linked(time.Hour, gone, nil), changed},
		"first export":                             {export.State{Next: job("se_1", "1", "running", none)}, old},
		"first export, missing":                    {export.State{Next: job("se_1", "1", "running", gone)}, old},
		"first export, failed, new content":        {export.State{Next: job("se_1", "1", client.JobFailed, none)}, changed},
		"first export, unknown content":            {export.State{Next: job("se_1", "1", "running", none)}, unknown},
		"imported":                                 {export.State{Next: job("se_1", "", "running", imported)}, export.Wanted{Inputs: onlyDomain, Known: true}},
		"imported, with inputs":                    {export.State{Next: job("se_1", "", "running", imported)}, changed},
		"imported, unknown content":                {export.State{Next: job("se_1", "", "running", imported)}, unknown},
		"imported, another domain":                 {export.State{Next: job("se_1", "", "running", imported)}, export.Wanted{Inputs: otherDomain, Known: true}},
		"beside a link, wanted":                    {linked(time.Hour, none, job("se_2", "2", "", none)), changed},
		"beside a link, failed":                    {linked(time.Hour, none, job("se_2", "2", client.JobFailed, none)), changed},
		"beside a link, neither of both is wanted": {linked(time.Hour, none, job("se_3", "3", "", none)), changed},
	} {
		var diags diag.Diagnostics
		warnAboutStep(test.state.NextStep(test.wanted, startOfTime), &test.state, test.wanted, &diags)
		texts["plan, "+name] = textOf(diags)
	}
	var diags diag.Diagnostics
	destroyed := linked(time.Hour, none, job("se_2", "2", "", none))
	warnAboutUnfinished(&destroyed, &diags)
	texts["plan of a destroy, another one waits"] = textOf(diags)
}

// addRefreshes adds what refreshes and imports say of what they read.
func addRefreshes(t *testing.T, texts map[string]string) {
	t.Helper()
	none, imported := export.Marks{}, export.Marks{Imported: true}
	for name, test := range map[string]struct {
		state export.State
		job   string // the answer
	}{
		"completed":                  {linked(time.Hour, none, nil), `{"status":"completed"}`},
		"missing":                    {linked(time.Hour, none, nil), "404"},
		"missing, another one waits": {linked(time.Hour, none, job("se_2", "2", "", none)), "404"},
		"another one waits":          {linked(time.Hour, none, job("se_2", "2", "", none)), `{"status":"completed"}`},
		"another one has failed":     {linked(time.Hour, none, job("se_2", "2", client.JobFailed, none)), `{"status":"completed"}`},
		"no link yet":                {export.State{Next: job("se_1", "1", "running", none)}, running},
		"no link yet, missing":       {export.State{Next: job("se_1", "1", "running", none)}, "404"},
		"no link yet, fails":         {export.State{Next: job("se_1", "1", "running", none)}, broken},
		"no link yet, has failed":    {export.State{Next: job("se_1", "1", client.JobFailed, none)}, broken},
		"imported":                   {export.State{Next: job("se_1", "", "running", imported)}, running},
		"refused":                    {linked(time.Hour, none, nil), "403"},
		"import, missing":            {export.State{Next: job("se_1", "", "", imported)}, "404"},
		"import, failed":             {export.State{Next: job("se_1", "", "", imported)}, broken},
	} {
		c, _ := answers{"job": test.job}.client(t, nil)
		read, err := c.GetStaticExportJob(t.Context(), test.state.Shown().ID)
		var diags diag.Diagnostics
		recordRefresh(&test.state, read, err, &diags)
		texts["refresh, "+name] = textOf(diags)
	}
}

// addLinks adds what an apply says of a new link.
func addLinks(texts map[string]string) {
	early := export.Wanted{RenewBefore: 61 * time.Minute}
	for name, test := range map[string]struct {
		link     export.Link
		wanted   export.Wanted
		replaced *export.Job
	}{
		"that works":                             {export.Link{ExpiresAt: startOfTime.Add(time.Hour)}, export.Wanted{}, nil},
		"after a job was missing":                {export.Link{ExpiresAt: startOfTime.Add(time.Hour)}, export.Wanted{}, job("se_0", "1", "", export.Marks{Missing: true})},
		"of unknown expiry":                      {export.Link{}, export.Wanted{NeverRenew: true}, nil},
		"that the service has kept":              {export.Link{ExpiresAt: startOfTime.Add(time.Hour), Kept: true}, early, nil},
		"that is due at once":                    {export.Link{ExpiresAt: startOfTime.Add(time.Hour)}, early, nil},
		"that has expired":                       {export.Link{ExpiresAt: startOfTime}, export.Wanted{}, nil},
		"that has expired, and is never renewed": {export.Link{ExpiresAt: startOfTime}, export.Wanted{NeverRenew: true}, nil},
	} {
		var diags diag.Diagnostics
		state := export.State{Current: &export.Job{ID: "se_1"}, Link: test.link}
		warnAboutResult(&export.Run{State: &state, Wanted: test.wanted, Clock: clocktest.NewVirtual(startOfTime), Replaced: test.replaced}, &diags)
		texts["link "+name] = textOf(diags)
	}
}

// addImports adds what an import says of its ID.
func addImports(t *testing.T, texts map[string]string) {
	t.Helper()
	for name, id := range map[string]string{
		"nothing": "", "job": "se_1", "domain and no job": "docs.example.com,\t", "no domain": ",se_1",
		"website": "https://docs.example.com,se_1", "swapped": "se_1,docs.example.com", "domain and job": "docs.example.com , se_1,part",
	} {
		var diags diag.Diagnostics
		identity := parseImport(t.Context(), resource.ImportStateRequest{ID: id}, &diags)
		if texts["import ID, "+name] = textOf(diags); len(diags) == 0 {
			texts["import ID, "+name] = identity.JobID.ValueString() + " of " + identity.Domain.ValueString()
		}
	}
}
