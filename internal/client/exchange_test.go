package client

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// errRefused is the error of a connection that nobody accepts.
var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

func TestEachPathElementStaysOne(t *testing.T) {
	c := newClient(t, func(config *Config) { config.BaseURL = "https://docs.test/a%2Fb/v1" })
	for _, id := range []string{
		"se_1", "a/b", "../../admin", ".", "..", "...", "a?b=c", "a#b", "a%2Fb", "a%", "a b", "a+b", "a;b=c",
		"ä/日本", "\x00\n", "a\\b", "//host/path", "a:b", "@",
	} {
		sent := c.url(request{path: []string{"jobs", id}}).String()
		element, ok := strings.CutPrefix(sent, "https://docs.test/a%2Fb/v1/jobs/")
		if got, err := url.PathUnescape(element); !ok || err != nil || got != id || strings.ContainsAny(element, "/?#") || element == "." || element == ".." {
			t.Errorf("%q is sent as %s, which reads as %q: %v", id, sent, got, err)
		}
	}
}

// TestFailedAttemptIsSentOnceAndReported has each way in which an attempt fails, of a read and of a start.
func TestFailedAttemptIsSentOnceAndReported(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	const late = "to docs.test failed: no complete response within "
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		dial    func(context.Context) error
		took    time.Duration
		text    string // part of the error
		unsent  bool
		reason  Reason // ReasonNoResponse if zero
	}{
		"a refused connection": {dial: func(context.Context) error { return errRefused }, text: "connection refused", unsent: true},
		"a dial that hangs":    {dial: hangs, took: 30 * second, text: late, unsent: true, reason: ReasonTooSlow},
		"a reset":              {handler: reset, text: "to docs.test failed: the connection was closed before a response arrived"},
		"a cut body": {
			handler: verbatim("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{\"jobId\":\"se_1\""),
			text:    "to docs.test failed: the response ended after 15 bytes: unexpected EOF",
		},
		"silence": {handler: silent, took: 30 * second, text: late, reason: ReasonTooSlow},
		"gzip that is none": {
			handler: reply(200, strings.Repeat("{}", 9), "Content-Encoding: gzip"), text: "the response ended after 0 bytes: gzip: invalid header",
		},
		"a response of no HTTP": {handler: verbatim(testKey + " https://h/?" + signature + "\r\n"), text: "malformed HTTP"},
	} {
		for kind, request := range map[string]request{"read": aRead, "start": aStart} {
			t.Run(name+", "+kind, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					c, s := serve(t, test.handler)
					s.dial = test.dial
					_, err := c.send(bounded(t, time.Hour), request, firstAttempt)
					took := test.took
					if request.once && !test.unsent && took > 0 {
						took = 5 * time.Minute // for the response to a POST
					}
					if err == nil || !strings.Contains(err.Error(), test.text) || time.Since(s.began) != took || len(s.received()) > 1 {
						t.Errorf("%v after %s and %d requests; want %q after %s", err, time.Since(s.began), len(s.received()), test.text, took)
					}
					want := meaning{cmp.Or(test.reason, ReasonNoResponse), temporary, true}
					if test.unsent {
						want = meaning{want.reason, unconnected, false}
					}
					wantMeaning(t, "it", err, want)
					checkShown(t, err.Error())
				})
			})
		}
	}
}

// The number is above -parallelism, and above what net/http keeps unless it is told otherwise.
func TestReadsKeepTheirConnectionsAndEachStartHasItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const parallel = 120
		more := late(second, reply(503, strings.Repeat("sorry ", 1000)))
		c, s := serve(t, inTurn(reply(200, "{}"), reply(204, ""), reply(302, "moved", "Location: https://elsewhere.test/"), more))
		for range 3 {
			_, _ = c.send(bounded(t, time.Hour), aRead, firstAttempt)
		}
		for range 2 {
			for range parallel {
				go func() { _, _ = c.send(bounded(t, time.Hour), aRead, firstAttempt) }()
			}
			<-time.After(2 * second)
		}
		for range 2 {
			_, _ = c.Begin().StartStaticExport(bounded(t, time.Hour), "{}")
		}
		if requests := len(s.received()); requests != 3+2*parallel+2 || s.dials != parallel+2 {
			t.Errorf("%d requests made %d connections, want %d", requests, s.dials, parallel+2)
		}
	})
}

// net/http may finish a connection after it has given up on the request.
func TestConnectionThatComesTooLateIsNoRace(t *testing.T) {
	c := exchanging(t, func(r *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(r.Context())
		go trace.GotConn(httptrace.GotConnInfo{})
		return nil, errRefused
	})
	if _, err := c.send(bounded(t, time.Minute), aStart, firstAttempt); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}

func TestEachAttemptIsLogged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, s := serve(t, inTurn(
			reset,
			late(250*time.Millisecond, reply(500, "echo "+testKey, "X-Request-Id: r-1")),
			reply(200, "soon", "X-Request-Id: r-2"),
			reply(200, "{}", "X-Request-Id: r-3"),
		))
		for number := range 4 {
			_, _ = c.send(bounded(t, time.Hour), aRead, attempt{number: number + 1})
		}
		want := []string{
			"WARN API request map[attempt:1 duration_ms:0 " +
				"error:the request GET /v1/jobs/se_1 to docs.test failed: the connection was closed before a response arrived " +
				"method:GET path:/v1/jobs/se_1]",
			"WARN API request map[attempt:2 duration_ms:250 " +
				"error:the service returned HTTP 500 Internal Server Error for GET /v1/jobs/se_1 (request ID r-1): echo (redacted) " +
				"method:GET path:/v1/jobs/se_1 request_id:r-1 status:500]",
			"WARN API request map[attempt:3 duration_ms:0 " +
				"error:the service returned HTTP 200 OK for GET /v1/jobs/se_1 (request ID r-2), but the body is not JSON: soon " +
				"method:GET path:/v1/jobs/se_1 request_id:r-2 status:200]",
			"DEBUG API request map[attempt:4 duration_ms:0 method:GET path:/v1/jobs/se_1 request_id:r-3 status:200]",
		}
		if !slices.Equal(s.logged.lines, want) {
			t.Errorf("logged\n%s\nwant\n%s", strings.Join(s.logged.lines, "\n"), strings.Join(want, "\n"))
		}
	})
}
