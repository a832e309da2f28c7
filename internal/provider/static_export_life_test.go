package provider

import (
	"cmp"
	"context"
	"fmt"
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
		URL: "https://storage.example/a", ExpiresAt: startOfTime.Add(time.Hour),
	}, exportNotes: exportNotes{LinkReceivedAt: startOfTime.Add(-time.Hour)}}
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

func TestNextSteps(t *testing.T) {
	t.Parallel()
	var (
		newTriggers  change = func(s *situation) { s.plan.Triggers = triggers(types.StringValue("2")) }
		nullTrigger  change = func(s *situation) { s.plan.Triggers = triggers(types.StringNull()) }
		unknownValue change = func(s *situation) { s.plan.Triggers = triggers(types.StringUnknown()) }
		unknownMap   change = func(s *situation) { s.plan.Triggers = types.MapUnknown(types.StringType) }
		noTriggers   change = func(s *situation) { s.life.Inputs.Triggers = "{}" }
		unknownJSON  change = func(s *situation) { s.plan.AdditionalParameters = types.StringUnknown() }
		noJSON       change = func(s *situation) { s.life.Inputs.Parameters = "{}" }
		never        change = func(s *situation) { s.plan.LinkRenewal = types.StringValue(renewNever) }
		early        change = func(s *situation) { s.plan.RenewBefore = types.StringValue("61m") }
		noLink       change = func(s *situation) { s.life.Link = exportLink{} }
		due          change = func(s *situation) { s.life.Link.ExpiresAt = startOfTime }
		noExpiry     change = func(s *situation) { s.life.Link.ExpiresAt = time.Time{} }
		failed       change = func(s *situation) { s.life.Status = client.JobFailed }
		noJob        change = func(s *situation) { s.life.jobNotFound() }
		found        change = func(s *situation) { s.life.jobRead(&client.StaticExportJob{Status: client.JobCompleted}) }
		noBundle     change = func(s *situation) { s.life.bundleNotFound() }
		imported     change = func(s *situation) { s.life.Imported = true }
		pending      change = func(s *situation) {
			s.life.pendingStarted(&client.StaticExportJob{ID: "se_2"}, s.plan.goal().inputs)
		}
		kept change = func(s *situation) { // a renewal returned the same link
			s.life.linkCreated(&client.Bundle{URL: s.life.Link.URL, ExpiresAt: s.life.Link.ExpiresAt}, s.plan.goal(), startOfTime.Add(-time.Minute))
		}
		replaced change = func(s *situation) { // by a new job, whose link expires with the old one
			job, link := client.StaticExportJob{ID: "se_2", Status: client.JobCompleted}, client.Bundle{URL: "https://storage.example/b", ExpiresAt: s.life.Link.ExpiresAt}
			s.life.pendingStarted(&job, s.plan.goal().inputs)
			s.life.pendingCompleted(&job, &link, s.plan.goal(), startOfTime.Add(-time.Hour))
		}
		later         change = func(s *situation) { s.plan.RenewBefore = types.StringValue("3700s") }
		otherDomain   change = func(s *situation) { s.plan.Domain = types.StringValue("other.example.com") }
		unknownDomain change = func(s *situation) { s.plan.Domain = types.StringUnknown() }
		noDomain      change = func(s *situation) { s.life.Inputs.Domain = "" }
		pendingOther  change = func(s *situation) {
			s.life.pendingStarted(&client.StaticExportJob{ID: "se_3"}, exportInputs{Domain: "docs.example.com"})
		}
	)
	for name, test := range map[string]struct {
		changes     []change
		want, later string // later is for an apply at any later time
	}{
		"completed, link good":                                {nil, "[]", "[link]"},
		"completed, link due":                                 {[]change{due}, "[link]", "[link]"},
		"completed, link of unknown expiry":                   {[]change{noExpiry}, "[]", "[]"},
		"completed, link due, never renewed":                  {[]change{due, never}, "[]", "[]"},
		"completed, link due early":                           {[]change{early}, "[link]", "[link]"},
		"completed, link due early, but kept":                 {[]change{early, kept}, "[]", "[link]"},
		"completed, link due early, kept, other renew_before": {[]change{early, kept, later}, "[link]", "[link]"},
		"completed, replaced, link due early":                 {[]change{early, replaced}, "[link]", "[link]"},
		"completed, kept, replaced, link due early":           {[]change{early, kept, replaced}, "[]", "[link]"},
		"completed, no link":                                  {[]change{noLink}, "[link]", "[link]"},
		"completed, no link, never renewed":                   {[]change{noLink, never}, "[link]", "[link]"},
		"failed, link good":                                   {[]change{failed}, "[]", "[start]"},
		"failed, link due":                                    {[]change{failed, due}, "[start]", "[start]"},
		"failed, link due, never renewed":                     {[]change{failed, due, never}, "[]", "[]"},
		"job missing, link good":                              {[]change{noJob}, "[start]", "[start]"},
		"job missing, then found":                             {[]change{noJob, found}, "[]", "[link]"},
		"bundle missing, link good":                           {[]change{noBundle}, "[link start]", "[link start]"},
		"bundle missing, then a link":                         {[]change{noBundle, kept}, "[]", "[link]"},
		"bundle missing, job missing too":                     {[]change{noBundle, noJob}, "[start]", "[start]"},
		"bundle missing, job failed":                          {[]change{noBundle, failed}, "[start]", "[start]"},
		"bundle missing, new inputs":                          {[]change{noBundle, newTriggers}, "[start]", "[start]"},
		"bundle missing, its replacement pending":             {[]change{noBundle, pending}, "[resume link start]", "[resume link start]"},
		"job missing, pending for new inputs":                 {[]change{noJob, newTriggers, pending}, "[resume start]", "[resume start]"},
		"unknown domain":                                      {[]change{unknownDomain}, "[start]", "[start]"},
		"other triggers":                                      {[]change{newTriggers}, "[start]", "[start]"},
		"a trigger that is null":                              {[]change{nullTrigger}, "[start]", "[start]"},
		"other triggers, pending for them":                    {[]change{newTriggers, pending}, "[resume start]", "[resume start]"},
		"other triggers, pending for others":                  {[]change{newTriggers, pendingOther}, "[start]", "[start]"},
		"same inputs, pending for others":                     {[]change{pendingOther}, "[]", "[link]"},
		"triggers with an unknown value":                      {[]change{unknownValue}, "[start]", "[start]"},
		"unknown triggers instead of none":                    {[]change{noTriggers, unknownMap}, "[start]", "[start]"},
		"unknown triggers, pending for some":                  {[]change{unknownMap, pending}, "[start]", "[start]"},
		"parameters in another order":                         {[]change{parameters(`{"b":[12345678901234567890],"a":1}`)}, "[]", "[link]"},
		"parameters that differ beyond a float's digits":      {[]change{parameters(`{"a":1,"b":[12345678901234567891]}`)}, "[start]", "[start]"},
		"unknown parameters":                                  {[]change{unknownJSON}, "[start]", "[start]"},
		"unknown parameters, of a job without any":            {[]change{noJSON, unknownJSON}, "[start]", "[start]"},
		"imported, other inputs":                              {[]change{imported, noLink, newTriggers}, "[link]", "[link]"},
		"imported, another domain":                            {[]change{imported, noLink, otherDomain}, "[start]", "[start]"},
		"imported, unknown domain":                            {[]change{imported, noLink, unknownDomain}, "[start]", "[start]"},
		"imported without a domain":                           {[]change{imported, noLink, noDomain}, "[link]", "[link]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := completedExport()
			for _, change := range test.changes {
				change(&s)
			}
			if got := fmt.Sprint(s.life.nextSteps(s.plan.goal(), s.life.linkDue(startOfTime, s.plan.goal()))); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := fmt.Sprint(s.life.nextSteps(s.plan.goal(), s.life.linkWillBeDue(s.plan.goal()))); got != test.later {
				t.Errorf("later: got %s, want %s", got, test.later)
			}
		})
	}
}

func TestEarlyRenewalWithTheSameExpirySwitchesOffRenewBefore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after, extends time.Duration
		want           bool
	}{
		"the same expiry":             {-time.Second, 0, true},
		"a later one":                 {-time.Minute, time.Second, false},
		"an earlier one":              {-time.Minute, -time.Second, false}, // such as after the service's clock was set
		"the same expiry, too early":  {-11 * time.Minute, 0, false},       // asked for because the bundle was missing
		"the same expiry, at it":      {0, 0, false},                       // a cache may return an expired link once
		"the same expiry, long after": {time.Hour, 0, false},
	} {
		s := completedExport()
		s.plan.RenewBefore = types.StringValue("10m")
		link := exportLink{URL: "https://s.test/later", ExpiresAt: s.life.Link.ExpiresAt.Add(test.extends)}
		received, now := s.life.LinkReceivedAt, s.life.Link.ExpiresAt.Add(test.after)
		bundle := &client.Bundle{URL: link.URL, ExpiresAt: link.ExpiresAt.Add(500 * time.Millisecond)} // the state has whole seconds
		kept := s.life.linkCreated(bundle, s.plan.goal(), now)
		if test.extends != 0 {
			received = now
		}
		if kept != test.want || (s.life.KeptWith > 0) != test.want || s.life.Link != link || s.life.LinkReceivedAt != received {
			t.Errorf("%s: kept %t with %s, the link %v; want %t", name, kept, s.life.KeptWith, s.life.Link, test.want)
		}
	}
}

// A bundle that was missing is asked for early even without renew_before.
func TestSameExpiryWithoutRenewBeforeSwitchesOffNothing(t *testing.T) {
	t.Parallel()
	s := completedExport()
	s.life.KeptWith = time.Minute
	if kept := s.life.linkCreated(&client.Bundle{ExpiresAt: s.life.Link.ExpiresAt}, s.plan.goal(), startOfTime); kept || s.life.KeptWith != time.Minute {
		t.Errorf("kept %t with %s", kept, s.life.KeptWith)
	}
}

func TestLinkIsDue(t *testing.T) {
	t.Parallel()
	received := time.Date(2130, 1, 1, 0, 0, 0, 0, time.UTC)
	expiring := func(in time.Duration) exportLife {
		return exportLife{Link: exportLink{ExpiresAt: received.Add(in)}, exportNotes: exportNotes{LinkReceivedAt: received}}
	}
	hour, expired := expiring(time.Hour), expiring(-time.Hour)
	ageless := exportLife{Link: hour.Link}
	for name, test := range map[string]struct {
		life        exportLife
		after       time.Duration
		renewBefore time.Duration
		want        bool
		keptWith    time.Duration
	}{
		"a moment before its expiry":                                   {hour, time.Hour - 1, 0, false, 0},
		"at its expiry":                                                {hour, time.Hour, 0, true, 0},
		"at renew_before":                                              {hour, 40 * time.Minute, 20 * time.Minute, true, 0},
		"new, renew_before its lifetime":                               {hour, 0, time.Hour, false, 0},
		"at half its lifetime, clamped":                                {hour, 30 * time.Minute, 2 * time.Hour, true, 0},
		"kept by the service, at renew_before":                         {hour, 50 * time.Minute, 20 * time.Minute, false, 20 * time.Minute},
		"kept by the service, at its expiry":                           {hour, time.Hour, 20 * time.Minute, true, 20 * time.Minute},
		"without an expiry":                                            {exportLife{exportNotes: hour.exportNotes}, 1000 * time.Hour, 0, false, 0},
		"expired on arrival":                                           {expired, 0, 0, true, 0},
		"expired on arrival, by a clock that has been corrected since": {expired, -2 * time.Hour, 0, false, 0},
		"of unknown age, at its expiry":                                {ageless, time.Hour, 0, true, 0},
		"of unknown age, at a long renew_before":                       {ageless, 0, 2 * time.Hour, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.life.KeptWith = test.keptWith
			if got := test.life.linkDue(received.Add(test.after), exportGoal{renewBefore: test.renewBefore}); got != test.want {
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

func TestResponseThatOmitsAFieldChangesNothing(t *testing.T) {
	t.Parallel()
	life := newLife(&client.StaticExportJob{ID: "se_1", Status: "running", PageCount: new(int64(3))})
	life.jobRead(&client.StaticExportJob{ID: "se_1"})
	if life.Status != "running" || life.PageCount == nil || *life.PageCount != 3 {
		t.Errorf("the life is %+v", life)
	}
	life.jobRead(&client.StaticExportJob{ID: "se_1", Status: client.JobCompleted, PageCount: new(int64(4))})
	if !life.completed() || *life.PageCount != 4 {
		t.Errorf("the life is %+v", life)
	}
}

// The CLI shows only one of several warnings that have the same first line, which therefore names
// the job.
func TestPlanNamesTheJobsThatItResumesAndAbandons(t *testing.T) {
	t.Parallel()
	var (
		running      change = func(s *situation) { s.life.Link, s.life.Status = exportLink{}, "running" }
		unfinished   change = func(s *situation) { s.life.Link, s.life.Unfinished = exportLink{}, true }
		failed       change = func(s *situation) { s.life.Link, s.life.Status = exportLink{}, client.JobFailed }
		archived     change = func(s *situation) { s.life.Status = "archived" }
		due          change = func(s *situation) { s.life.Link.ExpiresAt = startOfTime }
		missing      change = func(s *situation) { s.life.jobNotFound() }
		noBundle     change = func(s *situation) { s.life.bundleNotFound() }
		lost         change = func(s *situation) { s.life.Lost = true }
		imported     change = func(s *situation) { s.life.Link, s.life.Imported = exportLink{}, true }
		otherDomain  change = func(s *situation) { s.plan.Domain = types.StringValue("b.example.com") }
		newContent   change = func(s *situation) { s.plan.Triggers = triggers(types.StringValue("2")) }
		unknown      change = func(s *situation) { s.plan.Triggers = triggers(types.StringUnknown()) }
		pending      change = func(s *situation) { s.life.pendingStarted(&client.StaticExportJob{ID: "se_2"}, s.plan.goal().inputs) }
		pendingOther change = func(s *situation) { s.life.pendingStarted(&client.StaticExportJob{ID: "se_3"}, exportInputs{}) }
	)
	for name, test := range map[string]struct {
		changes []change
		want    []string
	}{
		"new content": {[]change{newContent}, nil},
		"later status that is undocumented, link due":       {[]change{archived, due}, nil},
		"first export that has completed since":             {[]change{unfinished}, []string{summaryCanResume + ": job se_1"}},
		"running":                                           {[]change{running}, []string{summaryCanResume + ": job se_1"}},
		"running, unknown content":                          {[]change{running, unknown}, []string{summaryCanResume + ": job se_1"}},
		"failed, new content":                               {[]change{failed, newContent}, nil},
		"no link, imported, new content":                    {[]change{imported, newContent}, []string{summaryImportAdopts + ": job se_1"}},
		"imported, another domain":                          {[]change{imported, otherDomain}, []string{summaryImportDiffers + ": job se_1", "Job se_1 was imported as a job for docs.example.com. This plan starts another job, for b.example.com.", "To keep job se_1 instead, import b.example.com,se_1."}},
		"pending for new content":                           {[]change{newContent, pending}, []string{summaryCanResume + ": job se_2"}},
		"pending for new content, running":                  {[]change{newContent, pending, running}, []string{summaryAbandons + ": job se_1", summaryCanResume + ": job se_2"}},
		"pending for other content, running":                {[]change{newContent, pendingOther, running}, []string{summaryAbandons + ": job se_1", summaryAbandons + ": job se_3"}},
		"pending for other content than the job's, no link": {[]change{pendingOther, running}, []string{summaryCanResume + ": job se_1"}},
		"missing":                            {[]change{missing}, []string{summaryMissing + ": job se_1", "This plan exports the site again."}},
		"bundle missing":                     {[]change{noBundle}, []string{summaryMissing + ": job se_1", "This plan tries again to create a link, for up to 30 seconds, and exports the site again only if the service still cannot find the bundle."}},
		"lost private state":                 {[]change{lost, due}, nil},
		"lost private state, then an update": {[]change{lost, func(s *situation) { s.life.updated() }, newContent}, []string{summaryLostNotes + ": job se_1"}},
		"lost private state, then a job":     {[]change{lost, pendingOther, newContent}, []string{summaryAbandons + ": job se_3"}},
		"lost private state, new content":    {[]change{lost, newContent}, []string{summaryLostNotes + ": job se_1", "This plan may start another job.\n\nBefore you apply the plan, look for an unfinished job"}},
		"lost private state, bundle missing": {[]change{lost, noBundle}, []string{summaryLostNotes + ": job se_1", "This plan may start another job.", summaryMissing + ": job se_1", "This plan tries again to create a link"}},
		"lost private state, no link":        {[]change{running, lost, newContent}, []string{summaryLostNotes + ": job se_1"}},
		"bundle missing, pending for other":  {[]change{noBundle, pendingOther}, []string{summaryAbandons + ": job se_3", "so this plan does not resume it.", summaryMissing + ": job se_1", "This plan tries again to create a link"}},
		"bundle missing, unknown content":    {[]change{noBundle, unknown}, []string{summaryMissing + ": job se_1", "This plan may export the site again."}},
		"missing without a link":             {[]change{running, missing}, []string{summaryMissing + ": job se_1"}},
		"missing, its replacement pending":   {[]change{missing, pending}, []string{summaryCanResume + ": job se_2", summaryMissing + ": job se_1", "This plan resumes job se_2."}},
		"missing, new content":               {[]change{missing, newContent}, nil},
		"missing, unknown content":           {[]change{missing, unknown}, []string{summaryMissing + ": job se_1", "This plan may export the site again."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := completedExport()
			for _, change := range test.changes {
				change(&s)
			}
			var diags diag.Diagnostics
			warnAboutPlan(s.life.nextSteps(s.plan.goal(), s.life.linkDue(startOfTime, s.plan.goal())), &s.life, s.plan.goal(), &diags)
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

func TestFailureOfAnExportSaysWhatIsKnownAndHowToResume(t *testing.T) {
	t.Parallel()
	refusal, missing, lost, timeout := &client.APIError{}, &client.APIError{}, &client.ConnectionError{Sent: true}, &timeoutError{time.Hour, "update"}
	refusal.StatusCode, missing.StatusCode = 422, 404
	forbidden := &client.APIError{}
	forbidden.StatusCode = 403
	noID := &client.UnexpectedResponseError{Problem: "the response has no field \"jobId\""}
	page := &client.UnexpectedResponseError{NotJSON: true, Problem: "the body is a web page"}
	const (
		create, update = true, false

		noJob     = "No job was started for docs.example.com.\n\n"
		inDoubt   = "A job may have been started for docs.example.com, but its ID was not received.\n\n"
		look      = "Before you run \"terraform apply\" again, look in the service's dashboard for a job that this run may have started. See \"A job may have been started\" in " + errorsPage + "."
		unread    = "The provider could not read the status of job se_1, which may still be running.\n\n"
		noLink    = "Job se_1 completed, but no link was received.\n\n"
		request   = "The request was for job se_1.\n\n"
		lookForIt = "Check base_url and the API key, and look for job se_1 in the service's dashboard. "
		increase  = "If the operation normally takes longer, increase timeouts.update. "
	)
	job := func(status string) *client.StaticExportJob {
		return &client.StaticExportJob{ID: "se_1", Status: status}
	}
	failed, running := job(client.JobFailed), job("running")
	failed.Error = "see https://h/?token=abcdef"
	running.Progress, running.PageCount = new(40.5), new(int64(3))
	for name, test := range map[string]struct {
		stage   exportStage
		job     *client.StaticExportJob
		cause   error
		creates bool
		summary string
		says    string // after what is said of the cause
	}{
		"start whose response was lost":  {stageStart, nil, lost, create, summaryStartFailed, inDoubt + look},
		"start that a web page answered": {stageStart, nil, page, create, summaryStartFailed, inDoubt + wrongBaseURL + " " + look},
		"start without an ID":            {stageStart, nil, noID, create, summaryStartFailed, inDoubt + explain(noID).advice + " " + look},
		"start of an unknown domain":     {stageStart, nil, missing, create, summaryStartFailed, noJob + "Check that the organization of the API key owns the domain, and that base_url (https://docs.test/v1) is the base URL of the API with its version segment."},
		"refused start":                  {stageStart, nil, refusal, create, summaryStartFailed, noJob + badRequest},
		"forbidden start":                {stageStart, nil, forbidden, create, summaryStartFailed, noJob + explainExport(forbidden).advice},
		"forbidden renewal":              {stageRenewal, nil, forbidden, update, summaryRenewalFailed, request + adviceByStatus[403] + " " + nextTry}, // the subscription was enough for the export
		"failed job":                     {stagePoll, failed, nil, create, summaryJobFailed, "Job se_1 ended with status \"failed\". The service's message: see https://h/?(redacted).\n\nFix the site, then run \"terraform apply\" again, which starts another job."},
		"interrupted poll of a create": {stagePoll, nil, context.Canceled, create, summaryExportInterrupted, unread + "To resume this job, run \"terraform apply\" again. " +
			"If the plan shows the resource as tainted, do not apply the plan. First run \"terraform untaint ADDRESS\" for this resource."},
		"interrupted first link":          {stageLink, nil, context.Canceled, update, summaryExportInterrupted, noLink + resumeByApply},
		"interrupted renewal":             {stageRenewal, nil, context.Canceled, update, summaryRenewalFailed, request + "The next apply tries again."},
		"refused first link of a create":  {stageLink, nil, refusal, create, summaryLinkFailed, noLink + badRequest + " To resume this job instead of starting another one, run \"terraform untaint ADDRESS\" for this resource, then run \"terraform apply\" again."},
		"refused first link of an update": {stageLink, nil, refusal, update, summaryLinkFailed, noLink + badRequest + " " + resumeByApply + " To start another one instead, change triggers."},
		"refused renewal":                 {stageRenewal, nil, refusal, update, summaryRenewalFailed, request + badRequest + " " + nextTry},
		"missing bundle of a renewal":     {stageRenewal, nil, missing, update, summaryRenewalFailed, request + lookForIt + "If the service still cannot find the job or its bundle, the next apply exports the site again."},
		"missing job":                     {stagePoll, nil, missing, update, summaryJobNotFound, request + lookForIt + ifStillMissing},
		"missing bundle of a create":      {stageLink, nil, missing, create, summaryLinkFailed, noLink + lookForIt + resumeByUntaint + " " + ifStillMissing},
		"lost polls":                      {stagePoll, nil, lost, update, summaryExportFailed, unread + explain(lost).advice + " " + resumeByApply},
		"timeout": {
			stagePoll, running, timeout, update, summaryExportTimedOut,
			"Job se_1 had status \"running\" when last checked (progress 40.5, page count 3). It may still be running.\n\n" + increase + resumeByApply,
		},
		"timeout of a create":                   {stagePoll, nil, timeout, create, summaryExportTimedOut, unread + resumeByUntaint + " The resumed export is limited by timeouts.update, not by timeouts.create. If necessary, increase timeouts.update."},
		"timeout of the first link of a create": {stageLink, nil, timeout, create, summaryLinkFailed, noLink + resumeByUntaint + " " + resumedTimeout},
		"timeout with an undocumented status": {
			stagePoll, job("canceled"), timeout, update, summaryExportTimedOut,
			"Job se_1 had status \"canceled\" when last checked. The status is undocumented, so the provider treats the job as running.\n\n" +
				"To see whether the job has ended, look for job se_1 in the service's dashboard. " + resumeByApply,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := client.New(client.Config{BaseURL: "https://docs.test/v1", APIKey: "docs_1"})
			if err != nil {
				t.Fatal(err)
			}
			run := exportRun{client: c, creates: test.creates, goal: exportGoal{inputs: exportInputs{Domain: "docs.example.com"}}}
			summary, got := run.fail(test.stage, "se_1", test.job, test.cause).describe(c)
			what := ""
			if test.cause != nil {
				what = explain(test.cause).what
			}
			if said, want := paragraphs(got.what, got.advice), paragraphs(what, test.says); summary != test.summary || said != want {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", summary, said, test.summary, want)
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
		keptWith          time.Duration
	}{
		"that works":                       {exportLink{ExpiresAt: hours(1)}, "59m", renewOnExpiry, []string{"nothing"}, 0},
		"of unknown expiry":                {exportLink{}, "0s", renewNever, []string{summaryUnknownExpiry + ": job se_1", "expires_at is null and the provider does not renew the link."}, 0},
		"that expired before it arrived":   {exportLink{ExpiresAt: hours(-1)}, "2h", renewOnExpiry, []string{summaryExpiredLink + ": job se_1", "The next apply renews it.", "Check this machine's clock."}, 0},
		"whose lifetime is renew_before":   {exportLink{ExpiresAt: hours(1)}, "1h", renewOnExpiry, []string{summaryLongRenewBefore + ": job se_1", "The link expires 1h after it was received", "The provider renews it 30m before it expires instead.", "less often than every 1h"}, 0},
		"that the service keeps, the same": {exportLink{ExpiresAt: hours(1)}, "1h", renewOnExpiry, []string{"nothing"}, time.Hour},
		"which is never renewed":           {exportLink{ExpiresAt: hours(-1)}, "1h", renewNever, []string{"nothing"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			plan := staticExportModel{LinkRenewal: types.StringValue(test.mode), RenewBefore: types.StringValue(test.renewBefore)}
			run := exportRun{clock: clocktest.NewVirtual(startOfTime), goal: plan.goal(), life: &exportLife{JobID: "se_1", Link: test.link, exportNotes: exportNotes{LinkReceivedAt: startOfTime, KeptWith: test.keptWith}}, diags: &diags}
			run.warnAboutLink()
			said := ""
			for _, d := range diags {
				said += d.Summary() + "\n" + d.Detail()
			}
			wantPhrases(t, cmp.Or(said, "nothing"), test.want...)
		})
	}
}
