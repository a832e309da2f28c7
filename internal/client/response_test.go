package client

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
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

func TestResponseIsAnObjectOrAnErrorThatSaysWhatTheServiceSaid(t *testing.T) {
	type row struct {
		handler http.HandlerFunc
		want    string // the error after the method and the path; empty: the body is usable
	}
	inBubbles(t, map[string]row{
		"a byte order mark":  {reply(200, "\uFEFF{}"), ""},
		"the largest body":   {reply(200, zipped("{}"+strings.Repeat(" ", 98)), "Content-Encoding: gzip"), ""},
		"a larger body":      {reply(200, zipped("{}"+strings.Repeat(" ", 99)), "Content-Encoding: gzip"), "200 OK|, but the body is larger than 100 bytes"},
		"text":               {reply(200, "Service OK"), "200 OK|, but the body is not JSON: Service OK"},
		"one brace too many": {reply(200, `{"a":1}}`), "200 OK|, but the body is not JSON"},
		"nothing":            {reply(200, ""), "200 OK|, but the body is empty"},
		"a web page":         {reply(200, "\uFEFF <title>Sign in</title>"), "200 OK|, but the body is a web page: Sign in"},
		"an array":           {reply(200, `["no domain"]`), "200 OK|, but the JSON body is not an object: no domain"},

		"JSON": {
			reply(503, `{"error":"maintenance.","detail":"see https://status.test/?`+signature+`"}`, "X-Request-Id: r-1"),
			"503 Service Unavailable| (request ID r-1): maintenance.: see https://status.test/?(redacted)",
		},
		"JSON without a message": {reply(429, `{}`), "429 Too Many Requests|, without a message"},
		"a sentence":             {reply(404, "No such job."), "404 Not Found|: No such job"},
		"a wait": {
			reply(429, "slow down", "Retry-After: 90"),
			"429 Too Many Requests|: slow down; it asks clients to wait until 2000-01-01T00:01:30Z",
		},
		"a page": {reply(404, "<title>Not Found</title>"), "404 Not Found|, a web page: Not Found"},
		"a redirect": {
			reply(302, "", "Location: ../../login?"+signature),
			"302 Found|, a redirect to http://docs.test/login?(redacted), without a message",
		},
		"an escaped key": {
			reply(400, `[{"reason":"bad key `+strings.ReplaceAll(testKey, "/", `\/`)+`, or `+url.QueryEscape(testKey)+`"}]`),
			`400 Bad Request|: {"reason":"bad key (redacted), or (redacted)"}`,
		},
		"a body that is cut": {verbatim("HTTP/1.1 404 Not Found\r\nContent-Length: 99\r\n\r\nno such job"), "404 Not Found|: no such job"},
		"64 KiB and no more": {reply(404, `{"error":"x"`+strings.Repeat(" ", maxError)+`}`), "404 Not Found|, without a message"},
		"an ID of an AWS exchange": {
			reply(404, "", "X-Amzn-Requestid: r-1 "+testKey, "Cf-Ray: r-2"),
			"404 Not Found| (request ID r-1 (redacted)), without a message",
		},
	}, func(t *testing.T, test row) {
		c, _ := serve(t, test.handler)
		c.maxBody = 100
		response, err := c.send(bounded(t, time.Hour), aRead, firstAttempt)
		want := "the service returned HTTP " + strings.Replace(test.want, "|", " for GET /v1/jobs/se_1", 1)
		if usable := test.want == ""; (response.fields != nil) != usable || (err == nil) != usable || err != nil && err.Error() != want {
			t.Errorf("got  %v, %v\nwant %s", response.fields, err, want)
		}
	})
}
