// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
)

func TestRequestCarriesTheKeyAndSaysWhoSendsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reply(200, `{"status":"success","jobId":"se_1","bundleUrl":"https://h/b"}`))
		_, err1 := c.GetUpdateStatus(t.Context(), "up_1")
		_, err2 := c.StartStaticExport(t.Context(), "d", nil)
		_, err3 := c.GenerateBundle(t.Context(), "se_1")
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		for i, contentType := range []string{"", "application/json", ""} {
			r := s.got()[i]
			got := []string{r.header.Get("Authorization"), r.header.Get("Accept"), r.header.Get("User-Agent"), r.header.Get("Content-Type")}
			if want := []string{"Bearer " + testKey, "application/json", "test/1", contentType}; !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s carries %q, want %q", r.method, r.path, got, want)
			}
		}
	})
}

func TestIDReachesTheServiceAsOneElementOfThePath(t *testing.T) {
	for _, id := range []string{
		"up_1", "a/b", "../../admin", ".", "..", "...", "a?b=c", "a#b", "a%2Fb", "a%", "a b", "a+b", "a;b=c", "ä/日本", "\x00\n", "a\\b", "//host/path", "a:b", "@",
	} {
		t.Run(fmt.Sprintf("%q", id), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var elements []string
				mux := http.NewServeMux()
				mux.HandleFunc("GET /a%2Fb/v1/project/update-status/{id}", func(w http.ResponseWriter, r *http.Request) {
					elements = append(elements, r.PathValue("id"))
					reply(200, done)(w, r)
				})
				c, s := serve(t, mux.ServeHTTP, func(config *Config, _ *service) { config.BaseURL = "http://localhost/a%2Fb/v1/" })
				if _, err := c.GetUpdateStatus(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(elements, []string{id}) {
					t.Errorf("the service got %q by %s", elements, s.got()[0].path)
				}
			})
		})
	}
}

func packed(content []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.String()
}

func TestBodyThatIsOfNoUseIsAnErrorThatSaysWhatCame(t *testing.T) {
	t.Parallel()
	large := `{"status":"success","padding":"` + strings.Repeat("x", maxBody) + `"}`
	tests := map[string]struct {
		handler http.HandlerFunc
		problem string // part of the error; empty: the body is of use
	}{
		"empty":                        {reply(200, ""), "HTTP 200 OK, but the body is empty"},
		"204":                          {reply(204, ""), "HTTP 204 No Content, but the body is empty"},
		"white space":                  {reply(200, " \r\n\t"), "the body is empty"},
		"a byte order mark alone":      {reply(200, "\xEF\xBB\xBF"), "the body is empty"},
		"HTML":                         {reply(200, "<!DOCTYPE html><title>Sign in</title><script>var a='"+marked+"'</script>"), "the body is an HTML or XML page: Sign in"},
		"text":                         {reply(200, "Service OK"), "the body is not JSON: Service OK"},
		"an array":                     {reply(200, `[{"status":"success"}]`), "the body is JSON, but an array instead of an object"},
		"null":                         {reply(200, `null`), "the body is JSON, but null instead of an object"},
		"a number":                     {reply(200, `42`), "the body is JSON, but a number instead of an object"},
		"a boolean":                    {reply(200, `true`), "the body is JSON, but a boolean instead of an object"},
		"a string":                     {reply(200, `"success"`), "the body is JSON, but a string instead of an object: success"},
		"an object without the field":  {reply(200, `{"statuses":"success"}`), "the answer has no status"},
		"an empty status":              {reply(200, `{"status":""}`), "the answer has no status"},
		"two objects":                  {reply(200, `{"status":"success"}{"status":"failure"}`), "the body is broken JSON: invalid character '{' after top-level value"},
		"a cut object":                 {reply(200, `{"status":"success"`), "the body is broken JSON: unexpected end of JSON input"},
		"deep nesting":                 {reply(200, `{"status":`+strings.Repeat("[", 100_000)), "the body is broken JSON: invalid character '[' exceeded max depth"},
		"deep nesting that is whole":   {reply(200, `{"status":"success","a":`+strings.Repeat("[", 9_000)+strings.Repeat("]", 9_000)+`}`), ""},
		"just 8 MiB":                   {reply(200, packed([]byte(large[:maxBody-2]+`"}`)), "Content-Encoding: gzip"), ""},
		"a gzip bomb":                  {reply(200, packed(make([]byte, maxBody+1)), "Content-Encoding: gzip"), "the body is larger than 8 MiB"},
		"gzip":                         {reply(200, packed([]byte(done)), "Content-Encoding: gzip"), ""},
		"gzip that is none":            {reply(200, done, "Content-Encoding: gzip"), "the answer was cut off after 0 bytes: gzip: invalid header"},
		"a Content-Length too long":    {verbatim("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + done), "the answer was cut off after 20 bytes: unexpected EOF"},
		"a Content-Length too short":   {verbatim("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + done), "the body is broken JSON: unexpected end of JSON input"},
		"a Content-Length of no use":   {verbatim("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n" + done), "bad Content-Length"},
		"chunks that are cut":          {verbatim("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" + done), "the answer was cut off after 20 bytes"},
		"no Content-Length, then end":  {verbatim("HTTP/1.1 200 OK\r\n\r\n" + done), ""},
		"a body that stalls":           {stalling(`{"status":"succ`), "no answer within the request timeout (30s)"},
		"a byte order mark before":     {reply(200, "\xEF\xBB\xBF"+done), ""},
		"invalid UTF-8 in other parts": {reply(200, "{\"status\":\"success\",\"summary\":\"\xff\xfe\"}"), ""},
		"other fields":                 {reply(200, `{"status":"success","x":{"y":[null,{}]}}`), ""},
		"another content type":         {reply(200, done, "Content-Type: text/html"), ""},
		"another success":              {reply(203, done), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, s := serve(t, test.handler, retries(0))
				update, err := c.GetUpdateStatus(t.Context(), "up_1")
				if test.problem == "" {
					if err != nil || !update.Succeeded() {
						t.Errorf("got %v, %v; want the update", update, err)
					}
					return
				}
				if err == nil || update != nil || !strings.Contains(err.Error(), test.problem) {
					t.Fatalf("got %v, %v; want an error that says %q", update, err, test.problem)
				}
				if !isTransient(err) || len(s.got()) != 1 {
					t.Errorf("isTransient is %v after %d requests", isTransient(err), len(s.got()))
				}
				checkShown(t, err.Error())
			})
		})
	}
}

// stalling sends the head of an answer and some of its body, and no more.
func stalling(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(body))
		w.(http.Flusher).Flush()
		silence(w, r)
	}
}

func TestHugeBodyIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"of a success": 200, "of an error": 403} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent atomic.Int64
				c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Length", fmt.Sprint(512<<20))
					w.WriteHeader(status)
					chunk := bytes.Repeat([]byte("x"), 64<<10)
					for n, err := w.Write(chunk); err == nil; n, err = w.Write(chunk) {
						sent.Add(int64(n))
					}
				}, retries(0))
				_, err := c.GetUpdateStatus(t.Context(), "up_1")
				if err == nil || strings.Contains(err.Error(), "xxx") != (status == 403) {
					t.Errorf("got %v, want an error, with the body only of an error", err)
				}
				synctest.Wait()
				if got := sent.Load(); got < maxBody-128<<10 || got > maxBody+128<<10 {
					t.Errorf("%d bytes were taken, want about %d", got, maxBody)
				}
			})
		})
	}
}

func TestErrorOfAnAnswerHasAllThatItSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, reply(503, `{"error":"maintenance","detail":"see https://status.example/now?token=`+marked+`"}`, "Retry-After: 7", "X-Request-Id: r-1"), retries(0))
		_, err := c.GetStaticExportJob(t.Context(), "a/b")
		var answer *APIError
		if !errors.As(err, &answer) {
			t.Fatalf("got %v", err)
		}
		want := APIError{
			Method: "GET", Path: "/v1/static-export/jobs/a%2Fb", StatusCode: 503, RequestID: "r-1", RetryAfter: 7 * time.Second,
			Message: "maintenance: see https://status.example/now?(redacted)",
		}
		if *answer != want {
			t.Errorf("got %+v, want %+v", *answer, want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, reply(200, `{"message":"try later"}`, "X-Request-Id: r-1"), retries(0))
		_, err := c.GetStaticExportJob(t.Context(), "a/b")
		var answer *UnexpectedAnswerError
		if !errors.As(err, &answer) {
			t.Fatalf("got %v", err)
		}
		want := UnexpectedAnswerError{
			Method: "GET", Path: "/v1/static-export/jobs/a%2Fb", StatusCode: 200, RequestID: "r-1",
			Problem: "the answer has no status", Message: "try later",
		}
		if *answer != want {
			t.Errorf("got %+v, want %+v", *answer, want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, reset, retries(0))
		_, err := c.GetStaticExportJob(t.Context(), "a/b")
		var connection *ConnectionError
		if !errors.As(err, &connection) {
			t.Fatalf("got %v", err)
		}
		want := ConnectionError{Method: "GET", Path: "/v1/static-export/jobs/a%2Fb", Host: "localhost", Sent: true, Err: connection.Err}
		if *connection != want || connection.Err.Error() != "EOF" {
			t.Errorf("got %+v, want %+v", *connection, want)
		}
	})
}

func TestErrorOfASuccessDoesNotRepeatWhatIsNoMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := serve(t, reply(200, `{"jobId":"se_1","secret":"`+marked+`"}`), retries(0))
		_, err := c.GetStaticExportJob(t.Context(), "se_1")
		if want := "GET /v1/static-export/jobs/se_1: HTTP 200 OK, but the answer has no status"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	})
}

func TestErrorTellsNoSecretAndIsFitForATerminal(t *testing.T) {
	t.Parallel()
	hostile := "key " + testKey + " bearer " + testKey + " url https://user:" + marked + "@h/p?sig=" + marked +
		" esc \x1b[2J\u202e\u200b nul \x00 " + strings.Repeat("é ", 4000)
	link := "https://h/p?X-Amz-Signature=" + marked
	tests := map[string]http.HandlerFunc{
		"text":                          reply(400, hostile),
		"HTML":                          reply(400, "<p>"+strings.ReplaceAll(hostile, "&", "&amp;")),
		"JSON":                          reply(400, fmt.Sprintf(`{"error":%q}`, hostile)),
		"JSON of another shape":         reply(400, `{"k":"`+testKey+`","l":"`+link+`"}`),
		"invalid UTF-8":                 reply(400, "\xff\xfe"+hostile),
		"a success that is text":        reply(200, hostile),
		"a success that is broken JSON": reply(200, `{"bundleUrl":"`+link+`","echo":"`+testKey+`"`),
		"a status line that is none":    verbatim("HTTP/1.1 200\n" + testKey + " " + link + "\r\n\r\n"),
		"a header that is none":         verbatim("HTTP/1.1 200 OK\r\n" + testKey + " " + link + "\r\n\r\n"),
		"a redirect":                    reply(302, "", "Location: "+link+"&k="+testKey),
		"a redirect with the key in it": reply(302, "", "Location: https://h/"+testKey+"/p#"+marked),
		"a redirect that is no URL":     reply(302, "", "Location: https://h:%zz/"+testKey+"?sig="+marked),
		"a choice that is no URL":       reply(300, "", "Location: /%zz?"+marked),
		"a request id":                  reply(400, "", "X-Request-Id: "+strings.Repeat("x", 120)+testKey),
	}
	for name, handler := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := serve(t, handler, retries(0))
				_, err := c.GetStaticExportJob(t.Context(), "se_1")
				if err == nil {
					t.Fatal("want an error")
				}
				text := err.Error()
				var answer *APIError
				if errors.As(err, &answer) {
					text += " " + answer.RequestID
				}
				checkShown(t, text)
				if strings.Contains(text, testKey[:12]) {
					t.Errorf("%q shows a part of the key", text)
				}
				if head := len("GET /v1/static-export/jobs/se_1: HTTP 200 OK, but the body is broken JSON: invalid character 'x' after object key:value pair: "); len(text) > head+maxShown+128 {
					t.Errorf("the error is of %d bytes", len(text))
				}
				for _, r := range text {
					if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
						t.Errorf("%q has %U", text, r)
					}
				}
			})
		})
	}
}

func TestEachAttemptIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, inTurn(after(250*time.Millisecond, reply(500, "echo "+testKey, "X-Request-Id: r-1")), reply(200, done, "X-Request-Id: r-2")))
		if _, err := c.GetUpdateStatus(t.Context(), "a/b"); err != nil {
			t.Fatal(err)
		}
		want := []line{
			{"debug", "API request", map[string]any{
				"method": "GET", "path": "/v1/project/update-status/a%2Fb", "status": 500, "attempt": 1, "duration_ms": int64(250), "request_id": "r-1",
				"error": "GET /v1/project/update-status/a%2Fb: HTTP 500 Internal Server Error: echo (redacted)",
			}},
			{"debug", "API request", map[string]any{
				"method": "GET", "path": "/v1/project/update-status/a%2Fb", "status": 200, "attempt": 2, "duration_ms": int64(0), "request_id": "r-2",
			}},
		}
		if got := s.log.at("debug"); !reflect.DeepEqual(got, want) {
			t.Errorf("logged %v, want %v", got, want)
		}
	})
}
