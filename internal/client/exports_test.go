// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

var (
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	errNoHost  = &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "localhost", IsNotFound: true}}
)

func TestStartIsRepeatedOnlyWhereTheServiceCertainlyDidNotAct(t *testing.T) {
	t.Parallel()
	started := reply(202, `{"jobId":"se_1","status":"queued"}`)
	tests := map[string]struct {
		handler  http.HandlerFunc // of the first request; the next are answered well
		options  []option
		requests int    // that reached the service
		failure  string // part of the error; empty for a job
		maybe    bool   // whether a job may have been started all the same
	}{
		"a 429 is":                                    {handler: reply(429, "", "Retry-After: 3"), requests: 2},
		"a 429 without Retry-After is":                {handler: reply(429, ""), requests: 2},
		"a 503 that says when to come back is":        {handler: reply(503, "", "Retry-After: 3"), requests: 2},
		"a 503 that says it with a date is":           {handler: reply(503, "", "Retry-After: Sat, 01 Jan 2000 00:00:09 GMT"), requests: 2},
		"a refused connection is":                     {handler: started, options: []option{failingDials(errRefused, errRefused)}, requests: 1},
		"a name that is not resolved is":              {handler: started, options: []option{failingDials(errNoHost)}, requests: 1},
		"a connection that is not made in time is":    {handler: started, options: []option{stallingDial()}, requests: 1},
		"a 503 without Retry-After is not":            {handler: reply(503, ""), requests: 1, failure: "HTTP 503 Service Unavailable", maybe: true},
		"a 503 with a Retry-After in the past is not": {handler: reply(503, "", "Retry-After: Fri, 31 Dec 1999 00:00:00 GMT"), requests: 1, failure: "HTTP 503", maybe: true},
		"a 503 with an unreadable Retry-After is not": {handler: reply(503, "", "Retry-After: soon"), requests: 1, failure: "HTTP 503", maybe: true},
		"a 500 is not":                                {handler: reply(500, ""), requests: 1, failure: "HTTP 500", maybe: true},
		"a 502 with Retry-After is not":               {handler: reply(502, "", "Retry-After: 1"), requests: 1, failure: "HTTP 502", maybe: true},
		"a 504 is not":                                {handler: reply(504, ""), requests: 1, failure: "HTTP 504", maybe: true},
		"a 408 is not":                                {handler: reply(408, ""), requests: 1, failure: "HTTP 408", maybe: true},
		"a 425 is not":                                {handler: reply(425, ""), requests: 1, failure: "HTTP 425"},
		"a 400 is not":                                {handler: reply(400, `{"error":"domain is not known"}`), requests: 1, failure: "domain is not known"},
		"a 303 is not":                                {handler: reply(303, "", "Location: /v1/static-export/jobs/se_9"), requests: 1, failure: "HTTP 303 See Other to http://localhost/v1/static-export/jobs/se_9", maybe: true},
		"a 302 to a login page is not":                {handler: reply(302, "", "Location: /login"), requests: 1, failure: "HTTP 302 Found to http://localhost/login"},
		"a reset after the request is not":            {handler: reset, requests: 1, failure: "no answer from localhost", maybe: true},
		"silence is not":                              {handler: silence, requests: 1, failure: "no answer within the request timeout (30s)", maybe: true},
		"an answer that is no HTTP is not":            {handler: verbatim("SSH-2.0-server\r\n"), requests: 1, failure: "malformed HTTP", maybe: true},
		"a success without an id is not":              {handler: reply(202, `{"status":"queued"}`), requests: 1, failure: "the answer has no jobId", maybe: true},
		"a success with an error inside is not":       {handler: reply(200, `{"error":"no such plan"}`), requests: 1, failure: "the answer has no jobId: no such plan", maybe: true},
		"a success with an empty body is not":         {handler: reply(200, ""), requests: 1, failure: "the body is empty", maybe: true},
		"a success that is HTML is not":               {handler: reply(200, "<p>Sign in</p>"), requests: 1, failure: "the body is an HTML or XML page: Sign in", maybe: true},
		"a success cut before the id is not":          {handler: cut202(`{"status":"queued","jobId":"se_`), requests: 1, failure: "cut off after 31 bytes", maybe: true},
		"a success cut within a numeric id is not":    {handler: cut202(`{"status":"queued","jobId":12`), requests: 1, failure: "cut off after 29 bytes", maybe: true},
		"a success cut after the id is not":           {handler: cut202(`{"jobId":"se_1","status":"que`), requests: 1},
		"a success cut right behind the id is not":    {handler: cut202(`{"jobId":"se_1"`), requests: 1},
		"a success with a Content-Length that is too short is not": {
			handler: verbatim("HTTP/1.1 202 Accepted\r\nContent-Length: 18\r\n\r\n{\"jobId\":\"se_1\",\"status\":\"queued\"}"), requests: 1,
		},
		"a success with a body that is too large is not": {handler: reply(202, packed([]byte(`{"jobId":"se_1","log":"`+strings.Repeat("x", maxBody))), "Content-Encoding: gzip"), requests: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, inTurn(test.handler, started), test.options...)
				ctx, cancel := c.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				job, err := c.StartStaticExport(ctx, "docs.example.com", nil)
				if got := len(s.got()); got != test.requests {
					t.Errorf("%d requests reached the service, want %d", got, test.requests)
				}
				if test.failure == "" {
					if err != nil || job.ID != "se_1" {
						t.Errorf("got %v, %v; want the job", job, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), test.failure) {
					t.Errorf("the error is %v, want one that says %q", err, test.failure)
				}
				if got := MayHaveStarted(err); got != test.maybe {
					t.Errorf("MayHaveStarted is %v, want %v", got, test.maybe)
				}
			})
		})
	}
}

// stallingDial lets the first dial hang until its request is given up.
func stallingDial() option {
	return func(_ *Config, s *service) {
		var before atomic.Bool
		s.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if !before.Swap(true) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return s.dial(ctx, network, address)
		}
	}
}

func TestStartTakesAConnectionOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reply(200, `{"status":"success","jobId":"se_1"}`))
		for range 2 {
			if _, err := c.GetUpdateStatus(t.Context(), "up_1"); err != nil {
				t.Fatal(err)
			}
			if _, err := c.StartStaticExport(t.Context(), "docs.example.com", nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.dialed(); got != 3 {
			t.Errorf("%d connections were made, want one for reading and one for each start", got)
		}
	})
}

func TestRequestThatWasNeverWrittenDoesNotCountAsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The first connection takes one request; the next one fails before a byte
		// of it is written, and no other connection can be made.
		c, s := serve(t, reply(200, done), retries(0), func(_ *Config, s *service) {
			s.fault = func(dial int) error {
				if dial > 1 {
					return errRefused
				}
				return nil
			}
			s.wrap = func(conn net.Conn) net.Conn {
				return &failingWrites{Conn: conn, left: 1, err: errors.New("broken pipe")}
			}
		})
		if _, err := c.GetUpdateStatus(t.Context(), "up_1"); err != nil {
			t.Fatal(err)
		}
		_, err := c.GetUpdateStatus(t.Context(), "up_1")
		var connection *ConnectionError
		if !errors.As(err, &connection) || !errors.Is(err, syscall.ECONNREFUSED) || connection.Sent {
			t.Errorf("the error is %#v, want that of the second connection, and nothing sent", err)
		}
		if got := len(s.got()); got != 1 {
			t.Errorf("%d requests reached the service, want only the first", got)
		}
	})
}

// failingWrites is a connection that takes a number of writes.
type failingWrites struct {
	net.Conn
	left int
	err  error
}

func (c *failingWrites) Write(p []byte) (int, error) {
	if c.left == 0 {
		return 0, c.err
	}
	c.left--
	return c.Conn.Write(p)
}

// blindTransport is a transport that does not tell of its connections.
type blindTransport struct{ err error }

func (t blindTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, t.err }

func TestStartThroughATransportThatTellsNothingCountsAsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, reset, func(config *Config, _ *service) {
			config.HTTPClient = &http.Client{Transport: blindTransport{errors.New("gone")}}
		})
		if _, err := c.StartStaticExport(t.Context(), "docs.example.com", nil); !MayHaveStarted(err) {
			t.Errorf("%v: want it to be possible that a job was started", err)
		}
	})
}

func TestStartIsNotCutOffByWhatEndsTheOperation(t *testing.T) {
	late := after(20*time.Second, reply(202, `{"jobId":"se_1"}`))
	interrupt := func(c *Client, ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		stop := c.clock.AfterFunc(5*time.Second, cancel)
		return ctx, func() { stop(); cancel() }
	}
	timeout := func(c *Client, ctx context.Context) (context.Context, context.CancelFunc) {
		return c.WithTimeout(ctx, 5*time.Second)
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		end     func(*Client, context.Context) (context.Context, context.CancelFunc)
		err     error // nil for a job
		maybe   bool
	}{
		"the answer is waited for after an interrupt":       {handler: late, end: interrupt},
		"the answer is waited for after the timeout":        {handler: late, end: timeout},
		"a failure after an interrupt tells of both":        {handler: after(20*time.Second, reply(500, "")), end: interrupt, err: context.Canceled, maybe: true},
		"a failure after the timeout tells of both":         {handler: after(20*time.Second, reply(500, "")), end: timeout, err: ErrTimeout, maybe: true},
		"a refusal after an interrupt is not sent again":    {handler: after(20*time.Second, reply(429, "", "Retry-After: 1")), end: interrupt, err: context.Canceled},
		"silence is given up at the request timeout":        {handler: silence, end: interrupt, err: context.Canceled, maybe: true},
		"an interrupt while it waits to be sent again ends": {handler: reply(503, "", "Retry-After: 60"), end: interrupt, err: context.Canceled},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, test.handler)
				ctx, cancel := test.end(c, t.Context())
				defer cancel()
				job, err := c.StartStaticExport(ctx, "docs.example.com", nil)
				if test.err == nil && (err != nil || job.ID != "se_1") {
					t.Errorf("got %v, %v; want the job", job, err)
				}
				if !errors.Is(err, test.err) || MayHaveStarted(err) != test.maybe {
					t.Errorf("the error is %v and MayHaveStarted %v, want %v and %v", err, MayHaveStarted(err), test.err, test.maybe)
				}
				if got := len(s.got()); got != 1 {
					t.Errorf("%d requests reached the service, want 1", got)
				}
			})
		})
	}
}

func TestStartIsNotSentAfterAnInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reply(202, `{"jobId":"se_1"}`))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.StartStaticExport(ctx, "docs.example.com", nil)
		if !errors.Is(err, context.Canceled) || MayHaveStarted(err) || len(s.got()) != 0 {
			t.Errorf("got %v after %d requests, want none", err, len(s.got()))
		}
	})
}

func TestStartSendsTheDomainAndTheParameters(t *testing.T) {
	tests := map[string]struct {
		domain     string
		parameters map[string]json.RawMessage
		want       string
	}{
		"a domain alone":                      {"docs.example.com", nil, `{"domain":"docs.example.com"}`},
		"further members":                     {"docs.example.com", map[string]json.RawMessage{"paths": json.RawMessage(`["/a"]`), "version": json.RawMessage(`"7"`)}, `{"domain":"docs.example.com","paths":["/a"],"version":"7"}`},
		"the domain is none of further ones":  {"docs.example.com", map[string]json.RawMessage{"domain": json.RawMessage(`"other"`)}, `{"domain":"docs.example.com"}`},
		"a domain with a quote stays one":     {`a","b":"c`, nil, `{"domain":"a\",\"b\":\"c"}`},
		"numbers keep their digits":           {"d", map[string]json.RawMessage{"n": json.RawMessage(`12345678901234567890`)}, `{"domain":"d","n":12345678901234567890}`},
		"a parameter of null is sent as null": {"d", map[string]json.RawMessage{"n": json.RawMessage(`null`)}, `{"domain":"d","n":null}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, reply(202, `{"jobId":"se_1"}`))
				before := len(test.parameters)
				if _, err := c.StartStaticExport(t.Context(), test.domain, test.parameters); err != nil {
					t.Fatal(err)
				}
				r := s.got()[0]
				if r.method != "POST" || r.path != "/v1/static-export/jobs" || r.body != test.want {
					t.Errorf("sent %s %s %s, want POST /v1/static-export/jobs %s", r.method, r.path, r.body, test.want)
				}
				if len(test.parameters) != before {
					t.Error("the caller's parameters were changed")
				}
			})
		})
	}
	t.Run("a parameter that is no JSON is refused before a request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, s := serve(t, reply(202, `{"jobId":"se_1"}`))
			_, err := c.StartStaticExport(t.Context(), "d", map[string]json.RawMessage{"n": json.RawMessage(`{`)})
			if err == nil || MayHaveStarted(err) || len(s.got()) != 0 {
				t.Errorf("got %v after %d requests", err, len(s.got()))
			}
		})
	})
}

func number[T float64 | int64](n T) *T { return &n }

func TestJobIsReadWhateverItsFieldsAre(t *testing.T) {
	tests := map[string]struct {
		body string
		want StaticExportJob
	}{
		"only a status":            {`{"status":"queued"}`, StaticExportJob{Status: "queued"}},
		"a whole record":           {`{"jobId":"other","status":"running","progress":42.5,"pageCount":7,"createdAt":"x","more":{"a":[1]}}`, StaticExportJob{Status: "running", Progress: number(42.5), PageCount: number(int64(7))}},
		"a progress as per cent":   {`{"status":"running","progress":" 42 % ","pageCount":"7"}`, StaticExportJob{Status: "running", Progress: number(42.), PageCount: number(int64(7))}},
		"nulls":                    {`{"status":"running","progress":null,"pageCount":null,"error":null}`, StaticExportJob{Status: "running"}},
		"fields of other types":    {`{"status":"running","progress":{"pct":3},"pageCount":[1],"error":false}`, StaticExportJob{Status: "running"}},
		"a count of pages below 0": {`{"status":"running","pageCount":-1}`, StaticExportJob{Status: "running"}},
		"an unknown status":        {`{"status":"packaging"}`, StaticExportJob{Status: "packaging"}},
		"a status that is number":  {`{"status":3}`, StaticExportJob{Status: "3"}},
		"a status with a link":     {`{"status":"at https://h/p?sig=` + marked + `"}`, StaticExportJob{Status: "at https://h/p?(redacted)"}},
		"an error as a string":     {`{"status":"failed","error":"page /a is broken"}`, StaticExportJob{Status: "failed", Error: "page /a is broken"}},
		"an error as an object":    {`{"status":"failed","error":{"code":"E7","message":"page /a is broken"}}`, StaticExportJob{Status: "failed", Error: "page /a is broken"}},
		"an error of codes alone":  {`{"status":"failed","error":{"code":"E7"}}`, StaticExportJob{Status: "failed", Error: `{"code":"E7"}`}},
		"an error with a link":     {`{"status":"failed","error":"GET https://h/p?sig=` + marked + ` failed"}`, StaticExportJob{Status: "failed", Error: "GET https://h/p?(redacted) failed"}},
		"an echo of the key":       {`{"status":"failed","error":"bad ` + testKey + `"}`, StaticExportJob{Status: "failed", Error: "bad (redacted)"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, reply(200, test.body))
				job, err := c.GetStaticExportJob(t.Context(), "se_1")
				if err != nil {
					t.Fatal(err)
				}
				test.want.ID = "se_1"
				if !reflect.DeepEqual(*job, test.want) {
					t.Errorf("got %+v, want %+v", *job, test.want)
				}
				if r := s.got()[0]; r.method != "GET" || r.path != "/v1/static-export/jobs/se_1" || r.body != "" {
					t.Errorf("sent %s %s %q", r.method, r.path, r.body)
				}
			})
		})
	}
}

func TestJobEndsWithCompletedAndFailedOnly(t *testing.T) {
	tests := map[string]struct{ finished, succeeded bool }{
		"completed": {true, true}, "failed": {true, false},
		"queued": {}, "running": {}, "COMPLETED": {}, "success": {}, "": {},
	}
	for status, want := range tests {
		job := &StaticExportJob{Status: status}
		if job.Finished() != want.finished || job.Succeeded() != want.succeeded {
			t.Errorf("%q: Finished %v, Succeeded %v", status, job.Finished(), job.Succeeded())
		}
	}
}

func TestBundleIsReadWhateverItsFieldsAre(t *testing.T) {
	const link = "https://storage.example/b.tar.gz?X-Amz-Date=20260301T120000Z&X-Amz-Expires=600&X-Amz-Signature=" + marked
	fromLink := time.Date(2026, 3, 1, 12, 10, 0, 0, time.UTC)
	tests := map[string]struct {
		body    string
		url     string
		expires time.Time
		size    *int64
		problem string
	}{
		"a whole answer":                           {body: `{"bundleUrl":"` + link + `","expiresAt":"2026-03-01T13:00:00Z","sizeBytes":12}`, url: link, expires: fromLink.Add(50 * time.Minute), size: number(int64(12))},
		"an escaped link":                          {body: `{"bundleUrl":"https:\/\/h\/b?a=1\u0026b=2"}`, url: "https://h/b?a=1&b=2"},
		"no expiry: that of the link":              {body: `{"bundleUrl":"` + link + `"}`, url: link, expires: fromLink},
		"an unreadable expiry: that of the link":   {body: `{"bundleUrl":"` + link + `","expiresAt":"in an hour"}`, url: link, expires: fromLink},
		"an expiry of null: that of the link":      {body: `{"bundleUrl":"` + link + `","expiresAt":null}`, url: link, expires: fromLink},
		"no expiry anywhere":                       {body: `{"bundleUrl":"http://127.0.0.1:9/b"}`, url: "http://127.0.0.1:9/b"},
		"an expiry in seconds":                     {body: `{"bundleUrl":"http://h/b","expiresAt":1772366400}`, url: "http://h/b", expires: fromLink.Add(-10 * time.Minute)},
		"a size as a string":                       {body: `{"bundleUrl":"http://h/b","sizeBytes":"12"}`, url: "http://h/b", size: number(int64(12))},
		"a size below 0 says nothing":              {body: `{"bundleUrl":"http://h/b","sizeBytes":-1}`, url: "http://h/b"},
		"a size with a fraction says nothing":      {body: `{"bundleUrl":"http://h/b","sizeBytes":1.5}`, url: "http://h/b"},
		"no link is a problem":                     {body: `{"expiresAt":"2026-03-01T13:00:00Z"}`, problem: "the answer has no bundleUrl"},
		"a link of null is a problem":              {body: `{"bundleUrl":null}`, problem: "the answer has no bundleUrl"},
		"a link that is an object is a problem":    {body: `{"bundleUrl":{"href":"` + link + `"}}`, problem: "the answer has no bundleUrl"},
		"a relative link is a problem":             {body: `{"bundleUrl":"/b?sig=` + marked + `"}`, problem: "its bundleUrl is not an absolute http or https URL"},
		"a link to a file is a problem":            {body: `{"bundleUrl":"file:///etc/passwd"}`, problem: "its bundleUrl is not an absolute"},
		"a link of another scheme is a problem":    {body: `{"bundleUrl":"s3://bucket/key?sig=` + marked + `"}`, problem: "its bundleUrl is not an absolute"},
		"a link that cannot be read is a problem":  {body: `{"bundleUrl":"https://h/%zz?sig=` + marked + `"}`, problem: "its bundleUrl is not an absolute"},
		"a link that is a number is a problem":     {body: `{"bundleUrl":7}`, problem: "its bundleUrl is not an absolute"},
		"an answer that is a string is a problem":  {body: `"` + link + `"`, problem: "the body is JSON, but a string instead of an object"},
		"an answer that is broken is a problem":    {body: `{"bundleUrl":"` + link + `",}`, problem: "the body is broken JSON"},
		"an answer that has an error is a problem": {body: `{"error":"still packing"}`, problem: "the answer has no bundleUrl: still packing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, reply(200, test.body), retries(0))
				bundle, err := c.GenerateBundle(t.Context(), "se_1")
				if r := s.got()[0]; r.method != "POST" || r.path != "/v1/static-export/jobs/se_1/bundle" || r.body != "" || r.header.Get("Content-Type") != "" {
					t.Errorf("sent %+v", r)
				}
				if test.problem != "" {
					if err == nil || bundle != nil || !strings.Contains(err.Error(), test.problem) {
						t.Fatalf("got %v, %v; want %q", bundle, err, test.problem)
					}
					checkShown(t, err.Error())
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if want := (Bundle{URL: test.url, ExpiresAt: test.expires, SizeBytes: test.size}); !reflect.DeepEqual(*bundle, want) {
					t.Errorf("got %q %v %v, want %q %v %v", bundle.URL, bundle.ExpiresAt, bundle.SizeBytes, test.url, test.expires, test.size)
				}
			})
		})
	}
}

func TestBundleIsMadeAgainAfterAFailure(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"a 502": reply(502, ""), "a reset": reset, "a cut answer": cut202(`{"bundleUrl":"https`), "silence": silence,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, inTurn(handler, reply(200, `{"bundleUrl":"https://h/b"}`)))
				if bundle, err := c.GenerateBundle(t.Context(), "se_1"); err != nil || bundle.URL != "https://h/b" {
					t.Errorf("got %v, %v", bundle, err)
				}
				if got := len(s.got()); got != 2 {
					t.Errorf("%d requests, want 2", got)
				}
			})
		})
	}
}

func TestBundlePrintsWithoutItsLink(t *testing.T) {
	bundle := Bundle{URL: "https://user:" + marked + "@h/b?sig=" + marked, ExpiresAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, text := range []string{fmt.Sprintf(format, bundle), fmt.Sprintf(format, &bundle)} {
			checkShown(t, text)
			if want := "bundle https://(redacted)@h/b?(redacted), expires at 2026-03-01T00:00:00Z"; text != want {
				t.Errorf("%s prints %q, want %q", format, text, want)
			}
		}
	}
}
