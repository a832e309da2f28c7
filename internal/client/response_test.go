package client

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func zipped(text string) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func TestBodyOfASuccessIsAnObjectOrAnError(t *testing.T) {
	type row struct {
		handler http.HandlerFunc
		problem string // part of the error; empty: the body is usable
	}
	inBubbles(t, map[string]row{
		"a byte order mark":  {reply(200, "\uFEFF{}"), ""},
		"the largest body":   {reply(200, zipped("{}"+strings.Repeat(" ", 98)), "Content-Encoding: gzip"), ""},
		"a larger body":      {reply(200, zipped("{}"+strings.Repeat(" ", 99)), "Content-Encoding: gzip"), ", but the body is larger than 100 bytes"},
		"text":               {reply(200, "Service OK"), "the body is not JSON. The message in the body: Service OK"},
		"one brace too many": {reply(200, `{"a":1}}`), ", but the body is not JSON"},
		"nothing":            {reply(200, ""), ", but the body is empty"},
		"a web page":         {reply(200, "\uFEFF <title>Sign in</title>"), "the body is a web page. The message in the body: Sign in"},
		"an array":           {reply(200, `["no domain"]`), "the JSON body is not an object. The message in the body: no domain"},
		"gzip that is none":  {reply(200, strings.Repeat("{}", 9), "Content-Encoding: gzip"), "the response ended after 0 bytes: gzip: invalid header"},
	}, func(t *testing.T, test row) {
		c, _ := serve(t, test.handler)
		c.maxBody = 100
		response, err := c.send(bounded(t, time.Hour), aRead, sharing)
		if test.problem == "" {
			if err != nil || response.fields == nil {
				t.Errorf("got %v, %v; want an object", response, err)
			}
			return
		}
		if err == nil || response.fields != nil || !strings.HasSuffix(err.Error(), test.problem) {
			t.Fatalf("got %v, %v; want %q", response, err, test.problem)
		}
		if unusable, ok := errors.AsType[*UnexpectedResponseError](err); ok && unusable.NotJSON == (strings.Contains(test.problem, "JSON body") || strings.Contains(test.problem, "larger")) {
			t.Errorf("%v: NotJSON is %t", err, unusable.NotJSON)
		}
		checkShown(t, err.Error())
	})
}

func TestErrorHoldsWhatTheServiceSaid(t *testing.T) {
	type row struct {
		handler http.HandlerFunc
		want    APIError
	}
	inBubbles(t, map[string]row{
		"JSON": {
			reply(503, `{"error":"maintenance","detail":"see https://status.test/?`+signature+`"}`, "Retry-After: 7", "X-Request-Id: r-1"),
			APIError{Exchange: Exchange{StatusCode: 503, RequestID: "r-1", RetryAfter: 7 * second}, Message: "maintenance: see https://status.test/?(redacted)"},
		},
		"a page":                   {reply(404, "<title>Not Found</title>"), APIError{Exchange: Exchange{StatusCode: 404}, Message: "Not Found", Page: true}},
		"a redirect":               {reply(302, "", "Location: ../../login?"+signature), APIError{Exchange: Exchange{StatusCode: 302}, Redirect: "http://docs.test/login?(redacted)"}},
		"an escaped key":           {reply(400, `[{"reason":"bad key `+strings.ReplaceAll(testKey, "/", `\/`)+`"}]`), APIError{Exchange: Exchange{StatusCode: 400}, Message: `{"reason":"bad key (redacted)"}`}},
		"a body that is cut":       {verbatim("HTTP/1.1 404 Not Found\r\nContent-Length: 99\r\n\r\nno such job"), APIError{Exchange: Exchange{StatusCode: 404}, Message: "no such job"}},
		"64 KiB and no more":       {reply(404, `{"error":"x"`+strings.Repeat(" ", maxError)+`}`), APIError{Exchange: Exchange{StatusCode: 404}}},
		"an ID of an AWS exchange": {reply(404, "", "X-Amzn-Requestid: r-1 "+testKey, "Cf-Ray: r-2"), APIError{Exchange: Exchange{StatusCode: 404, RequestID: "r-1 (redacted)"}}},
	}, func(t *testing.T, test row) {
		c, _ := serve(t, test.handler)
		_, err := c.send(bounded(t, time.Hour), aRead, sharing)
		test.want.Method, test.want.Path = "GET", "/v1/jobs/se_1"
		if api, ok := errors.AsType[*APIError](err); !ok || *api != test.want {
			t.Errorf("got %+v, want %+v", err, test.want)
		}
	})
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		value string
		date  string // of the response
		want  time.Duration
	}{
		"a date of another clock": {value: "Sun, 01 Mar 2026 15:00:30 GMT", date: "Sun, 01 Mar 2026 15:00:00 GMT", want: 30 * second},
		"seconds":                 {value: "30", want: 30 * second},
		"a fraction of a second":  {value: "0.5"},
		"a date":                  {value: "Sun, 01 Mar 2026 12:00:30 GMT", want: 30 * second},
		"a date in the past":      {value: "Sun, 01 Mar 2026 11:59:59 GMT"},
		"centuries":               {value: "99999999999", want: (1<<31 - 1) * second},
		"a negative number":       {value: "-1"},
		"nothing":                 {},
	} {
		if got := parseRetryAfter(http.Header{"Retry-After": {test.value}, "Date": {test.date}}, now); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
