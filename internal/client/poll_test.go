package client

import (
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// polled returns a service whose responses have these bodies in turn.
func polled(bodies []string) http.HandlerFunc {
	var handlers []http.HandlerFunc
	for _, body := range bodies {
		handlers = append(handlers, reply(200, body))
	}
	return inTurn(handlers...)
}

// times returns when the requests were received, in seconds.
func (s *service) times() (times []float64) {
	for _, r := range s.received() {
		times = append(times, r.at.Seconds())
	}
	return times
}

func TestWaitForAJob(t *testing.T) {
	const (
		queued, half = `{"status":"queued","progress":0,"pageCount":0}`, `{"status":"running","progress":50,"pageCount":3}`
		completed    = `{"status":"completed","progress":100,"pageCount":6}`
		whole        = `{"ID":"se_1","Status":"completed","Progress":100,"PageCount":6}`
		unusable     = "WARN Unusable response map[error:the service returned HTTP 200 OK for GET /v1/static-export/jobs/se_1, " +
			`but the response has no field "status"]`
	)
	progress := func(fields string) string { return "INFO Progress map[" + fields + " work:static export job se_1]" }
	ended := progress("page_count:6 progress:100 status:completed")
	type row struct {
		bodies []string
		polls  []float64
		want   string // the last job
		logged []string
	}
	inBubbles(t, map[string]row{
		"through its progress": {
			[]string{queued, queued, half, half, completed},
			[]float64{0, 10, 20, 30, 40},
			whole,
			[]string{progress("page_count:0 progress:0 status:queued"), progress("page_count:3 progress:50 status:running"), ended},
		},
		"that fails": {
			[]string{`{"status":"running","pageCount":2}`, `{"status":"failed","error":"page /a is broken"}`},
			[]float64{0, 10},
			`{"ID":"se_1","Status":"failed","PageCount":2,"Error":"page /a is broken","Message":"page /a is broken"}`,
			[]string{progress("page_count:2 status:running"), progress("page_count:2 status:failed")},
		},
		"whose status is unknown": {
			[]string{`{"status":"packing ` + testKey + `"}`, `{"status":"packing ` + testKey + `","progress":1}`, completed},
			[]float64{0, 10, 20},
			whole,
			[]string{
				"WARN Unknown status; treating the work as still running map[status:packing (redacted) work:static export job se_1]",
				progress("progress:1 status:packing (redacted)"),
				ended,
			},
		},
		"whose page count rises alone": {
			[]string{half, `{"status":"running","progress":50,"pageCount":4}`, completed},
			[]float64{0, 10, 20},
			whole,
			[]string{progress("page_count:3 progress:50 status:running"), progress("page_count:4 progress:50 status:running"), ended},
		},
		"whose response breaks the contract": {[]string{"{}"}, []float64{0}, "null", []string{unusable}},
		"whose response breaks the contract for a moment": {
			[]string{half, "{}", completed},
			[]float64{0, 10, 10.5},
			whole,
			[]string{progress("page_count:3 progress:50 status:running"), unusable, ended},
		},
	}, func(t *testing.T, test row) {
		c, s := serve(t, polled(test.bodies))
		job, err := c.Begin().WaitForStaticExport(bounded(t, time.Hour), "se_1", 10*second)
		if !slices.Equal(s.times(), test.polls) || show(job) != test.want || (err == nil) != (job != nil) {
			t.Errorf("polls at %v end with %s, %v; want %v and %s", s.times(), show(job), err, test.polls, test.want)
		}
		if logged := s.logged.above(); !slices.Equal(logged, test.logged) {
			t.Errorf("logged\n%s\nwant\n%s", strings.Join(logged, "\n"), strings.Join(test.logged, "\n"))
		}
	})
}

// The contract promises the page count only while the job runs.
func TestWaitKeepsWhatTheLastPollOmits(t *testing.T) {
	notKept := []string{"Progress", "CreatedAt", "Error", "Message"} // which nobody needs of a job that has completed
	bubble(t, func(t *testing.T) {
		c, _ := serve(t, polled([]string{
			`{"status":"running","progress":50,"pageCount":3,"createdAt":"2026-03-01T12:00:00Z","error":"none"}`, `{"status":"completed"}`,
		}))
		job, err := c.Begin().WaitForStaticExport(bounded(t, time.Hour), "se_1", 0)
		if err != nil {
			t.Fatal(err)
		}
		for field, value := range reflect.ValueOf(*job).Fields() {
			if field.IsExported() && value.IsZero() && !slices.Contains(notKept, field.Name) {
				t.Errorf("%s is lost if the last poll omits it: keep it in WaitForStaticExport, and add it to the first body here, or to notKept", field.Name)
			}
		}
	})
}

func TestWaitForAnUpdate(t *testing.T) {
	const unknown = "WARN Unknown status; treating the work as still running map[status:completed work:update up_1]"
	inBubbles(t, map[string][]string{ // the statuses of the polls
		"that succeeds":           {"queued", "in_progress", "in_progress", "success"},
		"that fails":              {"failure"},
		"whose status is a job's": {"completed", "success"},
	}, func(t *testing.T, statuses []string) {
		var bodies, seen []string
		for _, status := range statuses {
			bodies = append(bodies, `{"status":"`+status+`"}`)
		}
		c, s := serve(t, polled(bodies))
		update, err := c.Begin().WaitForUpdate(bounded(t, time.Hour), "up_1", 10*second, func(u *UpdateStatus) { seen = append(seen, u.Status) })
		took := time.Since(s.began)
		if err != nil || took != time.Duration(len(bodies)-1)*10*second || !slices.Equal(seen, slices.Compact(statuses)) || update.Status != seen[len(seen)-1] {
			t.Errorf("%v, polls at %v see %q; want %q", err, s.times(), seen, statuses)
		}
		if logged := s.logged.above()[0]; (logged == unknown) != (seen[0] == "completed") {
			t.Errorf("logged %q", logged)
		}
	})
}

func TestStatusThatNamesAnEndIsOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../templates/index.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "A job or an update has failed if its status is ")
	list, _, _ = strings.Cut(strings.NewReplacer(", or ", ", ", "`", "").Replace(list), ".")
	if named := strings.Split(list, ", "); !slices.Equal(named, failedStatuses) {
		t.Errorf("templates/index.md.tmpl names %q, and status.go %q", named, failedStatuses)
	}
	for _, status := range failedStatuses {
		job, update := StaticExportJob{Status: status}, UpdateStatus{Status: status}
		if !job.Finished() || job.Succeeded() || !update.Finished() || update.Succeeded() {
			t.Errorf("%q is not the end of a job, or of an update", status)
		}
	}
}

func TestRetryAfterOfAPollIsAdvice(t *testing.T) {
	for call, end := range map[string]string{"wait": "completed", "wait for an update": "success"} {
		bubble(t, func(t *testing.T) {
			running := reply(200, `{"status":"running"}`, "Retry-After: 60")
			c, s := serve(t, inTurn(running, reply(200, `{"status":"`+end+`"}`)))
			if _, err := calls[call](bounded(t, 25*second), c.Begin()); err != nil || !slices.Equal(s.times(), []float64{0, 20}) {
				t.Errorf("%s: %v after polls at %v", call, err, s.times())
			}
		})
	}
}
