package provider

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
	"github.com/docs-hosting/terraform-provider-docs/internal/exporttest"
)

// TestWhatAnExportSays holds every text that an export can print, each with its case. testdata/export.txt has them, so
// that they can be read one after the other.
func TestWhatAnExportSays(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for name, test := range map[string]messageCase{
		"create, refused":                      {answers: answers{"start": "403"}},
		"create, not in the subscription":      {answers: answers{"start": "402"}},
		"create, not found":                    {answers: answers{"start": "404"}},
		"create, conflict":                     {answers: answers{"start": "409"}},
		"create, answered by a website":        {answers: answers{"start": "<html>"}},
		"create, answered without an ID":       {answers: answers{"start": "{}"}},
		"create, interrupted at the start":     {answers: answers{"start": "interrupt unsent"}},
		"create, interrupted after the start":  {answers: answers{"start": "interrupt lost"}},
		"create, interrupted":                  {answers: answers{"job": "interrupt lost"}},
		"create, interrupted at the link":      {answers: answers{"bundle": "interrupt lost"}},
		"create, failed":                       {answers: answers{"job": broken}},
		"create, timed out":                    {answers: answers{"job": running}},
		"create, timed out in another status":  {answers: answers{"job": `{"status":"paused"}`}},
		"create, canceled":                     {answers: answers{"job": `{"status":"canceled"}`}},
		"create, link not ready":               {answers: answers{"bundle": "202 {}"}},
		"create, poll refused":                 {answers: answers{"job": "403"}},
		"create, job missing":                  {answers: answers{"job": "404"}},
		"create, link refused":                 {answers: answers{"bundle": "409"}},
		"create, bundle missing":               {answers: answers{"bundle": "404"}},
		"create, handed over, all is lost":     {handed: "c1 as:b", answers: answers{"job": "404", "start": "403"}},
		"create, handed over, start in doubt":  {handed: "c1 as:b", answers: answers{"job": "404", "start": "503"}},
		"create, handed over, interrupted":     {handed: "c1 as:b", answers: answers{"job": "404", "start": "interrupt unsent"}},
		"update, start refused beside both":    {state: "a1 completed | c1", answers: answers{"start": "403"}},
		"update, start in doubt":               {state: "a1", answers: answers{"start": "503"}},
		"update, failed":                       {state: "a1 completed due", answers: answers{"job": broken}},
		"update, timed out":                    {state: "a1", answers: answers{"job": running}},
		"update, interrupted":                  {state: "a1", answers: answers{"job": "interrupt lost"}},
		"update, unknown expiry":               {state: "a1 completed unlimited", answers: answers{"job": broken}},
		"update, renewal unavailable":          {state: "a1 completed due", wants: "a", answers: answers{"bundle": "503"}},
		"update, renewal, bundle missing":      {state: "a1 completed due", wants: "a", answers: answers{"bundle": "404"}},
		"update, renewal, job has ended":       {state: "a1 expired due", wants: "a", answers: answers{"bundle": "409"}},
		"update, renewal interrupted":          {state: "a1 completed due", wants: "a", answers: answers{"bundle": "interrupt lost"}},
		"update, missing bundle unavailable":   {state: "a1 completed bundle-missing", wants: "a", answers: answers{"bundle": "503"}},
		"update, bundle replaced, job missing": {state: "a1 completed due bundle-missing", wants: "a", answers: answers{"bundle": "404", "job": "404"}},
	} {
		texts[name] = test.text(t)
	}
	silent := &client.Error{Text: "no complete response within 5m0s", Reason: client.ReasonTooSlow, MayHaveActed: true, SentAt: startOfTime}
	run := &export.Run{State: &export.State{}, Wanted: export.Wanted{Inputs: exporttest.Inputs("a")}}
	_, texts["create, no response in time"] = describe(&export.Failure{Stage: export.Starting, Cause: silent}, run, true)
	addPlans(texts)
	addRefreshes(t, texts)
	addLinks(texts)
	addImports(t, texts)
	wantTexts(t, "export.txt", texts)
}

// messageCase is an apply of content b, unless wants says another one, that fails. It is a create unless it has a
// state.
type messageCase struct {
	state   string // see package exporttest
	handed  string // a job, too
	wants   string
	answers answers
}

func (test messageCase) text(t *testing.T) string {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	c, clock := test.answers.operation(t, interrupt)
	clock.Advance(time.Minute)
	timeout, state := &timeoutError{time.Hour, "create"}, exporttest.State(test.state)
	if state.Current != nil {
		timeout.field = "update"
	}
	ctx, cancel := clock.WithTimeout(ctx, timeout.limit, timeout)
	defer cancel()
	wanted := export.Wanted{Inputs: exporttest.Inputs(cmp.Or(test.wants, "b")), Known: true}
	run := &export.Run{State: state, Wanted: wanted, Clock: clock, Service: c, PollInterval: 10 * time.Minute}
	var diags diag.Diagnostics
	if state.Current == nil {
		reportFailedCreate(run.Create(ctx, exporttest.Job(test.handed)), run, &diags)
	} else {
		diags.AddError(describe(run.Take(ctx, run.NextStep(wanted, clock.Now())), run, false))
	}
	return textOf(diags)
}

// addPlans adds what plans say. The CLI shows only one of several warnings that have the same first line, which
// therefore names the job.
func addPlans(texts map[string]string) {
	wants := func(content, domain string, known bool) export.Wanted {
		inputs := exporttest.Inputs(content)
		inputs.Domain = domain
		return export.Wanted{Inputs: inputs, Known: known}
	}
	const here = exporttest.Domain
	for name, test := range map[string]struct {
		state  string
		wanted export.Wanted
	}{
		"new content":                     {"a1", wants("b", here, true)},
		"missing":                         {"a1 missing", wants("a", here, true)},
		"missing bundle":                  {"a1 completed bundle-missing | c1", wants("a", here, true)},
		"missing bundle, its replacement": {"a1 completed bundle-missing | a2", wants("a", here, true)},
		"first export, missing bundle":    {"| a1 completed bundle-missing", wants("a", here, true)},
		"first export, other content":     {"| a1 running", wants("b", here, true)},
		"imported, with inputs":           {"| a1 running imported", wants("b", here, true)},
		"imported, another domain":        {"| a1 running imported", wants("b", "b.example.com", true)},
		"imported, unknown inputs":        {"| a1 running imported", wants("b", "", false)},
	} {
		var diags diag.Diagnostics
		state := exporttest.State(test.state)
		warnAboutStep(state.NextStep(test.wanted, startOfTime), state, test.wanted, &diags)
		texts["plan, "+name] = textOf(diags)
	}
}

// addRefreshes adds what refreshes and imports say of what they read.
func addRefreshes(t *testing.T, texts map[string]string) {
	t.Helper()
	for name, test := range map[string]struct {
		state, job string // the job is the answer
	}{
		"completed":            {"a1", `{"status":"completed"}`},
		"missing":              {"a1 | b1", "404"},
		"no link yet, missing": {"| a1 running", "404"},
		"no link yet, fails":   {"| a1 running", broken},
		"imported":             {"| a1 running imported", running},
		"refused":              {"a1", "403"},
		"imported, missing":    {"| a1 running imported", "404"},
		"import, missing":      {"| a1 imported", "404"},
		"import, failed":       {"| a1 imported", broken},
	} {
		c, _ := answers{"job": test.job}.operation(t, nil)
		state := exporttest.State(test.state)
		read, err := c.GetStaticExportJob(t.Context(), state.Shown().ID)
		var diags diag.Diagnostics
		recordRefresh(state, read, err, &diags)
		texts["refresh, "+name] = textOf(diags)
	}
}

// addLinks adds what an apply says of a new link.
func addLinks(texts map[string]string) {
	early := export.Wanted{RenewBefore: 61 * time.Minute}
	for name, test := range map[string]struct {
		link   export.Link
		wanted export.Wanted
	}{
		"that works":                             {export.Link{ExpiresAt: startOfTime.Add(time.Hour)}, export.Wanted{}},
		"of unknown expiry":                      {export.Link{}, export.Wanted{}},
		"of unknown expiry, never renewed":       {export.Link{}, export.Wanted{NeverRenew: true}},
		"that the service has kept":              {export.Link{ExpiresAt: startOfTime.Add(time.Hour), Kept: true}, early},
		"that is due at once":                    {export.Link{ExpiresAt: startOfTime.Add(time.Hour)}, early},
		"that has expired":                       {export.Link{ExpiresAt: startOfTime}, export.Wanted{}},
		"that has expired, and is never renewed": {export.Link{ExpiresAt: startOfTime}, export.Wanted{NeverRenew: true}},
	} {
		var diags diag.Diagnostics
		state := exporttest.State("a1")
		state.Link = test.link
		warnAboutLink(&export.Run{State: state, Wanted: test.wanted, Clock: clocktest.NewVirtual(startOfTime)}, &diags)
		texts["link "+name] = textOf(diags)
	}
}

// addImports adds what an import says of its ID or identity.
func addImports(t *testing.T, texts map[string]string) {
	t.Helper()
	stored, _ := readStored(t, "static_export.json", newStaticExportResource())
	empty := stored.identity
	if diags := empty.Set(t.Context(), staticExportIdentity{types.StringValue(""), types.StringValue("docs.example.com")}); diags.HasError() {
		t.Fatal(diags)
	}
	for name, req := range map[string]resource.ImportStateRequest{
		"ID, nothing": {}, "ID, job": {ID: "a1"}, "ID, domain and no job": {ID: "docs.example.com,\t"}, "ID, no domain": {ID: ",a1"},
		"ID, website": {ID: "https://docs.example.com,a1"}, "ID, domain and job": {ID: "docs.example.com , a1,part"},
		"identity": {Identity: &stored.identity}, "identity, no job": {Identity: &empty},
	} {
		var diags diag.Diagnostics
		identity := parseImport(t.Context(), req, &diags)
		if texts["import "+name] = textOf(diags); len(diags) == 0 {
			texts["import "+name] = identity.JobID.ValueString() + " of " + identity.Domain.ValueString()
		}
	}
}
