// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"net/http"
	"strings"
	"testing"
)

func TestMessageIsFoundInAnyBody(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"nothing":                           {"", ""},
		"white space":                       {" \r\n", ""},
		"text":                              {" no such job\n", "no such job"},
		"an error":                          {`{"error":"no such job"}`, "no such job"},
		"a message":                         {`{"message":"no such job"}`, "no such job"},
		"a byte order mark before":          {"\xEF\xBB\xBF" + `{"message":"no such job"}`, "no such job"},
		"an error and a message":            {`{"message":"no such job","error":"Not Found","statusCode":404}`, "Not Found: no such job"},
		"the same twice":                    {`{"message":"no such job","error":"no such job"}`, "no such job"},
		"an error as an object":             {`{"error":{"code":404,"message":"no such job"}}`, "no such job"},
		"an error of codes alone":           {`{"error":{"code":"E404","status":"NOT_FOUND","n":1}}`, "code: E404; status: NOT_FOUND"},
		"RFC 9457":                          {`{"type":"https://h/e","title":"Forbidden","status":403,"detail":"not on this plan","instance":"/x"}`, "Forbidden: not on this plan"},
		"OAuth 2.0":                         {`{"error":"invalid_token","error_description":"the token expired"}`, "invalid_token: the token expired"},
		"a list of texts":                   {`{"errors":["no domain","no plan"]}`, "no domain; no plan"},
		"a list of objects":                 {`{"errors":[{"title":"Bad","detail":"no domain"},{"message":"no plan"}]}`, "Bad: no domain; no plan"},
		"errors by field":                   {`{"message":"Invalid","errors":{"path":["is relative"],"domain":["is empty","is short"]}}`, "Invalid: domain: is empty; is short; path: is relative"},
		"a list at the top":                 {`["no domain",{"message":"no plan"},null,7]`, "no domain; no plan"},
		"a text":                            {`"no such job"`, "no such job"},
		"a number":                          {`404`, ""},
		"null":                              {`null`, ""},
		"an empty object":                   {`{}`, ""},
		"an object with no member known":    {`{"msg":"no such job","code":4}`, `{"msg":"no such job","code":4}`},
		"empty messages":                    {`{"error":" ","message":null,"detail":"no such job"}`, "no such job"},
		"an object below too many others":   {`{"error":{"error":{"error":{"error":{"error":"deep"}}}}}`, `{"error":{"error":{"error":{"error":{"error":"deep"}}}}}`},
		"broken JSON":                       {`{"error":"no su`, `{"error":"no su`},
		"HTML":                              {"<!DOCTYPE html>\n<html><head><title>502 Bad\n Gateway</title><style>p{}</style></head><body><h1>Oh&nbsp;no</h1><script>x('y')</script><p>Try later</body>", "502 Bad Gateway Oh no Try later"},
		"HTML with an unclosed script":      {"<p>Try later<script>x('y')", "Try later"},
		"HTML that closes what is not open": {"</script><p>Try later", "Try later"},
		"XML":                               {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>", "AccessDenied Request has expired"},
		"a page without words":              {"<img src=x>", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := errorMessage([]byte(test.body)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestMessageOfALongPageIsCut(t *testing.T) {
	page := "<p>" + strings.Repeat("word <b>", 100_000)
	if got := errorMessage([]byte(page)); len(got) > 2*maxShown || len(got) < maxShown {
		t.Errorf("%d bytes", len(got))
	}
}

func TestRequestIDIsFoundUnderItsUsualNames(t *testing.T) {
	c := &Client{apiKey: testKey}
	tests := map[string]struct {
		header http.Header
		want   string
	}{
		"none":                {http.Header{"Date": {"x"}}, ""},
		"X-Request-Id":        {http.Header{"X-Request-Id": {"r-1"}}, "r-1"},
		"X-Correlation-Id":    {http.Header{"X-Correlation-Id": {"r-1"}}, "r-1"},
		"Request-Id":          {http.Header{"Request-Id": {"r-1"}}, "r-1"},
		"of AWS":              {http.Header{"X-Amzn-Requestid": {"r-1"}}, "r-1"},
		"X-Trace-Id":          {http.Header{"X-Trace-Id": {"r-1"}}, "r-1"},
		"of Cloudflare":       {http.Header{"Cf-Ray": {"r-1"}}, "r-1"},
		"the most telling":    {http.Header{"Cf-Ray": {"r-2"}, "X-Request-Id": {"r-1"}}, "r-1"},
		"an empty one first":  {http.Header{"Cf-Ray": {"r-2"}, "X-Request-Id": {""}}, "r-2"},
		"a long one":          {http.Header{"X-Request-Id": {strings.Repeat("é", 100)}}, strings.Repeat("é", 64)},
		"an echo of the key":  {http.Header{"X-Request-Id": {strings.Repeat("x", 120) + testKey}}, strings.Repeat("x", 120) + "(redacte"},
		"one with odd escape": {http.Header{"X-Request-Id": {"r\x1b[1m"}}, "r[1m"},
	}
	for name, test := range tests {
		if got := c.requestID(test.header); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
