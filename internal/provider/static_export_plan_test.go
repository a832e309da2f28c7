// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// change turns a completed export with a link that works for another hour, and a plan
// without changes, into another situation.
type change func(plan, state *staticExportModel, notes *exportNotes)

func triggers(revision attr.Value) types.Map {
	return types.MapValueMust(types.StringType, map[string]attr.Value{"revision": revision})
}

func TestNextStep(t *testing.T) {
	t.Parallel()
	var (
		newTriggers  change = func(plan, _ *staticExportModel, _ *exportNotes) { plan.Triggers = triggers(types.StringValue("2")) }
		unknownValue change = func(plan, _ *staticExportModel, _ *exportNotes) { plan.Triggers = triggers(types.StringUnknown()) }
		unknownMap   change = func(plan, _ *staticExportModel, _ *exportNotes) { plan.Triggers = types.MapUnknown(types.StringType) }
		noTriggers   change = func(plan, state *staticExportModel, _ *exportNotes) {
			plan.Triggers, state.Triggers = types.MapUnknown(types.StringType), types.MapNull(types.StringType)
		}
		never    change = func(plan, _ *staticExportModel, _ *exportNotes) { plan.LinkRenewal = types.StringValue(renewNever) }
		early    change = func(plan, _ *staticExportModel, _ *exportNotes) { plan.RenewBefore = types.StringValue("61m") }
		noLink   change = func(_, state *staticExportModel, _ *exportNotes) { state.clearLink() }
		noExpiry change = func(_, state *staticExportModel, _ *exportNotes) { state.ExpiresAt = types.StringNull() }
		due      change = func(_, state *staticExportModel, _ *exportNotes) {
			state.ExpiresAt = types.StringValue(startOfTime.Format(time.RFC3339))
		}
		running     change = func(_, state *staticExportModel, _ *exportNotes) { state.Status = types.StringValue("running") }
		failed      change = func(_, state *staticExportModel, _ *exportNotes) { state.Status = types.StringValue("failed") }
		kept        change = func(_, _ *staticExportModel, notes *exportNotes) { notes.LinkKept = true }
		lost        change = func(_, _ *staticExportModel, notes *exportNotes) { notes.Lost = true }
		notFound    change = func(_, _ *staticExportModel, notes *exportNotes) { notes.NotFound = true }
		imported    change = func(_, _ *staticExportModel, notes *exportNotes) { notes.Imported = true }
		withoutName change = func(_, state *staticExportModel, _ *exportNotes) { state.Domain = types.StringNull() }
		pending     change = func(plan, _ *staticExportModel, notes *exportNotes) {
			notes.Pending = &pendingJob{"se_2", plan.inputs()}
		}
		pendingOther change = func(_, state *staticExportModel, notes *exportNotes) {
			other := *state
			other.Triggers = triggers(types.StringValue("3"))
			notes.Pending = &pendingJob{"se_3", other.inputs()}
		}
		parameters = func(text string) change {
			return func(plan, _ *staticExportModel, _ *exportNotes) { plan.AdditionalParameters = types.StringValue(text) }
		}
		unknownParameters change = func(plan, _ *staticExportModel, _ *exportNotes) { plan.AdditionalParameters = types.StringUnknown() }
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
		"completed, link due early, but kept":            {[]change{early, kept}, stepNone, false},
		"completed, link kept and due":                   {[]change{due, kept}, stepLink, false},
		"completed, link of unknown expiry":              {[]change{noExpiry, early}, stepNone, false},
		"completed, no link":                             {[]change{noLink}, stepLink, false},
		"completed, no link, never renewed":              {[]change{noLink, never}, stepLink, false},
		"running, no link":                               {[]change{running, noLink}, stepLink, false},
		"failed, no link":                                {[]change{failed, noLink}, stepExport, false},
		"failed, link good":                              {[]change{failed}, stepNone, false},
		"failed, link due":                               {[]change{failed, due}, stepExport, false},
		"failed, link due, never renewed":                {[]change{failed, due, never}, stepNone, false},
		"lost, link good":                                {[]change{lost}, stepExport, false},
		"not found, link good":                           {[]change{notFound}, stepExport, false},
		"not found, pending for the same inputs":         {[]change{notFound, newTriggers, pending}, stepExport, true},
		"not found, pending for other inputs":            {[]change{notFound, pendingOther}, stepExport, false},
		"other triggers":                                 {[]change{newTriggers}, stepExport, false},
		"other triggers, link due":                       {[]change{newTriggers, due}, stepExport, false},
		"other triggers, job running":                    {[]change{newTriggers, running, noLink}, stepExport, false},
		"other triggers, pending for them":               {[]change{newTriggers, pending}, stepExport, true},
		"other triggers, pending for others":             {[]change{newTriggers, pendingOther}, stepExport, false},
		"same inputs, pending for others":                {[]change{pendingOther}, stepNone, false},
		"same inputs, pending for others, link due":      {[]change{pendingOther, due}, stepLink, false},
		"triggers with an unknown value":                 {[]change{unknownValue}, stepExport, false},
		"unknown triggers":                               {[]change{unknownMap}, stepExport, false},
		"unknown triggers instead of none":               {[]change{noTriggers}, stepExport, false},
		"unknown triggers, pending":                      {[]change{pendingOther, unknownMap}, stepExport, false},
		"other parameters":                               {[]change{parameters(`{"a": 2}`)}, stepExport, false},
		"parameters in another order":                    {[]change{parameters(`{"b":[12345678901234567890],"a":1}`)}, stepNone, false},
		"parameters that differ beyond a float's digits": {[]change{parameters(`{"a":1,"b":[12345678901234567891]}`)}, stepExport, false},
		"no parameters":                                  {[]change{parameters("")}, stepExport, false},
		"unknown parameters":                             {[]change{unknownParameters}, stepExport, false},
		"imported":                                       {[]change{imported, noLink}, stepLink, false},
		"imported, other inputs":                         {[]change{imported, noLink, newTriggers}, stepLink, false},
		"imported, unknown inputs":                       {[]change{imported, noLink, unknownMap}, stepLink, false},
		"imported without its domain":                    {[]change{withoutName}, stepNone, false},
		"imported, then failed":                          {[]change{imported, noLink, failed}, stepExport, false},
		"imported, then not found":                       {[]change{imported, noLink, notFound}, stepExport, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := staticExportModel{
				Domain: types.StringValue("docs.example.com"), Triggers: triggers(types.StringValue("1")), AdditionalParameters: types.StringValue(`{"a":1,"b":[12345678901234567890]}`),
				LinkRenewal: types.StringValue(renewOnExpiry), RenewBefore: types.StringValue("0s"),
				JobID: types.StringValue("se_1"), Status: types.StringValue("completed"),
				BundleURL: types.StringValue("https://storage.example/a"), ExpiresAt: types.StringValue(startOfTime.Add(time.Hour).Format(time.RFC3339)),
			}
			plan, notes := state, exportNotes{LinkCreatedAt: startOfTime.Add(-time.Hour)}
			for _, change := range test.changes {
				change(&plan, &state, &notes)
			}
			if got := nextStep(startOfTime, &plan, &state, &notes); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := notes.resumes(&plan); got != test.resumes {
				t.Errorf("resumes: %t, want %t", got, test.resumes)
			}
		})
	}
}

func TestLinkIsDue(t *testing.T) {
	t.Parallel()
	created := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	hour := exportLink{CreatedAt: created, ExpiresAt: created.Add(time.Hour)}
	kept := exportLink{CreatedAt: created, ExpiresAt: created.Add(time.Hour), Kept: true}
	ageless := exportLink{ExpiresAt: created.Add(time.Hour)}
	for name, test := range map[string]struct {
		link        exportLink
		after       time.Duration
		renewBefore time.Duration
		mode        string
		want        bool
	}{
		"a moment before its expiry":               {hour, time.Hour - 1, 0, renewOnExpiry, false},
		"at its expiry":                            {hour, time.Hour, 0, renewOnExpiry, true},
		"long after its expiry, but never renewed": {hour, 1000 * time.Hour, 0, renewNever, false},
		"before renew_before":                      {hour, 40*time.Minute - 1, 20 * time.Minute, renewOnExpiry, false},
		"at renew_before":                          {hour, 40 * time.Minute, 20 * time.Minute, renewOnExpiry, true},
		"new, renew_before a bit shorter":          {hour, 0, time.Hour - 1, renewOnExpiry, false},
		"new, renew_before its lifetime":           {hour, 0, time.Hour, renewOnExpiry, false},
		"before half its lifetime, clamped":        {hour, 30*time.Minute - 1, 2 * time.Hour, renewOnExpiry, false},
		"at half its lifetime, clamped":            {hour, 30 * time.Minute, 2 * time.Hour, renewOnExpiry, true},
		"kept by the service, at renew_before":     {kept, 50 * time.Minute, 20 * time.Minute, renewOnExpiry, false},
		"kept by the service, before its expiry":   {kept, time.Hour - 1, 0, renewOnExpiry, false},
		"kept by the service, at its expiry":       {kept, time.Hour, 20 * time.Minute, renewOnExpiry, true},
		"without an expiry":                        {exportLink{CreatedAt: created}, 1000 * time.Hour, 0, renewOnExpiry, false},
		"expired on arrival":                       {exportLink{CreatedAt: created, ExpiresAt: created}, time.Hour, 0, renewOnExpiry, false},
		"of unknown age, before its expiry":        {ageless, time.Hour - 1, 0, renewOnExpiry, false},
		"of unknown age, at its expiry":            {ageless, time.Hour, 0, renewOnExpiry, true},
		"of unknown age, at a long renew_before":   {ageless, 0, 2 * time.Hour, renewOnExpiry, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.link.due(created.Add(test.after), test.renewBefore, test.mode); got != test.want {
				t.Errorf("due: %t, want %t", got, test.want)
			}
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
		"that works":                     {exportLink{CreatedAt: startOfTime, ExpiresAt: hours(1)}, "59m", renewOnExpiry, nil},
		"of unknown expiry":              {exportLink{CreatedAt: startOfTime}, "0s", renewNever, []string{summaryUnknownExpiry, "expires_at is null and the link is not renewed."}},
		"that expired before it arrived": {exportLink{CreatedAt: startOfTime, ExpiresAt: hours(-1)}, "0s", renewOnExpiry, []string{summaryExpiredOnArrival, "Check this machine's clock."}},
		"that the service kept too long": {exportLink{CreatedAt: hours(-2), ExpiresAt: hours(-1)}, "0s", renewOnExpiry, []string{summaryExpiredLink, "The next apply requests a new link again."}},
		"whose lifetime is renew_before": {exportLink{CreatedAt: startOfTime, ExpiresAt: hours(1)}, "1h", renewOnExpiry, []string{summaryLongRenewBefore, "Links expire after 1h0m0s", "The provider uses 30m0s instead.", "less often than every 1h0m0s"}},
		"which is never renewed":         {exportLink{CreatedAt: startOfTime, ExpiresAt: hours(-1)}, "1h", renewNever, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			run := exportRun{plan: &staticExportModel{LinkRenewal: types.StringValue(test.mode), RenewBefore: types.StringValue(test.renewBefore)}, diags: &diags}
			run.warnAboutLink(startOfTime, test.link)
			said := ""
			for _, d := range diags {
				said += d.Summary() + "\n" + d.Detail()
			}
			wantPhrases(t, said, test.want...)
		})
	}
}
