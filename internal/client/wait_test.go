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
	for name, test := range map[string]struct {
		spec     simulator.JobSpec
		rewrite  func(poll int, body map[string]any)
		patience Patience
		polls    []float64
		want     string // the last job
		err      string
		logged   string
	}{
		"through its progress": {
			spec: simulator.JobSpec{Queue: 20 * second, Run: 20 * second}, polls: []float64{0, 10, 20, 30, 40},
			want:   completed,
			logged: "INFO Progress map[page_count:0 progress:0 status:queued work:static export job se_1]",
		},
		"that fails": {
			spec: simulator.JobSpec{Fail: "page /a is broken"}, polls: []float64{0, 10, 20},
			want: `{"ID":"se_1","Status":"failed","PageCount":2,"Error":"page /a is broken"}`,
		},
		"whose status is unknown": {
			spec: simulator.JobSpec{RunningStatus: "packing " + simulator.DefaultAPIKey, Run: 25 * second}, polls: []float64{0, 10, 20, 30}, want: completed,
			logged: "WARN Unknown status; treating the work as still running map[page_count:1 progress:32 status:packing (redacted) work:static export job se_1]",
		},
		"whose progress appears and page count disappears": {
			spec: simulator.JobSpec{Queue: noTime, Run: 20 * second}, rewrite: func(poll int, body map[string]any) {
				body[map[bool]string{true: "progress", false: "pageCount"}[poll == 1]] = simulator.Omit
			},
			polls: []float64{0, 10, 20}, want: `{"ID":"se_1","Status":"completed","Progress":100,"PageCount":0}`,
			logged: "INFO Progress map[page_count:0 progress:50 status:running work:static export job se_1]",
		},
		"that shows no progress": {
			spec: simulator.JobSpec{Queue: 10 * second, Run: 20 * second}, rewrite: func(_ int, body map[string]any) {
				body["progress"], body["pageCount"] = simulator.Omit, simulator.Omit
			},
			polls: []float64{0, 10, 20, 30}, want: `{"ID":"se_1","Status":"completed"}`,
			logged: "INFO Progress map[status:running work:static export job se_1]",
		},
		"whose progress stops": {
			spec: simulator.JobSpec{Queue: noTime, Run: 20 * second}, rewrite: func(_ int, body map[string]any) { body["progress"] = 50 },
			polls: []float64{0, 10, 20}, want: `{"ID":"se_1","Status":"completed","Progress":50,"PageCount":6}`,
			logged: "INFO Progress map[page_count:3 progress:50 status:running work:static export job se_1]",
		},
		"whose response breaks the contract": {
			rewrite: func(_ int, body map[string]any) { body["status"] = simulator.Omit },
			polls:   []float64{0}, want: "null", err: `the response has no field "status"`,
		},
		"whose response breaks the contract for a moment": {
			patience: Patient,
			rewrite: func(poll int, body map[string]any) {
				if poll == 2 {
					body["status"] = simulator.Omit
				}
			},
			polls: []float64{1, 11, 11.5, 21.5}, want: completed,
			logged: `WARN Unusable response map[error:HTTP 200 OK for GET /v1/static-export/jobs/se_1 (request ID req_0000000000000002), but the response has no field "status"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inSimulation(t, func(t *testing.T, w *simulation) {
				test.spec.ID = "se_1"
				w.AddJob(test.spec)
				if test.rewrite != nil {
					w.Rewrite(func(_ string, body map[string]any) any {
						test.rewrite(w.Count(simulator.EndpointJob), body)
						return body
					})
				}
				job, err := w.WaitForStaticExport(bounded(t, time.Hour), "se_1", 10*second, test.patience)
				if got := w.polls(simulator.EndpointJob); !slices.Equal(got, test.polls) || outcome(job) != test.want {
					t.Errorf("polls at %v end with %s, want %v and %s", got, outcome(job), test.polls, test.want)
				}
				if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("the error is %v, want %q", err, test.err)
				}
				progress := slices.DeleteFunc(w.logged.above(), func(line string) bool { return strings.Contains(line, "API request") })
				if len(slices.Compact(slices.Clone(progress))) != len(progress) {
					t.Errorf("logged without a change:\n%s", strings.Join(progress, "\n"))
				}
				if warned := strings.Count(strings.Join(progress, "\n"), "WARN Unknown status"); warned != min(1, len(test.spec.RunningStatus)) {
					t.Errorf("%d warnings of a status:\n%s", warned, strings.Join(progress, "\n"))
				}
				if test.logged != "" && !slices.Contains(w.logged.above(), test.logged) {
					t.Errorf("logged\n%s\nwant %s", strings.Join(w.logged.above(), "\n"), test.logged)
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
	inSimulation(t, func(t *testing.T, w *simulation) {
		if update, err := w.WaitForUpdate(bounded(t, time.Hour), "up_1", 0, nil); update != nil || !IsNotFound(err) {
			t.Errorf("an unknown update: %s, %v", show(update), err)
		}
	})
}
