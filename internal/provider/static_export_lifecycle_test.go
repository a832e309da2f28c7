// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// revision is the configuration of an export of some content.
func revision(content string) map[string]any {
	return map[string]any{
		"domain":   "docs.example.com",
		"triggers": map[string]any{"revision": content},
		"timeouts": map[string]any{"update": "5m"},
	}
}

func newExport(t *testing.T, options simulator.Options) (*harness, *instance) {
	t.Helper()
	h := newHarness(t, options)
	return h, h.newProtocol(t).newInstance("docs_static_export")
}

// wantDone checks that a refresh and a plan have nothing to say and to do.
func (i *instance) wantDone(t *testing.T, arguments map[string]any) {
	t.Helper()
	if said := i.refresh(t); said != "" {
		t.Errorf("the refresh says %s", said)
	}
	if plan, said := i.plan(t, arguments); !plan.empty(i) || said != "" {
		t.Errorf("the plan is not empty, or says %q", said)
	}
}

func TestNewContentIsResumedEvenIfTheOldJobIsForgotten(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{})
	export.apply(t, revision("1"))
	h.NextJob(simulator.JobSpec{Run: 8 * time.Minute})
	export.apply(t, revision("2"))
	h.ForgetJob(h.JobIDs()[0])

	if said := export.refresh(t); !strings.Contains(said, "the next apply goes on with it") {
		t.Errorf("the refresh says %q", said)
	}
	export.apply(t, revision("2"))
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
	export.wantDone(t, revision("2"))
}

func TestExportWhoseFilesAreGoneIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*harness){
		"as the bundle request tells": func(h *harness) {
			h.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Path: "/static-export/jobs/" + h.JobIDs()[0] + "/bundle", Status: 410})
		},
		"as the job tells, which has failed after all": func(h *harness) {
			first := h.JobIDs()[0]
			h.AddFault(simulator.Fault{Endpoint: simulator.EndpointJob, Path: "/static-export/jobs/" + first, Status: 200, Body: `{"status":"failed","error":"files were lost"}`})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, export := newExport(t, simulator.Options{LinkLifetime: time.Hour})
			export.apply(t, revision("1"))
			h.clock.Advance(2 * time.Hour)
			lose(h)
			export.refresh(t)
			if said := export.apply(t, revision("1")); !strings.Contains(said, "The next apply exports anew.") {
				t.Errorf("the apply says %s", said)
			}
			export.refresh(t)
			export.apply(t, revision("1"))
			h.wantCounts(t, map[string]int{simulator.EndpointStart: 2})
			export.wantDone(t, revision("1"))
		})
	}
}

func TestFailingExportOfNewContentLetsTheOldLinkBeRenewed(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{LinkLifetime: time.Hour})
	export.apply(t, revision("1"))
	job := export.attributes(t)["job_id"]
	h.clock.Advance(2 * time.Hour)
	h.NextJob(simulator.JobSpec{Fail: "broken page"})
	if said := export.apply(t, revision("2")); !strings.Contains(said, "broken page") {
		t.Errorf("the apply says %s", said)
	}
	expires, err := time.Parse(time.RFC3339, export.attributes(t)["expires_at"].(string))
	if err != nil || !expires.After(h.clock.Now()) || export.attributes(t)["job_id"] != job {
		t.Errorf("the link expires at %v, now is %v", expires, h.clock.Now())
	}
}

func TestFailedRenewalSaysWhatIsTrue(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{LinkLifetime: time.Hour})
	export.apply(t, revision("1"))
	h.clock.Advance(2 * time.Hour)
	remove := h.AddFault(simulator.Fault{Endpoint: simulator.EndpointBundle, Status: 500})
	said := export.apply(t, revision("1"))
	if !strings.Contains(said, `last seen with status "completed"`) || !strings.Contains(said, "The state is unchanged.") {
		t.Errorf("the apply says %s", said)
	}
	remove()
	export.apply(t, revision("1"))
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
	export.wantDone(t, revision("1"))
}

func TestRenewalFollowsTheServicesClockOnEveryRunner(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{LinkLifetime: time.Hour})
	export.apply(t, revision("1"))
	h.clock.Advance(61 * time.Minute)
	// Another runner, half an hour behind, plans; the apply is a new process,
	// which has had no answer of the service yet.
	behind := func() *protocol {
		options := h.options()
		options.Clock = shiftedClock{h.clock, -30 * time.Minute}
		return h.newProtocolWith(t, options, nil)
	}
	export.protocol = behind()
	export.refresh(t)
	export.protocol = behind()
	if plan, _ := export.plan(t, revision("1")); plan.empty(export) {
		t.Error("the apply would not renew what the plan has shown")
	}
}

type shiftedClock struct {
	*simulator.VirtualClock
	by time.Duration
}

func (c shiftedClock) Now() time.Time { return c.VirtualClock.Now().Add(c.by) }

func TestTimeoutOfNothingStartsNothing(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{})
	arguments := revision("1")
	arguments["timeouts"] = map[string]any{"create": "0s"}
	if said := export.apply(t, arguments); !strings.Contains(said, "No job was started.") {
		t.Errorf("the apply says %s", said)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0})
}

func TestNoTriggersAndAnEmptyMapAreTheSameContent(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{})
	export.apply(t, map[string]any{"domain": "docs.example.com"})
	export.apply(t, map[string]any{"domain": "docs.example.com", "triggers": map[string]any{}})
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
}

func TestLinkOfANewJobIsNotTakenForTheOldOne(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{ExpiresAt: func(time.Time) any { return "2030-02-01T00:00:00Z" }})
	early := func(content string) map[string]any {
		arguments := revision(content)
		arguments["renew_before"] = "2h"
		return arguments
	}
	export.apply(t, early("1"))
	export.apply(t, early("2"))
	h.clock.Advance(11 * time.Hour)
	if plan, _ := export.plan(t, early("2")); plan.empty(export) {
		t.Error("renew_before is ignored")
	}
}

func TestExpiredLinkThatIsHandedOutAgainIsTold(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{LinkLifetime: time.Hour})
	var link, expires any
	h.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointBundle {
			if link == nil {
				link, expires = body["bundleUrl"], body["expiresAt"]
			}
			body["bundleUrl"], body["expiresAt"] = link, expires
		}
		return body
	})
	export.apply(t, revision("1"))
	h.clock.Advance(2 * time.Hour)
	if said := export.apply(t, revision("1")); !strings.Contains(said, "The service keeps an expired link") {
		t.Errorf("the apply says %q", said)
	}
}

func TestStatusThatIsNotFinalIsNotPlannedToStay(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{LinkLifetime: time.Hour})
	export.apply(t, revision("1"))
	h.Rewrite(func(endpoint string, body map[string]any) any {
		if endpoint == simulator.EndpointJob {
			body["status"] = "verifying"
		}
		return body
	})
	export.refresh(t)
	h.Rewrite(nil)
	arguments := revision("1")
	arguments["poll_interval"] = "5s"
	planned, _ := export.plan(t, arguments)
	h.clock.Advance(2 * time.Hour)
	if said := export.applyPlan(t, planned); said != "" {
		t.Errorf("the apply says %s", said)
	}
}

func TestJobOfContentThatWasGivenUpIsNotTakenUpLater(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{LinkLifetime: time.Hour})
	export.apply(t, revision("1"))
	h.NextJob(simulator.JobSpec{Run: 10 * time.Minute})
	export.apply(t, revision("2"))
	h.clock.Advance(720 * time.Hour)
	export.apply(t, revision("1")) // renews the link of the first
	export.apply(t, revision("2"))
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 3})
}

func TestPageNotFoundOnTheWayForgetsNothing(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{})
	export.apply(t, revision("1"))
	h.AddFault(simulator.Fault{
		Endpoint: simulator.EndpointJob, Times: 1, Status: http.StatusNotFound,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html><title>404 Not Found</title></html>",
	})
	if said := export.refresh(t); !strings.Contains(said, "Check the id") || !export.exists() {
		t.Errorf("the refresh says %q", said)
	}
	export.wantDone(t, revision("1"))
}

func TestUncertainStartIsNotAdvisedToBeRepeatedBlindly(t *testing.T) {
	t.Parallel()
	h, export := newExport(t, simulator.Options{})
	h.AddFault(simulator.Fault{Endpoint: simulator.EndpointStart, Status: http.StatusBadGateway, Acts: true})
	said := export.apply(t, revision("1"))
	if !strings.Contains(said, "The service may have started a job all the same") || strings.Contains(said, "Wait a while and apply again") {
		t.Errorf("the apply says %s", said)
	}
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 1})
}

func TestChecksumThatIsNotKnownYetIsCheckedByTheApply(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	id := h.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour)})
	download := h.newProtocol(t).newInstance("docs_bundle_download")
	arguments := map[string]any{"job_id": id, "path": filepath.Join(t.TempDir(), "bundle.tar.gz")}
	download.apply(t, arguments)

	arguments["sha256"] = tftypes.UnknownValue
	planned, _ := download.plan(t, arguments)
	if planned.empty(download) || download.members(t, planned.planned)["size_bytes"].IsKnown() {
		t.Error("the plan takes the checksum of the state for the one that is not known")
	}
	arguments["sha256"] = strings.Repeat("0", 64)
	if said := download.apply(t, arguments); !strings.Contains(said, "Checksum of the bundle does not match") {
		t.Errorf("the apply says %q", said)
	}
}

func TestDownloadWhoseArchiveIsReplacedStillKnowsItsFiles(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{})
	good := h.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour)})
	bad := h.AddJob(simulator.JobSpec{StartedAt: startOfTime.Add(-time.Hour), Archive: []byte("no archive")})
	folder := t.TempDir()
	download := h.newProtocol(t).newInstance("docs_bundle_download")
	arguments := map[string]any{"job_id": good, "path": filepath.Join(folder, "bundle"), "extract_to": filepath.Join(folder, "site")}
	download.apply(t, arguments)
	arguments["job_id"] = bad
	if said := download.apply(t, arguments); !strings.Contains(said, "the directory is as it was before") {
		t.Errorf("the apply says %s", said)
	}
	arguments["job_id"] = good
	download.refresh(t)
	if said := download.apply(t, arguments); said != "" {
		t.Errorf("the way back says %s", said)
	}
	if said := download.destroy(t); said != "" {
		t.Errorf("destroy says %s", said)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) > 0 {
		t.Errorf("destroy left %v (%v)", left, err)
	}
}
