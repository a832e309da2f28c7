// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/clocktest"
)

// situation is what an export is in when an apply begins.
type situation struct {
	plan staticExportModel
	life exportLife
}

// completedExport returns a completed export with a link that works for another hour, and a
// plan without changes.
func completedExport() situation {
	s := situation{plan: staticExportModel{
		Domain: types.StringValue("docs.example.com"), Triggers: triggers(types.StringValue("1")), AdditionalParameters: types.StringValue(`{"a":1,"b":[12345678901234567890]}`),
		LinkRenewal: types.StringValue(renewOnExpiry), RenewBefore: types.StringValue("0s"),
	}}
	s.life = exportLife{JobID: "se_1", Status: client.JobCompleted, Inputs: s.plan.goal().inputs, Link: exportLink{
		URL: "https://storage.example/a", ReceivedAt: startOfTime.Add(-time.Hour), ExpiresAt: startOfTime.Add(time.Hour),
	}}
	return s
}

// change turns a completed export into another situation.
type change func(*situation)

func triggers(revision attr.Value) types.Map {
	return types.MapValueMust(types.StringType, map[string]attr.Value{"revision": revision})
}

func parameters(text string) change {
	return func(s *situation) { s.plan.AdditionalParameters = types.StringValue(text) }
}

func TestNextStep(t *testing.T) {
	t.Parallel()
	var (
		newTriggers  change = func(s *situation) { s.plan.Triggers = triggers(types.StringValue("2")) }
		nullTrigger  change = func(s *situation) { s.plan.Triggers = triggers(types.StringNull()) }
		unknownValue change = func(s *situation) { s.plan.Triggers = triggers(types.StringUnknown()) }
		unknownMap   change = func(s *situation) { s.plan.Triggers = types.MapUnknown(types.StringType) }
		noTriggers   change = func(s *situation) { s.life.Inputs.Triggers = "{}" }
		unknownJSON  change = func(s *situation) { s.plan.AdditionalParameters = types.StringUnknown() }
		never        change = func(s *situation) { s.plan.LinkRenewal = types.StringValue(renewNever) }
		early        change = func(s *situation) { s.plan.RenewBefore = types.StringValue("61m") }
		noLink       change = func(s *situation) { s.life.Link = exportLink{} }
		due          change = func(s *situation) { s.life.Link.ExpiresAt = startOfTime }
		running      change = func(s *situation) { s.life.Status = "running" }
		failed       change = func(s *situation) { s.life.Status = client.JobFailed }
		noJob        change = func(s *situation) { s.life.jobNotFound() }
		found        change = func(s *situation) { s.life.jobRead(&client.StaticExportJob{Status: client.JobCompleted}) }
		noBundle     change = func(s *situation) { s.life.bundleNotFound() }
		imported     change = func(s *situation) { s.life.Imported = true }
		pending      change = func(s *situation) {
			s.life.pendingStarted(&client.StaticExportJob{ID: "se_2"}, s.plan.goal().inputs)
		}
		replaced change = func(s *situation) { // by a new job, whose link expires with the old one
			job, link := client.StaticExportJob{ID: "se_2", Status: client.JobCompleted}, client.Bundle{URL: "https://storage.example/b", ExpiresAt: s.life.Link.ExpiresAt}
			s.life.pendingCompleted(&job, &link, startOfTime.Add(-time.Hour))
			s.life.Inputs = s.plan.goal().inputs
		}
		pendingOther change = func(s *situation) {
			s.life.pendingStarted(&client.StaticExportJob{ID: "se_3"}, exportInputs{Domain: "docs.example.com"})
		}
	)
	for name, test := range map[string]struct {
		changes []change
		want    exportStep
		resumes bool
	}{
		"completed, link good":                           {nil, stepNone, false},
		"completed, link due":                            {[]change{due}, stepLink, false},
		"completed, link due, never renewed":             {[]change{due, never}, stepNone, false},
		"completed, link due early":                      {[]change{early}, stepLink, false},
		"completed, replaced, link due early":            {[]change{replaced, early}, stepLink, false},
		"completed, no link":                             {[]change{noLink}, stepLink, false},
		"completed, no link, never renewed":              {[]change{noLink, never}, stepLink, false},
		"running, no link":                               {[]change{running, noLink}, stepLink, false},
		"failed, no link":                                {[]change{failed, noLink}, stepExport, false},
		"failed, link good":                              {[]change{failed}, stepNone, false},
		"failed, link due":                               {[]change{failed, due}, stepExport, false},
		"failed, link due, never renewed":                {[]change{failed, due, never}, stepNone, false},
		"job missing, link good":                         {[]change{noJob}, stepLookFor, false},
		"job missing, then found":                        {[]change{noJob, found}, stepNone, false},
		"job missing, link good, never renewed":          {[]change{noJob, never}, stepLookFor, false},
		"job missing, new inputs":                        {[]change{noJob, newTriggers}, stepExport, false},
		"bundle missing, failed, link due":               {[]change{noBundle, failed, due}, stepExport, false},
		"bundle missing, link good":                      {[]change{noBundle}, stepNone, false},
		"bundle missing, job found, link due":            {[]change{noBundle, found, due}, stepLookFor, false},
		"bundle missing, link due":                       {[]change{noBundle, due}, stepLookFor, false},
		"bundle missing, link due, never renewed":        {[]change{noBundle, due, never}, stepNone, false},
		"job missing, pending for new inputs":            {[]change{noJob, newTriggers, pending}, stepExport, true},
		"job missing, pending for other inputs":          {[]change{noJob, pendingOther}, stepLookFor, false},
		"other triggers":                                 {[]change{newTriggers}, stepExport, false},
		"a trigger that is null":                         {[]change{nullTrigger}, stepExport, false},
		"other triggers, pending for them":               {[]change{newTriggers, pending}, stepExport, true},
		"other triggers, pending for others":             {[]change{newTriggers, pendingOther}, stepExport, false},
		"same inputs, pending for others":                {[]change{pendingOther}, stepNone, false},
		"same inputs, pending for others, link due":      {[]change{pendingOther, due}, stepLink, false},
		"triggers with an unknown value":                 {[]change{unknownValue}, stepExport, false},
		"unknown triggers instead of none":               {[]change{noTriggers, unknownMap}, stepExport, false},
		"unknown triggers, pending for some":             {[]change{unknownMap, pending}, stepExport, false},
		"other parameters":                               {[]change{parameters(`{"a": 2}`)}, stepExport, false},
		"parameters in another order":                    {[]change{parameters(`{"b":[12345678901234567890],"a":1}`)}, stepNone, false},
		"parameters that differ beyond a float's digits": {[]change{parameters(`{"a":1,"b":[12345678901234567891]}`)}, stepExport, false},
		"unknown parameters":                             {[]change{unknownJSON}, stepExport, false},
		"imported, other inputs":                         {[]change{imported, noLink, newTriggers}, stepLink, false},
		"imported, unknown inputs":                       {[]change{imported, noLink, unknownMap}, stepLink, false},
		"imported, then failed":                          {[]change{imported, noLink, failed}, stepExport, false},
		"imported, then missing":                         {[]change{imported, noLink, noJob}, stepLookFor, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := completedExport()
			for _, change := range test.changes {
				change(&s)
			}
			if got := s.life.nextStep(startOfTime, s.plan.goal()); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := s.life.resumes(s.plan.goal()); got != test.resumes {
				t.Errorf("resumes: %t, want %t", got, test.resumes)
			}
		})
	}
}

func TestLinkIsDue(t *testing.T) {
	t.Parallel()
	received := time.Date(2130, 1, 1, 0, 0, 0, 0, time.UTC)
	hour := exportLink{ReceivedAt: received, ExpiresAt: received.Add(time.Hour)}
	kept := exportLink{ReceivedAt: received, ExpiresAt: received.Add(time.Hour), Kept: true}
	ageless := exportLink{ExpiresAt: received.Add(time.Hour)}
	for name, test := range map[string]struct {
		link        exportLink
		after       time.Duration
		renewBefore time.Duration
		want        bool
	}{
		"a moment before its expiry":                                   {hour, time.Hour - 1, 0, false},
		"at its expiry":                                                {hour, time.Hour, 0, true},
		"before renew_before":                                          {hour, 40*time.Minute - 1, 20 * time.Minute, false},
		"at renew_before":                                              {hour, 40 * time.Minute, 20 * time.Minute, true},
		"new, renew_before a bit shorter":                              {hour, 0, time.Hour - 1, false},
		"new, renew_before its lifetime":                               {hour, 0, time.Hour, false},
		"before half its lifetime, clamped":                            {hour, 30*time.Minute - 1, 2 * time.Hour, false},
		"at half its lifetime, clamped":                                {hour, 30 * time.Minute, 2 * time.Hour, true},
		"kept by the service, at renew_before":                         {kept, 50 * time.Minute, 20 * time.Minute, false},
		"kept by the service, at its expiry":                           {kept, time.Hour, 20 * time.Minute, true},
		"without an expiry":                                            {exportLink{ReceivedAt: received}, 1000 * time.Hour, 0, false},
		"expired on arrival":                                           {exportLink{ReceivedAt: received, ExpiresAt: received.Add(-time.Hour)}, 0, 0, true},
		"expired on arrival, by a clock that has been corrected since": {exportLink{ReceivedAt: received, ExpiresAt: received.Add(-time.Hour)}, -2 * time.Hour, 0, false},
		"of unknown age, before its expiry":                            {ageless, time.Hour - 1, 0, false},
		"of unknown age, at its expiry":                                {ageless, time.Hour, 0, true},
		"of unknown age, at a long renew_before":                       {ageless, 0, 2 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.link.due(received.Add(test.after), test.renewBefore); got != test.want {
				t.Errorf("due: %t, want %t", got, test.want)
			}
		})
	}
}

func TestCreateThatEndedWithoutALinkIsUnfinishedUntilItsJobFails(t *testing.T) {
	t.Parallel()
	running, failed := &client.StaticExportJob{ID: "se_1", Status: "running"}, &client.StaticExportJob{ID: "se_1", Status: client.JobFailed}
	for name, test := range map[string]struct {
		job, later *client.StaticExportJob
		want       bool
	}{
		"running":     {running, nil, true},
		"failed":      {failed, nil, false},
		"failed then": {running, failed, false},
	} {
		life := newLife(test.job)
		life.createEnded()
		life.jobRead(test.later)
		if life.Unfinished != test.want {
			t.Errorf("%s: unfinished %t, want %t", name, life.Unfinished, test.want)
		}
	}
}

func TestPlanNamesTheJobsThatItResumesAndGivesUp(t *testing.T) {
	t.Parallel()
	var (
		noLink       change = func(s *situation) { s.life.Link = exportLink{} }
		running      change = func(s *situation) { s.life.Link, s.life.Status = exportLink{}, "running" }
		failed       change = func(s *situation) { s.life.Link, s.life.Status = exportLink{}, client.JobFailed }
		archived     change = func(s *situation) { s.life.Status = "archived" }
		due          change = func(s *situation) { s.life.Link.ExpiresAt = startOfTime }
		missing      change = func(s *situation) { s.life.jobNotFound() }
		imported     change = func(s *situation) { s.life.Link, s.life.Imported = exportLink{}, true }
		newContent   change = func(s *situation) { s.plan.Triggers = triggers(types.StringValue("2")) }
		unknown      change = func(s *situation) { s.plan.Triggers = triggers(types.StringUnknown()) }
		pending      change = func(s *situation) { s.life.pendingStarted(&client.StaticExportJob{ID: "se_2"}, s.plan.goal().inputs) }
		pendingOther change = func(s *situation) { s.life.pendingStarted(&client.StaticExportJob{ID: "se_3"}, exportInputs{}) }
	)
	for name, test := range map[string]struct {
		changes []change
		want    []string
	}{
		"nothing":     {nil, nil},
		"new content": {[]change{newContent}, nil},
		"no link":     {[]change{noLink}, nil},
		"later status that is undocumented, link due": {[]change{archived, due}, nil},
		"running":                                           {[]change{running}, []string{summaryResumes + ": job se_1"}},
		"running, new content":                              {[]change{running, newContent}, []string{summaryAbandons + ": job se_1"}},
		"running, unknown content":                          {[]change{running, unknown}, []string{summaryMayResume + ": job se_1"}},
		"failed, new content":                               {[]change{failed, newContent}, nil},
		"no link, imported, new content":                    {[]change{imported, newContent}, []string{summaryImportAdopts + ": job se_1"}},
		"pending for new content":                           {[]change{newContent, pending}, []string{summaryResumes + ": job se_2"}},
		"pending for new content, running":                  {[]change{newContent, pending, running}, []string{summaryAbandons + ": job se_1", summaryResumes + ": job se_2"}},
		"pending for other content":                         {[]change{newContent, pendingOther}, []string{summaryAbandons + ": job se_3"}},
		"pending for other content, running":                {[]change{newContent, pendingOther, running}, []string{summaryAbandons + ": job se_1", summaryAbandons + ": job se_3"}},
		"pending for other content than the job's, no link": {[]change{pendingOther, running}, []string{summaryResumes + ": job se_1"}},
		"pending, unknown content":                          {[]change{newContent, pending, unknown}, []string{summaryMayResume + ": job se_2"}},
		"missing":                                           {[]change{missing}, []string{summaryLooksFor + ": job se_1", "starts another job."}},
		"missing, its replacement pending":                  {[]change{missing, pending}, []string{summaryLooksFor + ": job se_1", "resumes job se_2, which was started in its place."}},
		"missing, pending for other content":                {[]change{missing, pendingOther}, []string{summaryAbandons + ": job se_3", summaryLooksFor + ": job se_1"}},
		"missing, new content":                              {[]change{missing, newContent}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := completedExport()
			for _, change := range test.changes {
				change(&s)
			}
			var diags diag.Diagnostics
			warnAboutStep(s.life.nextStep(startOfTime, s.plan.goal()), &s.life, s.plan.goal(), &diags)
			said := ""
			for _, d := range diags {
				said += d.Summary() + "\n" + d.Detail() + "\n"
			}
			if len(test.want) > 0 {
				wantPhrases(t, said, test.want...)
			}
			if got, want := len(diags), len(slices.DeleteFunc(slices.Clone(test.want), func(text string) bool { return !strings.Contains(text, ": job ") })); got != want {
				t.Errorf("%d warnings, want %d:\n%s", got, want, said)
			}
		})
	}
}

func TestFailureOfAnExportSaysHowToResume(t *testing.T) {
	t.Parallel()
	refusal, missing, timeout := &client.APIError{}, &client.APIError{}, &timeoutError{"60m", "update"}
	refusal.StatusCode, missing.StatusCode = 422, 404
	for name, test := range map[string]struct {
		failure exportFailure
		field   string
		summary string
		says    string
	}{
		"interrupted poll of a create":    {exportFailure{request: requestPoll, cause: context.Canceled}, "create", summaryExportInterrupted, "Its status has not been read.\n\nTo resume the same job, plan and apply again."},
		"interrupted look for a job":      {exportFailure{request: requestFind, cause: context.Canceled}, "update", summaryExportInterrupted, "No other job was started.\n\nThe next apply tries again."},
		"interrupted first link":          {exportFailure{request: requestLink, cause: context.Canceled}, "update", summaryExportInterrupted, "To resume the same job, plan and apply again."},
		"interrupted renewal":             {exportFailure{request: requestRenew, cause: context.Canceled}, "update", summaryRenewalFailed, "The next apply tries again."},
		"refused first link of a create":  {exportFailure{request: requestLink, cause: refusal}, "create", summaryLinkFailed, "Job se_1 completed, but no link was created.\n\nCorrect the value that the service rejects. To resume this job instead of starting another one, run \"terraform untaint\""},
		"refused first link of an update": {exportFailure{request: requestLink, cause: refusal}, "update", summaryLinkFailed, "To resume the same job, plan and apply again. To start another one instead, change triggers."},
		"refused renewal":                 {exportFailure{request: requestRenew, cause: refusal}, "update", summaryRenewalFailed, "Correct the value that the service rejects. The next apply tries again."},
		"missing job of an update":        {exportFailure{request: requestPoll, cause: missing}, "update", summaryJobNotFound, "look for job se_1 in the service's dashboard. The next apply asks again before it starts another job."},
		"missing bundle of a create":      {exportFailure{request: requestLink, cause: missing}, "create", summaryLinkFailed, "completed, but no link was created.\n\nCheck base_url and the API key, and look for job se_1"},
		"timeout": {
			exportFailure{request: requestPoll, cause: timeout, job: &client.StaticExportJob{Status: "running"}},
			"update", summaryExportTimedOut,
			`with status "running", and may still be running.` + "\n\nIf the operation normally takes longer, increase timeouts.update. To resume the same job, plan and apply again.",
		},
		"timeout with an undocumented status": {
			exportFailure{request: requestPoll, cause: timeout, job: &client.StaticExportJob{Status: "canceled"}},
			"update", summaryExportTimedOut,
			`with status "canceled". That status is undocumented, and counts as still running.` + "\n\nTo see whether the job has ended, look for job se_1 in the service's dashboard. To resume",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.failure.jobID = "se_1"
			got := test.failure.describe(nil, "docs.example.com", test.field)
			wantPhrases(t, got.summary+"\n"+paragraphs(got.what, got.next), test.summary, test.says)
		})
	}
}

func TestNewLinkIsWarnedAbout(t *testing.T) {
	t.Parallel()
	hours := func(n int) time.Time { return startOfTime.Add(time.Duration(n) * time.Hour) }
	for name, test := range map[string]struct {
		link              exportLink
		renewBefore, mode string
		want              []string
	}{
		"that works":                       {exportLink{ReceivedAt: startOfTime, ExpiresAt: hours(1)}, "59m", renewOnExpiry, []string{"nothing"}},
		"of unknown expiry":                {exportLink{ReceivedAt: startOfTime}, "0s", renewNever, []string{summaryUnknownExpiry, "expires_at is null and the link is not renewed."}},
		"that expired before it arrived":   {exportLink{ReceivedAt: startOfTime, ExpiresAt: hours(-1)}, "2h", renewOnExpiry, []string{summaryExpiredLink, "The next apply requests a new link.", "If the clock is wrong, correct it."}},
		"whose lifetime is renew_before":   {exportLink{ReceivedAt: startOfTime, ExpiresAt: hours(1)}, "1h", renewOnExpiry, []string{summaryLongRenewBefore, "Links expire after 1h0m0s", "The provider uses 30m0s instead.", "less often than every 1h0m0s"}},
		"that the service keeps, the same": {exportLink{ReceivedAt: startOfTime, ExpiresAt: hours(1), Kept: true}, "1h", renewOnExpiry, []string{"nothing"}},
		"which is never renewed":           {exportLink{ReceivedAt: startOfTime, ExpiresAt: hours(-1)}, "1h", renewNever, []string{"nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			plan := staticExportModel{LinkRenewal: types.StringValue(test.mode), RenewBefore: types.StringValue(test.renewBefore)}
			run := exportRun{providerData: &providerData{clock: clocktest.NewVirtual(startOfTime)}, goal: plan.goal(), life: &exportLife{Link: test.link}, diags: &diags}
			run.warnAboutLink()
			said := ""
			for _, d := range diags {
				said += d.Summary() + "\n" + d.Detail()
			}
			wantPhrases(t, cmp.Or(said, "nothing"), test.want...)
		})
	}
}

func TestExportWithADamagedPrivateStateKeepsItsJobAndLink(t *testing.T) {
	t.Parallel()
	state := staticExportModel{
		Domain: types.StringValue("docs.example.com"), Triggers: triggers(types.StringValue("1")),
		LinkRenewal: types.StringValue(renewOnExpiry), RenewBefore: types.StringValue("0s"),
		JobID: types.StringValue("se_1"), Status: types.StringValue(client.JobCompleted),
		BundleURL: types.StringValue("https://storage.example/a"), ExpiresAt: types.StringValue("2130-01-31T13:00:00Z"),
	}
	var diags diag.Diagnostics
	life := readLife(t.Context(), &state, memory{lifeKey: []byte(`{"pending": "se_2"}`)}, &diags)
	if len(diags) != 1 || diags[0].Severity() != diag.SeverityWarning || diags[0].Summary() != summaryUnreadableNotes+": job se_1" {
		t.Errorf("the diagnostics are %v", diags)
	}
	for at, want := range map[time.Time]exportStep{startOfTime: stepNone, startOfTime.Add(time.Hour): stepLink} {
		if got := life.nextStep(at, state.goal()); got != want || life.Pending != nil {
			t.Errorf("at %s: got %s, want %s", at, got, want)
		}
	}
}
