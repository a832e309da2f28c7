// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// link is a presigned link with user information, which must not be sent.
const link = "http://user:" + signature + "@store.test/b.tar.gz?X-Amz-Signature=" + signature

// fetch opens and closes a link.
func fetch(t *testing.T, tr *Transport, link string) error {
	t.Helper()
	resp, err := tr.Fetch(t.Context(), link, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func TestFetchSendsTheLinkAndNoCredential(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, s := serve(t, inTurn(reply(302, "", "Location: http://other.test/b?"+signature), reply(206, "content")))
		resp, err := tr.Fetch(t.Context(), link, http.Header{"Range": {"bytes=3-"}})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != "content" || err != nil || resp.Body.Close() != nil {
			t.Errorf("read %q, %v", body, err)
		}
		requests := s.received()
		if len(requests) != 2 || requests[0].host != "store.test" || requests[1].host != "other.test" {
			t.Fatalf("requests are %v", requests)
		}
		for _, r := range requests {
			for name, want := range map[string]string{
				"Authorization": "", "Cookie": "", "Referer": "", "Range": "bytes=3-", "Accept-Encoding": "identity", "User-Agent": "test/1",
			} {
				if got := r.header.Get(name); got != want {
					t.Errorf("%s got %s %q, want %q", r.host, name, got, want)
				}
			}
		}
		if want := "DEBUG Bundle download map[duration_ms:0 host:store.test path:/b.tar.gz range:bytes=3- status:206]"; s.log.lines[0] != want {
			t.Errorf("logged %q, want %q", s.log.lines[0], want)
		}
	})
}

func TestFetchAcceptsDataAndReportsAnythingElse(t *testing.T) {
	const xml = `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Expired at https://s.test/?` + signature +
		`</Message><StringToSign>` + signature + `</StringToSign></Error>`
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string // the error; empty: none
	}{
		"200":                     {reply(200, "x"), ""},
		"206":                     {reply(206, "x"), ""},
		"416":                     {reply(416, ""), ""},
		"an XML error":            {reply(403, xml), "the object store store.test returned HTTP 403 Forbidden, AccessDenied: Expired at https://s.test/?(redacted)"},
		"an XML error of a store": {reply(403, strings.Replace(xml, "<Error>", `<Error xmlns="urn:s">`, 1)), "the object store store.test returned HTTP 403 Forbidden, AccessDenied: Expired at https://s.test/?(redacted)"},
		"the key in XML":          {reply(403, "<Error><Code>"+testKey+"</Code></Error>"), "the object store store.test returned HTTP 403 Forbidden, (redacted)"},
		"other XML":               {reply(403, "<html>"+signature+"</html>"), "the object store store.test returned HTTP 403 Forbidden"},
		"XML that is cut":         {reply(403, strings.TrimSuffix(xml, "</Error>")), "the object store store.test returned HTTP 403 Forbidden"},
		"XML over 64 KiB":         {reply(403, strings.Replace(xml, "<Code>", strings.Repeat(" ", maxError)+"<Code>", 1)), "the object store store.test returned HTTP 403 Forbidden"},
		"JSON":                    {reply(500, `{"sig":"`+signature+`"}`), "the object store store.test returned HTTP 500 Internal Server Error"},
		"a redirect":              {reply(304, ""), "the object store store.test returned HTTP 304 Not Modified"},
		"a reset":                 {reset, "GET /b.tar.gz: no response from store.test: EOF"},
		"silence":                 {silent, "GET /b.tar.gz: no response from store.test: no data for 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, s := serve(t, test.handler)
				got := ""
				if err := fetch(t, tr, link); err != nil {
					got = err.Error()
				}
				if got != test.want || len(s.received()) != 1 {
					t.Errorf("got %q after %d requests, want %q", got, len(s.received()), test.want)
				}
			})
		})
	}
	bubble(t, func(t *testing.T) {
		tr, _ := serve(t, reply(503, "", "Retry-After: 7"))
		if status, wait := answerOf(fetch(t, tr, link)); status != 503 || wait != 7*second {
			t.Errorf("got HTTP %d and Retry-After %s", status, wait)
		}
		if err := fetch(t, tr, "https://h/%zz?"+signature); err == nil || err.Error() != "the bundle's link is not a URL" {
			t.Errorf("a link that is not a URL: %v", err)
		}
	})
}

// drip sends chunks, each after a delay, and then does what comes next.
func drip(chunks int, delay time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		for range chunks {
			late(delay, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "0123456789")
				w.(http.Flusher).Flush()
			})(w, r)
		}
		next(w, r)
	}
}

func TestBodyThatStallsOrIsCutEndsWithAConnectionError(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		pause   time.Duration // of the reader, before it reads on
		bytes   int
		took    time.Duration
		want    string
	}{
		"slow but steady":        {handler: drip(10, 29*second, reply(200, "")), bytes: 100, took: 290 * second},
		"read slowly":            {handler: drip(10, 0, reply(200, "")), pause: time.Hour, bytes: 100, took: time.Hour},
		"a stall":                {handler: drip(3, 20*second, silent), bytes: 30, took: 90 * second, want: "GET /b.tar.gz: no response from store.test: no data for 30s"},
		"a cut":                  {handler: drip(3, 0, reset), bytes: 30, want: "GET /b.tar.gz: no response from store.test: unexpected EOF"},
		"an interrupt by a user": {handler: drip(10, 7*second, silent), bytes: 70, took: 50 * second, want: "GET /b.tar.gz: no response from store.test: interrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tr, s := serve(t, test.handler)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if strings.HasPrefix(name, "an interrupt") {
					time.AfterFunc(50*second, func() { cancel(errInterrupt) })
				}
				resp, err := tr.Fetch(ctx, link, nil)
				if err != nil {
					t.Fatal(err)
				}
				head := make([]byte, 1)
				_, _ = io.ReadFull(resp.Body, head)
				<-time.After(test.pause)
				rest, err := io.ReadAll(resp.Body)
				got := ""
				var connection *ConnectionError
				if errors.As(err, &connection) {
					got = err.Error()
				}
				if took := time.Since(s.began); got != test.want || len(rest)+1 != test.bytes || took != test.took {
					t.Errorf("%d bytes after %s, %v; want %d after %s, %q", len(rest)+1, took, err, test.bytes, test.took, test.want)
				}
				_ = resp.Body.Close()
			})
		})
	}
}
