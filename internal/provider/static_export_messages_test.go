package provider

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// response returns the error of a response to a request.
func response(method, path string, status int) *client.APIError {
	return &client.APIError{Exchange: client.Exchange{Method: method, Path: path, StatusCode: status}}
}

func TestMessagesOfAFailedExport(t *testing.T) {
	t.Parallel()
	c, err := client.New(client.Config{BaseURL: "https://docs.test/v1", APIKey: "docs_1"})
	if err != nil {
		t.Fatal(err)
	}
	job := func(status string) *client.StaticExportJob {
		return &client.StaticExportJob{ID: "se_1", Status: status, Progress: new(40.5), PageCount: new(int64(3)), Error: "page /a is broken"}
	}
	start := func(status int) error { return response("POST", "/v1/static-export/jobs", status) }
	poll := func(status int) error { return response("GET", "/v1/static-export/jobs/se_1", status) }
	link := func(status int) error { return response("POST", "/v1/static-export/jobs/se_1/bundle", status) }
	page := &client.UnexpectedResponseError{Exchange: client.Exchange{Method: "POST", Path: "/static-export/jobs", StatusCode: 200}, Problem: "the body is a web page", NotJSON: true}
	lost := &client.ConnectionError{Method: "GET", Path: "/v1/static-export/jobs/se_1", Host: "docs.test", Sent: true, Reason: "EOF"}
	timeout := &timeoutError{time.Hour, "create"}
	first, due := []change{running}, []change{due}
	texts := map[string]string{}
	for name, test := range map[string]struct {
		state   []change // nil if there is none
		failure exportFailure
	}{
		"start, refused":                      {nil, exportFailure{stageStart, "docs.example.com", nil, start(403)}},
		"start, not found":                    {nil, exportFailure{stageStart, "docs.example.com", nil, start(404)}},
		"start, conflict":                     {nil, exportFailure{stageStart, "docs.example.com", nil, start(409)}},
		"start, in doubt":                     {[]change{}, exportFailure{stageStart, "docs.example.com", nil, start(503)}},
		"start, answered by a website":        {nil, exportFailure{stageStart, "docs.example.com", nil, page}},
		"start, interrupted":                  {nil, exportFailure{stageStart, "docs.example.com", nil, context.Canceled}},
		"job, failed":                         {first, exportFailure{stageJob, "se_1", job(client.JobFailed), nil}},
		"job, failed in place":                {due, exportFailure{stageJob, "se_1", job(client.JobFailed), nil}},
		"job, timed out":                      {first, exportFailure{stageJob, "se_1", job("running"), timeout}},
		"job, timed out in an unknown status": {first, exportFailure{stageJob, "se_1", job("canceled"), timeout}},
		"job, interrupted":                    {first, exportFailure{stageJob, "se_1", job("running"), context.Canceled}},
		"job, interrupted before it was read": {[]change{noExpiry}, exportFailure{stageJob, "se_1", nil, context.Canceled}},
		"job, missing":                        {first, exportFailure{stageJob, "se_1", nil, poll(404)}},
		"job, refused":                        {first, exportFailure{stageJob, "se_1", nil, poll(403)}},
		"job, lost connection":                {first, exportFailure{stageJob, "se_1", nil, lost}},
		"link, refused":                       {first, exportFailure{stageLink, "se_1", nil, link(409)}},
		"link, missing":                       {first, exportFailure{stageLink, "se_1", nil, link(404)}},
		"link, interrupted":                   {first, exportFailure{stageLink, "se_1", nil, context.Canceled}},
		"renewal, unavailable":                {due, exportFailure{stageRenewal, "se_1", nil, link(503)}},
		"renewal, missing":                    {[]change{}, exportFailure{stageRenewal, "se_1", nil, link(404)}},
		"renewal, interrupted":                {[]change{}, exportFailure{stageRenewal, "se_1", nil, context.Canceled}},
	} {
		var export *storedExport
		if test.state != nil {
			export = completedExport(test.state).export
		}
		summary, detail := test.failure.describe(c, export, startOfTime.Add(time.Minute))
		texts[name] = summary + "\n" + detail
	}
	wantTexts(t, "failed_export.txt", texts)
}

// The CLI shows only one of several warnings that have the same first line, which therefore names
// the job.
func TestWarningsOfAPlan(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for name, changes := range map[string][]change{
		"new content": {newContent},
		"due, of a job with an undocumented status":                         {due, func(s *situation) { s.export.Status = types.StringValue("archived") }},
		"first export, running":                                             {running},
		"first export, completed since":                                     {unlinked},
		"first export, running, unknown content":                            {running, unknownValue},
		"first export, running, new content":                                {running, newContent},
		"first export, running, missing":                                    {running, noJob},
		"first export, failed":                                              {unlinked, failed},
		"imported":                                                          {imported, noTriggers, noParameters},
		"imported, with inputs":                                             {imported},
		"imported, another domain":                                          {imported, otherDomain},
		"imported, another domain, whose job is pending":                    {imported, otherDomain, pending},
		"pending for new content":                                           {newContent, pending},
		"pending for new content, after a first export that did not finish": {running, newContent, pending},
		"pending for other content":                                         {pendingOther},
		"pending for other content than the new":                            {running, newContent, pendingOther},
		"pending, unknown content":                                          {pendingOther, unknownMap},
		"missing":                                                           {noJob},
		"missing bundle, pending for other content":                         {noBundle, pendingOther},
		"missing, unknown content":                                          {noJob, unknownMap},
		"missing, its replacement pending":                                  {noJob, pending},
		"missing, new content":                                              {noJob, newContent},
	} {
		s, diags := completedExport(changes), diag.Diagnostics{}
		wanted := s.plan.wanted()
		warnAboutUpdate(s.export.nextStep(wanted, s.export.linkDue(startOfTime, wanted)), s.export, wanted, &diags)
		texts[name] = textOf(diags)
	}
	var diags diag.Diagnostics
	warnAboutUnfinishedJob("se_1", &diags)
	texts["refresh of a first export that did not finish"] = textOf(diags)
	wantTexts(t, "plan_of_export.txt", texts)
}

func TestWarningsOfANewLink(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for name, test := range map[string]struct {
		changes    []change
		unreadable string
	}{
		"that works":                             {nil, ""},
		"of unknown expiry":                      {[]change{noExpiry, never}, ""},
		"of unreadable expiry":                   {[]change{noExpiry}, "next Friday"},
		"that the service has kept":              {[]change{early, kept}, ""},
		"that is due at once":                    {[]change{early}, ""},
		"that has expired":                       {[]change{due}, ""},
		"that has expired, and is never renewed": {[]change{due, never}, ""},
	} {
		s, diags := completedExport(test.changes), diag.Diagnostics{}
		warnAboutLink(s.export, test.unreadable, s.plan.wanted(), startOfTime, &diags)
		texts[name] = textOf(diags)
	}
	wantTexts(t, "link_of_export.txt", texts)
}
