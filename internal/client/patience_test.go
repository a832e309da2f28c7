package client

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// exportTo runs all requests of an export in one operation, and downloads its bundle.
func exportTo(ctx context.Context, o *Operation, to Destination) error {
	job, err := o.StartStaticExport(ctx, `{"domain":"docs.example.com"}`)
	if err == nil {
		job, err = o.WaitForStaticExport(ctx, job.ID, 0)
	}
	if err == nil && !job.Succeeded() {
		err = fmt.Errorf("the job ended with %s", job.Status)
	}
	if err == nil {
		_, err = o.GenerateBundle(ctx, job.ID)
	}
	if err == nil {
		err = o.DownloadBundle(ctx, job.ID, to)
	}
	return err
}

// TestSlowServiceCostsOnlyTime has the ways in which a service takes its time for the first response or the last link.
func TestSlowServiceCostsOnlyTime(t *testing.T) {
	const start, job, bundle, store = "start", "job", "bundle", "store"
	type row struct {
		endpoint string
		faulty   time.Duration // for how long, from the first request of the endpoint
		fault    http.HandlerFunc
		links    int    // how many are asked for; zero: any number
		err      string // part of it
	}
	part, whole := cuts(3000, content, `"v1"`), sends(content, `"v1"`)
	refused := reply(403, `{"error":"secondary rate limit"}`, "Retry-After: 40")
	inBubbles(t, map[string]row{
		"a start that is answered late": {start, 1, late(75*second, reply(202, `{"jobId":"se_1"}`)), 0, ""},
		"an outage after the start":     {job, 75 * second, reply(503, ""), 0, ""},
		"a refused start that asks":     {start, 39 * second, refused, 0, ""},
		"a refused poll that asks":      {job, 39 * second, refused, 0, ""},
		"a refused link that asks":      {bundle, 39 * second, refused, 3, ""},
		"a link that is accepted first": {bundle, 2 * time.Minute, reply(202, `{"status":"packaging"}`), 59, ""},
		"a link that is null at first":  {bundle, 75 * second, reply(202, `{"bundleUrl":null}`, "Retry-After: 25"), 5, ""},
		"a link that has no body yet":   {bundle, 75 * second, reply(202, ""), 0, ""},
		"a link that is in conflict":    {bundle, 75 * second, reply(409, `{"error":"bundle is being packaged"}`), 0, ""},
		"an outage at the link":         {bundle, 75 * second, reply(503, ""), 0, ""},
		"a gateway that gives up":       {bundle, 120 * second, late(40*second, reply(504, "<html>")), 0, ""},
		"a link that is answered late":  {bundle, time.Hour, late(75*second, reply(200, `{"bundleUrl":"http://store.test/b"}`)), 0, ""},
		"an outage after some bytes":    {store, 75 * second, inTurn(part, reply(503, "<Error><Code>SlowDown</Code></Error>")), 0, ""},

		"but an outage has an end":         {bundle, time.Hour, reply(503, ""), 0, "HTTP 503"},
		"but a job may end without a link": {job, 1, reply(200, `{"status":"cancelled"}`), 0, "the job ended with cancelled"},
		"but a link may never come": {
			bundle, 24 * time.Hour, reply(202, `{"status":"packaging"}`), 297,
			"context deadline exceeded; in the last attempt, the service returned HTTP 202 Accepted for POST /v1/static-export/jobs/se_1/bundle, " +
				"but the bundle is not ready yet",
		},
	}, func(t *testing.T, test row) {
		var since time.Time
		starts, links := 0, 0
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			endpoint, respond := job, reply(200, `{"status":"completed"}`)
			switch {
			case r.Host == "store.test":
				endpoint, respond = store, whole
			case strings.HasSuffix(r.URL.Path, "/bundle"):
				endpoint, respond = bundle, reply(200, `{"bundleUrl":"http://store.test/b"}`)
				links++
			case r.Method == http.MethodPost:
				endpoint, respond = start, reply(202, `{"jobId":"se_1"}`)
				starts++
			}
			if endpoint == test.endpoint {
				if since.IsZero() {
					since = time.Now()
				}
				if time.Since(since) < test.faulty {
					respond = test.fault
				}
			}
			respond(w, r)
		})
		to := &memory{}
		err := exportTo(bounded(t, time.Hour), c.Begin(), to)
		if test.err == "" && (err != nil || !bytes.Equal(to.Bytes(), content)) || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("received %d bytes, %v; want %q", to.Len(), err, test.err)
		}
		wantStarts := 1
		if test.endpoint == start && test.faulty > second {
			wantStarts = 2 // the first one was refused
		}
		if starts != wantStarts || test.links > 0 && links != test.links {
			t.Errorf("%d starts and %d requests for a link, want %d and %d", starts, links, wantStarts, test.links)
		}
	})
}
