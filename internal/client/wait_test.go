package client

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestWaitForAJob(t *testing.T) {
	const completed = `{"ID":"se_1","Status":"completed","Progress":100,"PageCount":6}`
	type body = map[string]any
	running := simulator.JobSpec{Queue: noTime, Run: 20 * second}
	for name, test := range map[string]struct {
		spec    simulator.JobSpec
		rewrite func(poll int, body body)
		polls   []float64
		want    string // the last job
		logged  string
	}{
		"through its progress": {
			simulator.JobSpec{Queue: 20 * second, Run: 20 * second},
			func(int, body) {},
			[]float64{0, 10, 20, 30, 40},
			completed,
			"INFO Progress map[page_count:0 progress:0 status:queued work:static export job se_1]",
		},
		"that fails": {
			simulator.JobSpec{Fail: "page /a is broken"},
			func(int, body) {},
			[]float64{0, 10, 20},
			`{"ID":"se_1","Status":"failed","PageCount":2,"Error":"page /a is broken"}`, "INFO Progress map[page_count:2 status:failed work:static export job se_1]",
		},
		"whose status is unknown": {
			simulator.JobSpec{RunningStatus: "packing " + simulator.DefaultAPIKey, Run: 25 * second},
			func(int, body) {},
			[]float64{0, 10, 20, 30},
			completed,
			"WARN Unknown status; treating the work as still running map[page_count:1 progress:32 status:packing (redacted) work:static export job se_1]",
		},
		"whose progress appears and page count disappears": {
			running, func(poll int, body body) {
				body[map[bool]string{true: "progress", false: "pageCount"}[poll == 1]] = simulator.Omit
			},
			[]float64{0, 10, 20},
			`{"ID":"se_1","Status":"completed","Progress":100,"PageCount":0}`,
			"INFO Progress map[page_count:0 progress:50 status:running work:static export job se_1]",
		},
		"whose progress stops": {
			running, func(_ int, body body) { body["progress"], body["pageCount"] = 50, simulator.Omit },
			[]float64{0, 10, 20},
			`{"ID":"se_1","Status":"completed","Progress":50}`,
			"INFO Progress map[progress:50 status:running work:static export job se_1]",
		},
		"whose response breaks the contract": {
			running, func(_ int, body body) { body["status"] = simulator.Omit },
			[]float64{0},
			"null",
			`WARN Unusable response map[error:the service returned HTTP 200 OK for GET /v1/static-export/jobs/se_1 (request ID req_0000000000000001), but the response has no field "status"]`,
		},
		"whose response breaks the contract for a moment": {
			simulator.JobSpec{},
			func(poll int, body body) {
				if poll == 2 {
					body["status"] = simulator.Omit
				}
			},
			[]float64{0, 10, 10.5, 20.5},
			completed,
			`WARN Unusable response map[error:the service returned HTTP 200 OK for GET /v1/static-export/jobs/se_1 (request ID req_0000000000000002), but the response has no field "status"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inSimulation(t, func(t *testing.T, w *simulation) {
				test.spec.ID = "se_1"
				w.AddJob(test.spec)
				w.Rewrite(func(_ string, body map[string]any) any {
					test.rewrite(w.Count(simulator.EndpointJob), body)
					return body
				})
				job, err := w.WaitForStaticExport(bounded(t, time.Hour), "se_1", 10*second)
				if got := w.polls(simulator.EndpointJob); !slices.Equal(got, test.polls) || outcome(job) != test.want || (err == nil) != (job != nil) {
					t.Errorf("polls at %v end with %s, %v; want %v and %s", got, outcome(job), err, test.polls, test.want)
				}
				progress := slices.DeleteFunc(w.logged.above(), func(line string) bool { return strings.Contains(line, "API request") })
				if len(slices.Compact(slices.Clone(progress))) != len(progress) || !slices.Contains(progress, test.logged) ||
					strings.Count(strings.Join(progress, "\n"), "WARN Unknown status") != min(1, len(test.spec.RunningStatus)) {
					t.Errorf("logged\n%s\nwant, once,\n%s", strings.Join(progress, "\n"), test.logged)
				}
			})
		})
	}
}

// outcome shows the fields of a job that a wait uses.
func outcome(job *StaticExportJob) string {
	if job == nil {
		return "null"
	}
	return show(StaticExportJob{ID: job.ID, Status: job.Status, Progress: job.Progress, PageCount: job.PageCount, Error: job.Error})
}

func TestWaitForAnUpdate(t *testing.T) {
	for name, test := range map[string]struct {
		spec  simulator.UpdateSpec
		polls []float64
		seen  []string
		warns string
	}{
		"that succeeds":           {simulator.UpdateSpec{Run: 20 * second}, []float64{0, 10, 20, 30}, []string{"queued", "in_progress", "success"}, ""},
		"that fails":              {simulator.UpdateSpec{Fail: "no"}, []float64{0, 10, 20}, []string{"queued", "in_progress", "failure"}, ""},
		"whose status is a job's": {simulator.UpdateSpec{RunningStatus: "completed"}, []float64{0, 10, 20}, []string{"queued", "completed", "success"}, "WARN Unknown status; treating the work as still running map[status:completed work:update up_1]"},
	} {
		inSimulation(t, func(t *testing.T, w *simulation) {
			test.spec.ID = "up_1"
			w.AddUpdate(test.spec)
			seen := []string{}
			update, err := w.WaitForUpdate(bounded(t, time.Hour), "up_1", 10*second, func(u *UpdateStatus) { seen = append(seen, u.Status) })
			if err != nil || !update.Finished() || update.Succeeded() != (test.spec.Fail == "") || !slices.Equal(seen, test.seen) || !slices.Equal(w.polls(simulator.EndpointUpdate), test.polls) {
				t.Errorf("%s: %v, polls at %v see %q; want %v and %q", name, err, w.polls(simulator.EndpointUpdate), seen, test.polls, test.seen)
			}
			warnings := slices.DeleteFunc(w.logged.above(), func(line string) bool { return !strings.HasPrefix(line, "WARN") })
			if got := strings.Join(warnings, "\n"); got != test.warns {
				t.Errorf("%s: warned %q, want %q", name, got, test.warns)
			}
		})
	}
}
