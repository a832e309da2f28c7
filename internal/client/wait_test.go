// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// everySecond polls at times that a test can count on.
var everySecond = PollOptions{Interval: time.Second}

// job is an answer to a poll.
func job(status string, more ...string) http.HandlerFunc {
	return reply(200, `{"status":"`+status+`"`+strings.Join(more, "")+`}`)
}

func TestWaitForAJobEndsWithIt(t *testing.T) {
	tests := map[string]struct {
		handler http.HandlerFunc
		started bool // whether the wait follows a start
		polls   []time.Duration
		last    StaticExportJob
		failure string
	}{
		"completed at once":                      {handler: job("completed"), polls: seconds(0), last: StaticExportJob{Status: "completed"}},
		"completed at the first poll":            {handler: job("completed"), started: true, polls: seconds(1), last: StaticExportJob{Status: "completed"}},
		"completed after a while":                {handler: inTurn(job("queued"), job("running"), job("completed")), polls: seconds(0, 1, 2), last: StaticExportJob{Status: "completed"}},
		"completed after an unknown status":      {handler: inTurn(job("packaging"), job("uploading"), job("completed")), polls: seconds(0, 1, 2), last: StaticExportJob{Status: "completed"}},
		"completed, its page count from before":  {handler: inTurn(job("running", `,"pageCount":7`), job("running"), job("completed")), polls: seconds(0, 1, 2), last: StaticExportJob{Status: "completed", PageCount: number(int64(7))}},
		"completed with a page count of its own": {handler: inTurn(job("running", `,"pageCount":7`), job("completed", `,"pageCount":9`)), polls: seconds(0, 1), last: StaticExportJob{Status: "completed", PageCount: number(int64(9))}},
		"failed":                                 {handler: inTurn(job("running"), job("failed", `,"error":"page /a is broken"`)), polls: seconds(0, 1), last: StaticExportJob{Status: "failed", Error: "page /a is broken"}, failure: "static export job se_1 failed: page /a is broken"},
		"failed without a reason":                {handler: job("failed"), polls: seconds(0), last: StaticExportJob{Status: "failed"}, failure: "static export job se_1 failed; the service gave no reason"},
		"not before the time that an answer asks for": {
			handler: inTurn(reply(200, `{"status":"running"}`, "Retry-After: 30"), job("completed")), polls: seconds(0, 30), last: StaticExportJob{Status: "completed"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, test.handler)
				opts := WaitOptions{Poll: everySecond}
				if test.started {
					opts.StartedAt = time.Now()
				}
				last, err := c.WaitForStaticExport(t.Context(), "se_1", opts, nil)
				test.last.ID = "se_1"
				if last == nil || !reflect.DeepEqual(*last, test.last) {
					t.Errorf("the last state is %+v, want %+v", last, test.last)
				}
				if got := s.times(); !slices.Equal(got, test.polls) {
					t.Errorf("polls at %v, want %v", got, test.polls)
				}
				var failed *JobFailedError
				if errors.As(err, &failed) != (test.failure != "") || err != nil && (err.Error() != test.failure || failed.Job != last) {
					t.Errorf("the error is %v, want %q", err, test.failure)
				}
			})
		})
	}
}

func TestWaitTellsOfEachChangeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, inTurn(
			job("queued"), job("queued"),
			job("running", `,"progress":0`), job("running", `,"progress":0`), job("running", `,"progress":10`),
			job("running", `,"progress":10,"pageCount":1`), job("running", `,"progress":10`), // the count stays
			job("odd"), job("odder"), job("odd"),
			job("completed"),
		))
		var told []string
		_, err := c.WaitForStaticExport(t.Context(), "se_1", WaitOptions{Poll: everySecond}, func(job *StaticExportJob) {
			text := job.Status
			if job.Progress != nil {
				text += fmt.Sprintf(" %g%%", *job.Progress)
			}
			if job.PageCount != nil {
				text += fmt.Sprintf(" %d", *job.PageCount)
			}
			told = append(told, text)
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"queued", "running 0%", "running 10%", "running 10% 1", "odd 1", "odder 1", "odd 1", "completed 1"}
		if !slices.Equal(told, want) {
			t.Errorf("told of %q, want %q", told, want)
		}
	})
}

func TestWaitLogsProgressAndEachUnknownStatusOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, inTurn(
			job("packing"), job("running", `,"progress":50,"pageCount":3`), job("packing"), job("at https://h/p?sig="+marked), job("completed"),
		))
		if _, err := c.WaitForStaticExport(t.Context(), "se_1", WaitOptions{Poll: everySecond}, nil); err != nil {
			t.Fatal(err)
		}
		var unknown []any
		for _, line := range s.log.at("warn") {
			if line.message != "unknown status, taken for still running" || line.fields["object"] != "static export job se_1" {
				t.Errorf("warned of %v", line)
			}
			unknown = append(unknown, line.fields["status"])
		}
		if want := []any{"packing", "at https://h/p?(redacted)"}; !reflect.DeepEqual(unknown, want) {
			t.Errorf("warned of %q, want %q", unknown, want)
		}
		progress := s.log.at("info")
		want := line{"info", "progress", map[string]any{"object": "static export job se_1", "status": "running", "elapsed_s": 1, "progress": 50., "page_count": int64(3)}}
		if len(progress) != 5 || !reflect.DeepEqual(progress[1], want) {
			t.Errorf("logged %v, want as its second line %v", progress, want)
		}
	})
}

func TestWaitOutlastsAnOutage(t *testing.T) {
	t.Parallel()
	// down answers badly from one time after the start to another.
	down := func(from, to time.Duration, bad, good http.HandlerFunc) http.HandlerFunc {
		var began time.Time
		return func(w http.ResponseWriter, r *http.Request) {
			if began.IsZero() {
				began = time.Now()
			}
			if now := time.Since(began); now >= from && now < to {
				bad(w, r)
				return
			}
			if time.Since(began) < to {
				good(w, r)
				return
			}
			job("completed")(w, r)
		}
	}
	minutes := func(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }
	running := job("running", `,"progress":10`)
	tests := map[string]struct {
		handler http.HandlerFunc
		started bool
		err     string        // part of it; empty: the wait goes well
		took    time.Duration // at most
		seen    bool          // whether there is a last state
	}{
		"of 4 minutes of 502":                {handler: down(minutes(1), minutes(5), reply(502, ""), running), took: minutes(6), seen: true},
		"of 4 minutes of resets":             {handler: down(minutes(1), minutes(5), reset, running), took: minutes(6), seen: true},
		"of 4 minutes of silence":            {handler: down(minutes(1), minutes(5), silence, running), took: minutes(7), seen: true},
		"of 4 minutes of HTML":               {handler: down(minutes(1), minutes(5), reply(200, "<p>We are sorry"), running), took: minutes(6), seen: true},
		"of 4 minutes of bad JSON":           {handler: down(minutes(1), minutes(5), reply(200, "{}"), running), took: minutes(6), seen: true},
		"of 4 minutes after the start":       {handler: down(0, minutes(4), reply(502, ""), running), started: true, took: minutes(5), seen: true},
		"but not of 10 minutes":              {handler: down(minutes(1), minutes(11), reply(502, ""), running), err: "HTTP 502", took: minutes(7), seen: true},
		"but not a first answer of 502":      {handler: down(0, minutes(4), reply(502, ""), running), err: "HTTP 502", took: minutes(1)},
		"but not a 401":                      {handler: down(minutes(1), minutes(1.5), reply(401, ""), running), err: "HTTP 401", took: minutes(1.1), seen: true},
		"but not a 404":                      {handler: down(minutes(1), minutes(1.5), reply(404, ""), running), err: "HTTP 404", took: minutes(1.1), seen: true},
		"but not a 404 at the beginning":     {handler: down(0, minutes(1), reply(404, ""), running), err: "HTTP 404", took: 0},
		"of a job that is not known yet":     {handler: down(0, 10*time.Second, reply(404, ""), running), started: true, took: minutes(.5), seen: true},
		"of a job that is gone yet":          {handler: down(0, 10*time.Second, reply(410, ""), running), started: true, took: minutes(.5), seen: true},
		"but not of one not known for long":  {handler: down(0, minutes(1), reply(404, ""), running), started: true, err: "HTTP 404", took: 16 * time.Second},
		"and what the service says it lasts": {handler: down(minutes(1), minutes(21), reply(503, "", "Retry-After: 1200"), running), took: minutes(22), seen: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, test.handler)
				ctx, cancel := c.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				opts := WaitOptions{Poll: everySecond}
				if test.started {
					opts.StartedAt = time.Now()
				}
				last, err := c.WaitForStaticExport(ctx, "se_1", opts, nil)
				if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
					t.Errorf("the error is %v, want %q", err, test.err)
				}
				if took := time.Since(s.began); took > test.took {
					t.Errorf("it took %s, want at most %s", took, test.took)
				}
				if (last != nil) != test.seen {
					t.Errorf("the last state is %v", last)
				}
			})
		})
	}
}

func TestWaitIsEndedByItsContext(t *testing.T) {
	running := job("running", `,"pageCount":4`)
	interrupt := func(c *Client, ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		stop := c.clock.AfterFunc(10*time.Second+500*time.Millisecond, cancel)
		return ctx, func() { stop(); cancel() }
	}
	timeout := func(c *Client, ctx context.Context) (context.Context, context.CancelFunc) {
		return c.WithTimeout(ctx, 10*time.Second+500*time.Millisecond)
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		end     func(*Client, context.Context) (context.Context, context.CancelFunc)
		cause   error
		text    string
	}{
		"the timeout between two polls":     {running, timeout, ErrTimeout, "the operation's timeout was reached"},
		"an interrupt between two polls":    {running, interrupt, context.Canceled, "context canceled"},
		"the timeout during a poll":         {inTurn(job("running", `,"pageCount":4`), silence), timeout, ErrTimeout, "the operation's timeout was reached"},
		"an interrupt during a poll":        {inTurn(job("running", `,"pageCount":4`), silence), interrupt, context.Canceled, "context canceled"},
		"an interrupt during an outage":     {inTurn(job("running", `,"pageCount":4`), reply(502, "")), interrupt, context.Canceled, "context canceled; the last attempt: GET /v1/static-export/jobs/se_1: HTTP 502 Bad Gateway"},
		"the timeout when asked to wait on": {reply(200, `{"status":"running","pageCount":4}`, "Retry-After: 3600"), timeout, ErrTimeout, "the operation's timeout was reached"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, test.handler)
				ctx, cancel := test.end(c, t.Context())
				defer cancel()
				last, err := c.WaitForStaticExport(ctx, "se_1", WaitOptions{Poll: everySecond}, nil)
				if !errors.Is(err, test.cause) || err.Error() != test.text {
					t.Errorf("the error is %q, want %q", err, test.text)
				}
				if took := time.Since(s.began); took != 10500*time.Millisecond {
					t.Errorf("it took %s", took)
				}
				if last == nil || last.Status != "running" || *last.PageCount != 4 {
					t.Errorf("the last state is %+v", last)
				}
			})
		})
	}
	t.Run("before the first poll of a job that was started", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, s := serve(t, running)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			last, err := c.WaitForStaticExport(ctx, "se_1", WaitOptions{StartedAt: time.Now()}, nil)
			if last != nil || !errors.Is(err, context.Canceled) || len(s.got()) != 0 {
				t.Errorf("got %v, %v after %d requests", last, err, len(s.got()))
			}
		})
	})
	t.Run("a poll that the service asks to make after the deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, s := serve(t, inTurn(job("running"), reply(503, "", "Retry-After: 3600")))
			ctx, cancel := c.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			last, err := c.WaitForStaticExport(ctx, "se_1", WaitOptions{Poll: everySecond}, nil)
			var busy *BusyError
			if !errors.As(err, &busy) || last == nil || time.Since(s.began) != time.Second {
				t.Errorf("got %v, %v after %s", last, err, time.Since(s.began))
			}
		})
	})
}

func TestWaitForAnUpdateEndsWithIt(t *testing.T) {
	tests := map[string]struct {
		statuses  []string
		succeeded bool
		known     bool
	}{
		"a success":                                  {[]string{"queued", "in_progress", "success"}, true, true},
		"a failure, which is no error":               {[]string{"in_progress", "failure"}, false, true},
		"a success after what is known of jobs only": {[]string{"running", "completed", "failed", "success"}, true, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var answers []http.HandlerFunc
				for _, status := range test.statuses {
					answers = append(answers, job(status))
				}
				c, s := serve(t, inTurn(answers...))
				var told []string
				update, err := c.WaitForUpdate(t.Context(), "up_1", WaitOptions{Poll: everySecond}, func(u *UpdateStatus) { told = append(told, u.Status) })
				if err != nil || update.Succeeded() != test.succeeded || !update.Finished() {
					t.Errorf("got %+v, %v", update, err)
				}
				if !slices.Equal(told, test.statuses) || len(s.got()) != len(test.statuses) {
					t.Errorf("told of %q after %d requests", told, len(s.got()))
				}
				if warned := len(s.log.at("warn")) > 0; warned == test.known {
					t.Errorf("warned of an unknown status: %v", warned)
				}
			})
		})
	}
	t.Run("one that the service does not know", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, _ := serve(t, reply(404, ""))
			update, err := c.WaitForUpdate(t.Context(), "up_1", WaitOptions{}, nil)
			if update != nil || !IsGone(err) {
				t.Errorf("got %v, %v", update, err)
			}
		})
	})
	t.Run("not before the time that an answer asks for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, s := serve(t, inTurn(reply(200, `{"status":"queued"}`, "Retry-After: 30"), job("success")))
			if _, err := c.WaitForUpdate(t.Context(), "up_1", WaitOptions{Poll: everySecond}, nil); err != nil || !slices.Equal(s.times(), seconds(0, 30)) {
				t.Errorf("polled at %v: %v", s.times(), err)
			}
		})
	})
}

func TestWaitPollsLessOftenTheLongerAJobIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, job("running"))
		ctx, cancel := c.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		// Ten minutes have passed since the start: a share of these is waited, up to 15 s.
		_, err := c.WaitForStaticExport(ctx, "se_1", WaitOptions{StartedAt: time.Now().Add(-10 * time.Minute)}, nil)
		if !errors.Is(err, ErrTimeout) || !slices.Equal(s.times(), seconds(15, 30, 45)) {
			t.Errorf("polled at %v until %v", s.times(), err)
		}
	})
}
