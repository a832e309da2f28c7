package provider

import (
	"context"
	"slices"
	"strings"
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
		"create, handed over, all is lost":     {handed: "se_0 as 2", answers: answers{"job": "404", "start": "403"}},
		"create, handed over, start in doubt":  {handed: "se_0 as 2", answers: answers{"job": "404", "start": "503"}},
		"create, handed over, interrupted":     {handed: "se_0 as 2", answers: answers{"job": "404", "start": "interrupt unsent"}},
		"update, start refused beside both":    {state: "se_1 | se_0", answers: answers{"start": "403"}},
		"update, start in doubt":               {state: "se_1", answers: answers{"start": "503"}},
		"update, failed":                       {state: "se_1 due", answers: answers{"job": broken}},
		"update, timed out":                    {state: "se_1", answers: answers{"job": running}},
		"update, interrupted":                  {state: "se_1", answers: answers{"job": "interrupt lost"}},
		"update, unknown expiry":               {state: "se_1 unlimited", answers: answers{"job": broken}},
		"update, renewal unavailable":          {state: "se_1 due", wants: "1", answers: answers{"bundle": "503"}},
		"update, renewal, bundle missing":      {state: "se_1 due", wants: "1", answers: answers{"bundle": "404"}},
		"update, renewal interrupted":          {state: "se_1 due", wants: "1", answers: answers{"bundle": "interrupt lost"}},
		"update, missing bundle unavailable":   {state: "se_1 bundle-missing", wants: "1", answers: answers{"bundle": "503"}},
		"update, bundle replaced, job missing": {state: "se_1 due bundle-missing", wants: "1", answers: answers{"bundle": "404", "job": "404"}},
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
	state   string // see state
	handed  string // see job
	wants   string
	answers answers
}

func (test messageCase) text(t *testing.T) string {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	c, clock := test.answers.client(t, interrupt)
	clock.Advance(time.Minute)
	timeout, state := &timeoutError{time.Hour, "create"}, state(test.state)
	if state.Current != nil {
		timeout.field = "update"
	}
	ctx, cancel := clock.WithTimeout(ctx, timeout.limit, timeout)
	defer cancel()
	wanted := export.Wanted{Inputs: content("2"), Known: true}
	if test.wants != "" {
		wanted.Inputs = content(test.wants)
	}
	run := &export.Run{State: &state, Wanted: wanted, Clock: clock, Service: c, PollInterval: 10 * time.Minute}
	var diags diag.Diagnostics
	if state.Current == nil {
		var handed []*export.Job
		if job := job(test.handed); job != nil {
			handed = append(handed, job)
		}
		reportFailedCreate(run.Create(ctx, slices.Values(handed)), run, &diags)
	} else {
		diags.AddError(describe(run.Take(ctx, run.NextStep(wanted, clock.Now())), run))
	}
	return textOf(diags)
}

// state returns the state of an export: "CURRENT | NEXT". The link of Current works for an hour, unless it is due, or
// unlimited.
func state(text string) (s export.State) {
	current, next, _ := strings.Cut(text, "|")
	s.Current, s.Next = job(current), job(next)
	if s.Current == nil {
		return s
	}
	s.Current.Status = client.JobCompleted
	s.Link = export.Link{URL: "https://storage.example/a", ExpiresAt: startOfTime.Add(time.Hour)}
	switch {
	case strings.Contains(current, "due"):
		s.Link.ExpiresAt = startOfTime
	case strings.Contains(current, "unlimited"):
		s.Link.ExpiresAt = time.Time{}
	}
	return s
}

// job returns a job, such as "se_3 failed". It has the content of its number, or what follows "as". An imported one has
// no content.
func job(text string) *export.Job {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	has := func(word string) bool { return slices.Contains(words, word) }
	j := &export.Job{ID: words[0], Inputs: content(strings.TrimPrefix(words[0], "se_"))}
	j.Marks = export.Marks{Missing: has("missing"), BundleMissing: has("bundle-missing"), Imported: has("imported")}
	switch {
	case j.Imported:
		j.Inputs = content("")
	case has("as"):
		j.Inputs = content(words[len(words)-1])
	}
	for _, status := range []string{"running", client.JobFailed} {
		if has(status) {
			j.Status = status
		}
	}
	return j
}

func content(revision string) export.Inputs {
	return export.NewInputs("docs.example.com", map[string]*string{"revision": &revision}, "")
}

// addPlans adds what plans say. The CLI shows only one of several warnings that have the same first line, which
// therefore names the job.
func addPlans(texts map[string]string) {
	otherDomain, onlyDomain := export.NewInputs("b.example.com", nil, ""), export.NewInputs("docs.example.com", nil, "")
	old, changed, unknown := export.Wanted{Inputs: content("1"), Known: true}, export.Wanted{Inputs: content("2"), Known: true}, export.Wanted{Inputs: content("")}
	for name, test := range map[string]struct {
		state  string
		wanted export.Wanted
	}{
		"no change":                                {"se_1 | se_3", old},
		"new content":                              {"se_1", changed},
		"due":                                      {"se_1 due", old},
		"missing":                                  {"se_1 missing", old},
		"missing bundle":                           {"se_1 bundle-missing | se_3", old},
		"missing, its replacement waits":           {"se_1 missing | se_2 as 1", old},
		"missing, new content":                     {"se_1 missing", changed},
		"first export":                             {"| se_1 running", old},
		"first export, missing":                    {"| se_1 running missing", old},
		"first export, failed, new content":        {"| se_1 failed", changed},
		"first export, unknown content":            {"| se_1 running", unknown},
		"imported":                                 {"| se_1 running imported", export.Wanted{Inputs: onlyDomain, Known: true}},
		"imported, with inputs":                    {"| se_1 running imported", changed},
		"imported, unknown content":                {"| se_1 running imported", unknown},
		"imported, another domain":                 {"| se_1 running imported", export.Wanted{Inputs: otherDomain, Known: true}},
		"beside a link, wanted":                    {"se_1 | se_2", changed},
		"beside a link, failed":                    {"se_1 | se_2 failed", changed},
		"beside a link, neither of both is wanted": {"se_1 | se_3", changed},
	} {
		var diags diag.Diagnostics
		state := state(test.state)
		warnAboutStep(state.NextStep(test.wanted, startOfTime), &state, test.wanted, &diags)
		texts["plan, "+name] = textOf(diags)
	}
	var diags diag.Diagnostics
	destroyed := state("se_1 | se_2")
	warnAboutUnfinished(&destroyed, &diags)
	texts["plan of a destroy, another one waits"] = textOf(diags)
}

// addRefreshes adds what refreshes and imports say of what they read.
func addRefreshes(t *testing.T, texts map[string]string) {
	t.Helper()
	for name, test := range map[string]struct {
		state, job string // the job is the answer
	}{
		"completed":                  {"se_1", `{"status":"completed"}`},
		"missing":                    {"se_1", "404"},
		"missing, another one waits": {"se_1 | se_2", "404"},
		"another one waits":          {"se_1 | se_2", `{"status":"completed"}`},
		"another one has failed":     {"se_1 | se_2 failed", `{"status":"completed"}`},
		"no link yet":                {"| se_1 running", running},
		"no link yet, missing":       {"| se_1 running", "404"},
		"no link yet, fails":         {"| se_1 running", broken},
		"no link yet, has failed":    {"| se_1 failed", broken},
		"imported":                   {"| se_1 running imported", running},
		"refused":                    {"se_1", "403"},
		"import, missing":            {"| se_1 imported", "404"},
		"import, failed":             {"| se_1 imported", broken},
	} {
		c, _ := answers{"job": test.job}.client(t, nil)
		state := state(test.state)
		read, err := c.GetStaticExportJob(t.Context(), state.Shown().ID)
		var diags diag.Diagnostics
		recordRefresh(&state, read, err, &diags)
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
		"after a job was missing":                {export.Link{ExpiresAt: startOfTime.Add(time.Hour)}, export.Wanted{}, job("se_0 missing as 1")},
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
		"website": "https://docs.example.com,se_1", "domain and job": "docs.example.com , se_1,part",
	} {
		var diags diag.Diagnostics
		identity := parseImport(t.Context(), resource.ImportStateRequest{ID: id}, &diags)
		if texts["import ID, "+name] = textOf(diags); len(diags) == 0 {
			texts["import ID, "+name] = identity.JobID.ValueString() + " of " + identity.Domain.ValueString()
		}
	}
}
