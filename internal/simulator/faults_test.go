// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestFaultAnswers(t *testing.T) {
	t.Parallel()
	const html = "<html><body>Bad gateway</body></html>"
	for name, test := range map[string]struct {
		fault  simulator.Fault
		status int
		body   string // "real": the job's own record
		header [2]string
	}{
		"a status": {simulator.Fault{Status: 503}, 503, "", [2]string{"Content-Length", "0"}},
		"a status and headers": {
			simulator.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}},
			429, "",
			[2]string{"Retry-After", "7"},
		},
		"HTML": {simulator.Fault{Status: 502, Body: html}, 502, html, [2]string{"Content-Type", "text/html; charset=utf-8"}},
		"JSON": {simulator.Fault{Status: 200, Body: `{"error":"no"}`}, 200, `{"error":"no"}`, [2]string{"Content-Type", "application/json"}},
		"JSON of a type": {
			simulator.Fault{Status: 400, Body: `[]`, Header: http.Header{"Content-Type": {"application/problem+json"}}},
			400, `[]`,
			[2]string{"Content-Type", "application/problem+json"},
		},
		"invalid UTF-8":                  {simulator.Fault{Status: 200, Body: "\xff\xfe{"}, 200, "\xff\xfe{", [2]string{}},
		"a redirect":                     {simulator.Fault{Status: 307, Header: http.Header{"Location": {"http://other.invalid/"}}}, 307, "", [2]string{"Location", "http://other.invalid/"}},
		"the real answer with a header":  {simulator.Fault{Header: http.Header{"X-Proxy": {"1"}}}, 200, "real", [2]string{"X-Proxy", "1"}},
		"the real answer with no date":   {simulator.Fault{Header: http.Header{"Date": nil}}, 200, "real", [2]string{"Date", ""}},
		"the real status, another body":  {simulator.Fault{Body: html}, 200, html, [2]string{}},
		"the real answer, compressed":    {simulator.Fault{Gzip: true}, 200, "real", [2]string{}},
		"the real answer, without size":  {simulator.Fault{ContentLength: -1}, 200, "real", [2]string{"Content-Length", ""}},
		"a body repeated up to a length": {simulator.Fault{Status: 200, Body: "abc", Repeat: 7}, 200, "abcabca", [2]string{"Content-Length", "7"}},
		"a length that is too small":     {simulator.Fault{Status: 200, Body: "abcdef", ContentLength: 4}, 200, "abcd", [2]string{"Content-Length", "4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{})
			s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			path := "/static-export/jobs/" + s.doneJob()
			want := test.body
			if want == "real" {
				want = s.get(path).body
			}
			s.AddFault(test.fault)
			a := s.get(path)
			if a.status != test.status || a.body != want {
				t.Errorf("%d %q, want %d %q", a.status, a.body, test.status, want)
			}
			if name := test.header[0]; name != "" && a.header.Get(name) != test.header[1] {
				t.Errorf("%s is %q, want %q", name, a.header.Get(name), test.header[1])
			}
			if a.header.Get("X-Request-Id") == "" {
				t.Error("there is no request id")
			}
			log := s.Requests()
			if got := log[len(log)-1].Status; got != test.status {
				t.Errorf("the log has the status %d", got)
			}
		})
	}
}

func TestFaultBreaksTheAnswer(t *testing.T) {
	t.Parallel()
	const body = `{"jobId":"se_1"}`
	for name, test := range map[string]struct {
		fault simulator.Fault
		want  error
		body  string // what arrives
		acted bool
	}{
		"cut before the service acts":  {simulator.Fault{Cut: simulator.CutBefore}, syscall.ECONNRESET, "", false},
		"cut after the service acted":  {simulator.Fault{Cut: simulator.CutAfter}, syscall.ECONNRESET, "", true},
		"truncated":                    {simulator.Fault{Status: 202, Body: body, TruncateBody: 5}, io.ErrUnexpectedEOF, body[:5], false},
		"truncated at the headers":     {simulator.Fault{Status: 202, Body: body, TruncateBody: -1}, io.ErrUnexpectedEOF, "", false},
		"truncated without a size":     {simulator.Fault{Status: 202, Body: body, TruncateBody: 5, ContentLength: -1}, io.ErrUnexpectedEOF, body[:5], false},
		"shorter than its size":        {simulator.Fault{Status: 202, Body: body, ContentLength: 99}, io.ErrUnexpectedEOF, body, false},
		"the real answer, truncated":   {simulator.Fault{TruncateBody: 1}, io.ErrUnexpectedEOF, "{", true},
		"the service acts, in silence": {simulator.Fault{Status: 500, Acts: true, TruncateBody: -1, ContentLength: 1}, io.ErrUnexpectedEOF, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{})
			s.AddFault(test.fault)
			a, err := s.tryCall(http.MethodPost, "/static-export/jobs", `{"domain":"a"}`, nil)
			if !errors.Is(err, test.want) || a.body != test.body {
				t.Errorf("%q, %v, want %q, %v", a.body, err, test.body, test.want)
			}
			if acted := len(s.JobIDs()) == 1; acted != test.acted {
				t.Errorf("the service acted: %v, want %v", acted, test.acted)
			}
			if got := s.Requests()[0].Status; test.fault.Cut != simulator.CutNone && got != 0 {
				t.Errorf("the log has the status %d of an answer that was not sent", got)
			}
		})
	}
}

func TestFaultOverAnAnswerThatActed(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	s.AddFault(simulator.Fault{Status: 500, Acts: true})
	if a := s.call(http.MethodPost, "/static-export/jobs", `{"domain":"a"}`, nil); a.status != 500 {
		t.Errorf("status %d", a.status)
	}
	if got := len(s.JobIDs()); got != 1 {
		t.Errorf("%d jobs were started", got)
	}
}

func TestFaultMatches(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	id := s.doneJob()
	s.AddJob(simulator.JobSpec{ID: "a/b", Queue: none, Run: none})
	calls := map[string][2]string{
		"job":      {"GET", "/static-export/jobs/" + id},
		"odd":      {"GET", "/static-export/jobs/a%2Fb"},
		"bundle":   {"POST", "/static-export/jobs/" + id + "/bundle"},
		"download": {"GET", s.bundle(id)},
	}
	for name, test := range map[string]struct {
		fault simulator.Fault
		hit   []string
	}{
		"everything":      {simulator.Fault{}, []string{"job", "odd", "bundle", "download"}},
		"an endpoint":     {simulator.Fault{Endpoint: simulator.EndpointDownload}, []string{"download"}},
		"a method":        {simulator.Fault{Method: "POST"}, []string{"bundle"}},
		"a path":          {simulator.Fault{Path: "/static-export/jobs/" + id}, []string{"job"}},
		"a glob":          {simulator.Fault{Path: "/static-export/jobs/*"}, []string{"job", "odd"}},
		"a longer glob":   {simulator.Fault{Path: "/static-export/jobs/*/bundle"}, []string{"bundle"}},
		"an escaped path": {simulator.Fault{Path: "/static-export/jobs/a%2Fb"}, []string{"odd"}},
		"a storage path":  {simulator.Fault{Path: "/storage/exports/*/*"}, []string{"download"}},
		"all of them":     {simulator.Fault{Endpoint: simulator.EndpointJob, Method: "GET", Path: "/*/jobs/se_*"}, []string{"job"}},
		"none":            {simulator.Fault{Endpoint: simulator.EndpointJob, Method: "POST"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			test.fault.Status = http.StatusTeapot
			defer s.AddFault(test.fault)()
			for call, target := range calls {
				want := http.StatusOK
				if slices.Contains(test.hit, call) {
					want = http.StatusTeapot
				}
				if a := s.call(target[0], target[1], "", nil); a.status != want {
					t.Errorf("%s answered %d, want %d", call, a.status, want)
				}
			}
		})
	}
}

func TestFaultsComeInOrderAndAreUsedUp(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	path := "/static-export/jobs/" + s.doneJob()
	s.AddFault(simulator.Fault{Status: 500, Times: 2})
	s.AddFault(simulator.Fault{Status: 502, Skip: 1, Times: 1})
	remove := s.AddFault(simulator.Fault{Status: 504, Skip: 2})
	for i, want := range []int{500, 500, 200, 502, 200, 504, 504, 504} {
		if a := s.get(path); a.status != want {
			t.Errorf("request %d answered %d, want %d", i, a.status, want)
		}
	}
	remove()
	remove()
	if a := s.get(path); a.status != 200 {
		t.Errorf("after the removal: %d", a.status)
	}
}

func TestFaultWithABadGlobPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "Fault.Path") {
			t.Errorf("recovered %q", text)
		}
	}()
	simulator.New(simulator.Options{}).AddFault(simulator.Fault{Path: "[a"})
}

func TestFaultLongBodies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault simulator.Fault
		size  int64
		wire  int64 // at most
	}{
		"plain":      {simulator.Fault{Status: 200, Repeat: 20 << 20}, 20 << 20, 21 << 20},
		"compressed": {simulator.Fault{Status: 200, Body: "0123456789abcdef", Repeat: 20 << 20, Gzip: true}, 20 << 20, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{})
			s.AddFault(test.fault)
			request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL, nil)
			request.Header.Set("Accept-Encoding", "gzip") // keeps the body as it is on the wire
			response, err := s.client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.ContentLength <= 0 || response.ContentLength > test.wire {
				t.Errorf("Content-Length is %d", response.ContentLength)
			}
			body := io.Reader(response.Body)
			if test.fault.Gzip {
				if body, err = gzip.NewReader(body); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := io.Copy(io.Discard, body); n != test.size || err != nil {
				t.Errorf("the body has %d bytes, %v, want %d", n, err, test.size)
			}
		})
	}
}

func TestFaultDelays(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]simulator.Fault{
		"before the headers":    {Delay: time.Hour},
		"in the middle":         {DelayBody: time.Hour},
		"both, with its status": {Status: 200, Body: "{}", Delay: 30 * time.Minute, DelayBody: 30 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{})
			s.AddFault(fault)
			if a := s.get("/static-export/jobs/" + s.doneJob()); a.status != 200 || !strings.HasSuffix(strings.TrimSpace(a.body), "}") {
				t.Errorf("%d %s", a.status, a.body)
			}
			if got := since(s.clock); got != time.Hour {
				t.Errorf("the clock moved by %v, want 1h", got)
			}
		})
	}
}

func TestFaultDelaysHalfOfTheBody(t *testing.T) {
	t.Parallel()
	s := start(t, simulator.Options{})
	s.AddFault(simulator.Fault{Status: 200, Body: "0123456789", DelayBody: simulator.Forever})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.BaseURL, nil)
	response, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	half := make([]byte, 5)
	if _, err := io.ReadFull(response.Body, half); err != nil || string(half) != "01234" {
		t.Errorf("the first half is %q, %v", half, err)
	}
	cancel()
	if rest, err := io.ReadAll(response.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("the second half is %q, %v", rest, err)
	}
}

// A client that gives up by a timer on the virtual clock is gone at that
// instant: the clock must not run on to the end of the delay.
func TestFaultDelayEndsWhenTheClientLeaves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault simulator.Fault
		acted bool
	}{
		"in a delay of the answer":     {simulator.Fault{Delay: 48 * time.Hour}, true},
		"in a delay of an error":       {simulator.Fault{Delay: 48 * time.Hour, Status: 500}, false},
		"in a delay of the body":       {simulator.Fault{DelayBody: 48 * time.Hour}, true},
		"in a hang":                    {simulator.Fault{Hang: true}, false},
		"in a hang of one that acts":   {simulator.Fault{Hang: true, Acts: true}, true},
		"in a body that never goes on": {simulator.Fault{DelayBody: simulator.Forever}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, simulator.Options{})
			s.AddFault(test.fault)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.clock.AfterFunc(30*time.Second, cancel)
			s.clock.AfterFunc(time.Hour, func() { t.Error("the clock ran on") })

			request, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+"/static-export/jobs", strings.NewReader(`{"domain":"a"}`))
			request.Header.Set("Authorization", "Bearer "+simulator.DefaultAPIKey)
			request.Header.Set("Content-Type", "application/json")
			response, err := s.client.Do(request)
			if err == nil {
				_, err = io.ReadAll(response.Body)
				_ = response.Body.Close()
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the client ended with %v", err)
			}
			if got := since(s.clock); got != 30*time.Second {
				t.Errorf("the clock moved by %v, want 30s", got)
			}
			if acted := len(s.JobIDs()) == 1; acted != test.acted {
				t.Errorf("the service acted: %v, want %v", acted, test.acted)
			}
		})
	}
}

func TestFaultHangEndsOnTheWallClockToo(t *testing.T) {
	t.Parallel()
	server, err := simulator.Listen(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.AddFault(simulator.Fault{Hang: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.BaseURL, nil)
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the client ended with %v", err)
	}
}

func TestFaultCutsTLSConnectionsToo(t *testing.T) {
	t.Parallel()
	s := simulator.New(simulator.Options{})
	s.AddFault(simulator.Fault{Cut: simulator.CutBefore})
	server := httptest.NewTLSServer(s)
	defer server.Close()
	response, err := server.Client().Get(server.URL + "/v1/x")
	if err == nil {
		_ = response.Body.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client ended with %v", err)
	}
}

func TestFaultCutsWithoutAConnection(t *testing.T) {
	t.Parallel()
	s := simulator.New(simulator.Options{})
	s.AddFault(simulator.Fault{Cut: simulator.CutBefore})
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Error("the handler did not abort")
		}
	}()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/x", nil))
}
