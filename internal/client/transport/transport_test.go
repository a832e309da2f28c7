// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// errRefused is the error of a connection that nobody accepts.
var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}

func TestRequestCarriesTheKeyAndTheUserAgent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, s := serve(t, reply(200, "{}"))
		for _, request := range []Request{read, start} {
			if _, err := tr.Do(bounded(t, time.Minute), request); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []string{
			"GET docs.test /v1/jobs/se_1  [Bearer " + testKey + " application/json test/1 ]",
			"POST docs.test /v1/jobs " + `{"domain":"d"}` + " [Bearer " + testKey + " application/json test/1 application/json]",
		} {
			r := s.received()[i]
			headers := []string{}
			for _, name := range []string{"Authorization", "Accept", "User-Agent", "Content-Type"} {
				headers = append(headers, r.header.Get(name))
			}
			if got := fmt.Sprint(r.method, " ", r.host, " ", r.path, " ", r.body, " ", headers); got != want {
				t.Errorf("sent %s, want %s", got, want)
			}
		}
	})
}

func TestEachPathElementReachesTheServiceAsOne(t *testing.T) {
	for _, id := range []string{
		"se_1", "a/b", "../../admin", ".", "..", "...", "a?b=c", "a#b", "a%2Fb", "a%", "a b", "a+b", "a;b=c",
		"ä/日本", "\x00\n", "a\\b", "//host/path", "a:b", "@",
	} {
		bubble(t, func(t *testing.T) {
			element := ""
			mux := http.NewServeMux()
			mux.HandleFunc("GET /a%2Fb/v1/jobs/{id}", func(w http.ResponseWriter, r *http.Request) {
				element = r.PathValue("id")
				reply(200, "{}")(w, r)
			})
			tr, s := serve(t, mux.ServeHTTP, baseURL("http://docs.test/a%2Fb/v1"))
			if _, err := tr.Do(bounded(t, time.Minute), Request{Method: "GET", Path: []string{"jobs", id}}); err != nil || element != id {
				t.Errorf("%q reached the service as %q by %s: %v", id, element, s.received()[0].path, err)
			}
		})
	}
}

// The outcomes of calls that fail.
const (
	final     = "final"     // not sent again, and the service did not act
	uncertain = "uncertain" // not sent again, but the service may have acted
	succeeds  = ""
)

type turns []http.HandlerFunc

// TestFailedRequestIsRetriedByKind says for each kind of failure when a read and a
// request that is sent once are repeated, and how the latter ends.
func TestFailedRequestIsRetriedByKind(t *testing.T) {
	refused := func(context.Context) error { return errRefused }
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	once, retried := []float64{0}, []float64{0, .5, 1.5, 3.5, 7.5}
	const past = "Retry-After: Fri, 31 Dec 1999 00:00:00 GMT"
	for name, test := range map[string]struct {
		responses turns
		dial      func(context.Context) error // of the first connection
		read      []float64                   // when the service gets a read, in seconds
		start     []float64                   // when it gets a request that is sent once
		outcome   string                      // of that
		text      string                      // part of the error
	}{
		"400":                     {responses: turns{reply(400, `{"error":"no domain"}`)}, read: once, start: once, outcome: final, text: "HTTP 400 Bad Request: no domain"},
		"401":                     {responses: turns{reply(401, "")}, read: once, start: once, outcome: final, text: "HTTP 401"},
		"408":                     {responses: turns{reply(408, "")}, read: retried, start: once, outcome: uncertain, text: "HTTP 408"},
		"425":                     {responses: turns{reply(425, "")}, read: retried, start: once, outcome: final, text: "HTTP 425"},
		"429 with Retry-After":    {responses: turns{reply(429, "", "Retry-After: 90"), reply(200, "{}")}, read: []float64{0, 90}, start: []float64{0, 90}},
		"429 without Retry-After": {responses: turns{reply(429, ""), reply(200, "{}")}, read: []float64{0, .5}, start: []float64{0, .5}},
		"several 429":             {responses: turns{reply(429, ""), reply(429, ""), reply(429, ""), reply(200, "{}")}, read: []float64{0, .5, 1.5, 3.5}, start: []float64{0, .5, 1.5, 3.5}},
		"a 429 between failures":  {responses: turns{reply(500, ""), reply(429, ""), reply(500, "")}, read: []float64{0, .5, 1.5, 3.5, 7.5, 15.5}, start: once, outcome: uncertain, text: "HTTP 500"},
		"more 429 than retries":   {responses: append(slices.Repeat(turns{reply(429, "", "Retry-After: 9")}, 6), reply(200, "{}")), read: []float64{0, 9, 18, 27, 36, 45, 54}, start: []float64{0, 9, 18, 27, 36, 45, 54}},
		"500, then a success":     {responses: turns{reply(500, ""), reply(200, "{}")}, read: []float64{0, .5}, start: once, outcome: uncertain, text: "HTTP 500"},
		"502":                     {responses: turns{reply(502, "")}, read: retried, start: once, outcome: uncertain, text: "HTTP 502"},
		"502 with Retry-After":    {responses: turns{reply(502, "", "Retry-After: 7"), reply(200, "{}")}, read: []float64{0, 7}, start: once, outcome: uncertain, text: "HTTP 502"},
		"503":                     {responses: turns{reply(503, "")}, read: retried, start: once, outcome: uncertain, text: "HTTP 503"},
		"503 with Retry-After":    {responses: turns{reply(503, "", "Retry-After: 90"), reply(200, "{}")}, read: []float64{0, 90}, start: []float64{0, 90}},
		"503 that stays":          {responses: turns{reply(503, "", "Retry-After: 9")}, read: []float64{0, 9, 18, 27, 36}, start: []float64{0, 9, 18, 27, 36}, outcome: final, text: "HTTP 503"},
		"505":                     {responses: turns{reply(505, "")}, read: once, start: once, outcome: uncertain, text: "HTTP 505"},
		"599":                     {responses: turns{reply(599, "")}, read: retried, start: once, outcome: uncertain, text: "HTTP 599"},
		"503 with a past date":    {responses: turns{reply(503, "", past)}, read: retried, start: once, outcome: uncertain, text: "HTTP 503"},
		"302 to a login page":     {responses: turns{reply(302, "", "Location: https://login.test/?"+signature)}, read: once, start: once, outcome: final, text: "HTTP 302 Found to https://login.test/?(redacted)"},
		"303":                     {responses: turns{reply(303, "", "Location: https://h.test/job")}, read: once, start: once, outcome: uncertain, text: "HTTP 303"},
		"a refused connection":    {responses: turns{reply(200, "{}")}, dial: refused, read: []float64{.5}, start: []float64{.5}},
		"a dial that hangs":       {responses: turns{reply(200, "{}")}, dial: hangs, read: []float64{30.5}, start: []float64{30.5}},
		"a reset":                 {responses: turns{reset}, read: retried, start: once, outcome: uncertain, text: "the request to docs.test failed: EOF"},
		"a cut body":              {responses: turns{cut(`{"jobId":"se_1"`)}, read: retried, start: once, outcome: uncertain, text: "the request to docs.test failed: the response ended after 15 bytes: unexpected EOF"},
		"silence":                 {responses: turns{silent}, read: []float64{0, 30.5, 61.5, 93.5, 127.5}, start: once, outcome: uncertain, text: "the request to docs.test failed: no complete response within the request timeout"},
		"a response of no HTTP":   {responses: turns{verbatim(testKey + " https://h/?" + signature + "\r\n")}, read: retried, start: once, outcome: uncertain, text: "malformed HTTP"},
		"a broken header":         {responses: turns{verbatim("HTTP/1.1 200 OK\r\n" + testKey + "\r\n\r\n")}, read: retried, start: once, outcome: uncertain, text: "malformed MIME header"},
		"a broken redirect":       {responses: turns{reply(302, "", "Location: https://h:%zz/"+testKey+"?"+signature)}, read: retried, start: once, outcome: uncertain, text: "failed to parse Location header"},
		"an empty success":        {responses: turns{reply(200, "")}, read: retried, start: once, outcome: uncertain, text: "HTTP 200 OK, but the body is empty"},
		"a web page with 200":     {responses: turns{reply(200, "<title>Sign in</title>")}, read: retried, start: once, outcome: final, text: "the body is an HTML or XML page: Sign in"},
		"a web page with 202":     {responses: turns{reply(202, "<title>Sign in</title>")}, read: retried, start: once, outcome: uncertain, text: "an HTML or XML page"},
		"an array in a 200":       {responses: turns{reply(200, `["no domain"]`)}, read: once, start: once, outcome: uncertain, text: "but not an object: [\"no domain\"]"},
	} {
		for kind, request := range map[string]Request{"read": read, "sent once": start} {
			t.Run(name+", "+kind, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					tr, s := serve(t, inTurn(test.responses...))
					s.dial = func(ctx context.Context, number int) error {
						if number > 1 || test.dial == nil {
							return nil
						}
						return test.dial(ctx)
					}
					_, err := tr.Do(bounded(t, time.Hour), request)
					want := test.read
					if request.Once {
						want = test.start
						if failed := test.outcome != succeeds; (err != nil) != failed || MayHaveActed(err) != (test.outcome == uncertain) {
							t.Errorf("the error is %v, MayHaveActed %t; want %q", err, MayHaveActed(err), test.outcome)
						}
					}
					if got := s.times(); !slices.Equal(got, want) {
						t.Errorf("requests at %v, want %v", got, want)
					}
					if err != nil && !strings.Contains(err.Error(), test.text) {
						t.Errorf("the error is %q, want %q in it", err, test.text)
					}
					checkShown(t, fmt.Sprint(err))
				})
			})
		}
	}
}

func TestBackoffDoublesUpToItsCap(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		1: second, 2: 2 * second, 3: 4 * second, 5: 16 * second, 6: 30 * second, 64: 30 * second, 1000: 30 * second,
	} {
		if got := backoff(failures, 1); got != want {
			t.Errorf("backoff(%d) is %s, want %s", failures, got, want)
		}
	}
}

func TestWaitBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	for _, status := range []int{503, 429} {
		bubble(t, func(t *testing.T) {
			tr, s := serve(t, reply(status, "busy", "Retry-After: 600"))
			_, err := tr.Do(bounded(t, 10*time.Minute), start)
			busy, ok := errors.AsType[*BusyError](err)
			if !ok || !busy.RetryAt.Equal(s.began.Add(600*second)) || !strings.HasSuffix(err.Error(), ": busy") {
				t.Errorf("%d: the error is %v, want one that asks to wait 600 s", status, err)
			}
			if took := time.Since(s.began); took != 0 || len(s.received()) != 1 || MayHaveActed(err) || IsTemporary(err) {
				t.Errorf("%d: %d requests in %s, MayHaveActed %t, IsTemporary %t; want 1, at once", status, len(s.received()), took, MayHaveActed(err), IsTemporary(err))
			}
		})
	}
}

// So the error says that the call ended, and not only how an attempt failed.
func TestBackoffBeyondTheDeadlineLastsUntilThen(t *testing.T) {
	for _, status := range []int{500, 429} {
		bubble(t, func(t *testing.T) {
			tr, s := serve(t, reply(status, ""))
			_, err := tr.Do(bounded(t, 3*second), read)
			ended, ok := errors.AsType[*EndedError](err)
			if took := time.Since(s.began); !slices.Equal(s.times(), []float64{0, .5, 1.5}) || took != 3*second || !ok || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%d: requests at %v, then %v after %s", status, s.times(), err, took)
			}
			if got, _ := StatusOf(ended.Last); got != status {
				t.Errorf("the last attempt failed with %v, want HTTP %d", ended.Last, status)
			}
		})
	}
}

func TestQueueBeyondTheDeadlineFailsWithTheLastAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, s := serve(t, reply(429, "slowly"))
		tr.pacer.waiting.Store(100) // at four per second
		_, err := tr.Do(bounded(t, 20*second), read)
		busy, ok := errors.AsType[*BusyError](err)
		if !ok || !busy.Queued || !busy.RetryAt.Equal(s.began.Add(25500*time.Millisecond)) || !strings.HasSuffix(err.Error(), "; the last attempt: GET /v1/jobs/se_1: HTTP 429 Too Many Requests: slowly") {
			t.Errorf("the error is %v, want that of the queue and the last attempt", err)
		}
	})
}

var errInterrupt = errors.New("interrupt")

func TestEndOfTheContextIsReportedWithTheLastAttempt(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		request Request
		took    float64 // seconds; the interrupt comes after 5
		want    string
	}{
		"in a read":                    {silent, read, 5, "interrupt"},
		"in a second read":             {inTurn(reply(500, "out of order"), silent), read, 5, "interrupt; the last attempt: GET /v1/jobs/se_1: HTTP 500 Internal Server Error: out of order"},
		"in a last read":               {late(4*second, reply(400, "no")), read, 4, "GET /v1/jobs/se_1: HTTP 400 Bad Request: no"},
		"in a backoff":                 {reply(500, "out of order"), read, 5, "interrupt; the last attempt: GET /v1/jobs/se_1: HTTP 500 Internal Server Error: out of order"},
		"in a pause":                   {reply(429, "slowly", "Retry-After: 60"), read, 5, "interrupt; the last attempt: GET /v1/jobs/se_1: HTTP 429 Too Many Requests: slowly"},
		"in a start":                   {late(20*second, reply(200, "{}")), start, 20, ""},
		"in a refused start":           {late(20*second, reply(429, "", "Retry-After: 1")), start, 20, "interrupt; the last attempt: POST /v1/jobs: HTTP 429 Too Many Requests"},
		"in a start refused for hours": {late(20*second, reply(429, "", "Retry-After: 7200")), start, 20, "interrupt; the last attempt: POST /v1/jobs: HTTP 429 Too Many Requests"},
		"in a deferred start":          {late(20*second, reply(503, "", "Retry-After: 1")), start, 20, "interrupt; the last attempt: POST /v1/jobs: HTTP 503 Service Unavailable"},
		"in a failed start":            {late(20*second, reply(500, "")), start, 20, "POST /v1/jobs: HTTP 500 Internal Server Error"},
		"in a silent start":            {silent, start, 30, "POST /v1/jobs: the request to docs.test failed: no complete response within the request timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, s := serve(t, test.handler)
				ctx, cancel := context.WithCancelCause(bounded(t, time.Hour))
				time.AfterFunc(5*second, func() { cancel(errInterrupt) })
				_, err := tr.Do(ctx, test.request)
				got := ""
				if err != nil {
					got = err.Error()
				}
				if took := time.Since(s.began).Seconds(); got != test.want || took < test.took || took > test.took+1 {
					t.Errorf("%q after %g s, want %q after %g s", got, took, test.want, test.took)
				}
				ended, isEnded := errors.AsType[*EndedError](err)
				_, isResponse := errors.AsType[*APIError](err)
				if isEnded != strings.Contains(test.want, "; the last attempt: ") || isEnded && (isResponse || !errors.Is(ended.Cause, errInterrupt)) {
					t.Errorf("%v counts as a response: %t; want the cause alone", err, isResponse)
				}
				if sent := s.times(); test.request.Once && len(sent) != 1 {
					t.Errorf("%d requests were sent, want 1", len(sent))
				}
			})
		})
	}
}

// Otherwise, nothing would limit those retries.
func TestWithoutADeadlineA429CountsAsAFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, s := serve(t, reply(429, "slowly"))
		_, err := tr.Do(t.Context(), start)
		if status, _ := StatusOf(err); status != 429 || !slices.Equal(s.times(), []float64{0, .5, 1.5, 3.5, 7.5}) {
			t.Errorf("%v after requests at %v", err, s.times())
		}
	})
}

func TestNothingIsSentThatIsInvalidOrAfterAnInterrupt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, s := serve(t, reply(200, "{}"), func(c *Config) { c.UserAgent = "test\n" })
		if _, err := tr.Do(bounded(t, time.Hour), start); err == nil || MayHaveActed(err) {
			t.Errorf("with a line break in a header: %v", err)
		}
		ctx, cancel := context.WithCancelCause(bounded(t, time.Hour))
		cancel(errInterrupt)
		if _, err := tr.Do(ctx, start); !errors.Is(err, errInterrupt) || MayHaveActed(err) {
			t.Errorf("after an interrupt: %v", err)
		}
		if _, err := tr.Do(bounded(t, time.Hour), Request{Method: "bad method"}); err == nil {
			t.Error("sent a request whose method is not a token")
		}
		if len(s.received()) != 0 {
			t.Errorf("sent %v", s.received())
		}
	})
}

func TestReadsShareAConnectionAndEachStartHasItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, s := serve(t, inTurn(
			reply(200, "{}"), reply(204, ""), reply(503, strings.Repeat("sorry ", 1000)), reply(302, "moved", "Location: https://elsewhere.test/"), reply(200, "{}"),
		), maxRetries(0))
		for range 4 {
			_, _ = tr.Do(bounded(t, time.Hour), read)
		}
		for range 2 {
			_, _ = tr.Do(bounded(t, time.Hour), start)
		}
		if s.dials != 3 {
			t.Errorf("four reads and two starts made %d connections, want 3", s.dials)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// net/http may finish a connection after it has given up on the request.
func TestConnectionThatComesTooLateIsNoRace(t *testing.T) {
	tr := newTransport(t, maxRetries(0), func(c *Config) {
		c.Network = roundTripper(func(r *http.Request) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(r.Context())
			go trace.GotConn(httptrace.GotConnInfo{})
			return nil, errRefused
		})
	})
	if _, err := tr.Do(bounded(t, time.Minute), start); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}

func TestEachAttemptIsLogged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, s := serve(t, inTurn(
			reset, late(250*time.Millisecond, reply(500, "echo "+testKey, "X-Request-Id: r-1")),
			reply(200, "soon", "X-Request-Id: r-2"), reply(200, "{}", "X-Request-Id: r-3"),
		))
		if _, err := tr.Do(bounded(t, time.Hour), read); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"DEBUG API request map[attempt:1 duration_ms:0 error:GET /v1/jobs/se_1: the request to docs.test failed: EOF method:GET path:/v1/jobs/se_1]",
			"DEBUG API request map[attempt:2 duration_ms:250 error:GET /v1/jobs/se_1: HTTP 500 Internal Server Error: echo (redacted) method:GET path:/v1/jobs/se_1 request_id:r-1 status:500]",
			"DEBUG API request map[attempt:3 duration_ms:0 error:GET /v1/jobs/se_1: HTTP 200 OK, but the body is not JSON: soon method:GET path:/v1/jobs/se_1 request_id:r-2 status:200]",
			"DEBUG API request map[attempt:4 duration_ms:0 method:GET path:/v1/jobs/se_1 request_id:r-3 status:200]",
		}
		if !reflect.DeepEqual(s.log.lines, want) {
			t.Errorf("logged\n%s\nwant\n%s", strings.Join(s.log.lines, "\n"), strings.Join(want, "\n"))
		}
	})
}
