// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package display

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestMessageIsFoundInAnyBody(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"nothing":                         {"", ""},
		"whitespace":                      {" \r\n", ""},
		"text":                            {" no such job\n", "no such job"},
		"an error":                        {`{"error":"no such job"}`, "no such job"},
		"an error and a message":          {`{"message":"no such job","error":"Not Found"}`, "Not Found: no such job"},
		"the same text twice":             {`{"message":"no such job","error":"no such job"}`, "no such job"},
		"an error as an object":           {`{"error":{"code":404,"message":"no such job"}}`, "no such job"},
		"an error of codes alone":         {`{"error":{"code":"E404","n":1}}`, `{"code":"E404","n":1}`},
		"an error as a number":            {`{"error":404,"message":"no such job"}`, "404: no such job"},
		"no error":                        {`{"error":false,"message":null}`, `{"error":false,"message":null}`},
		"RFC 9457":                        {`{"type":"https://h/e","title":"Forbidden","status":403,"detail":"not in this subscription"}`, "Forbidden: not in this subscription"},
		"a list of texts":                 {`{"errors":["no domain","",null,"no key"]}`, "no domain; no key"},
		"a list of objects":               {`{"errors":[{"title":"Bad","detail":"no domain"},{"message":"no key"}]}`, "Bad: no domain; no key"},
		"errors by field":                 {`{"message":"Invalid","errors":{"domain":["is empty"]}}`, `Invalid: {"domain":["is empty"]}`},
		"an unknown format":               {`{"msg":"no such job"}`, `{"msg":"no such job"}`},
		"an array":                        {`["no domain"]`, `["no domain"]`},
		"a page":                          {"<!DOCTYPE html>\n<title lang=en>502 Bad\n Gateway</title><h1>Oh no</h1>", "502 Bad Gateway Oh no"},
		"a page with entities":            {"<title>&lt;502&gt;</title>Oh&nbsp;no", "<502> Oh no"},
		"a page with scripts":             {"<style>p{}</style><!-- <p>x --><p>Try<br>later<script>if (a<b) x('</p>')</script>", "Try later"},
		"a page with an unclosed comment": {"<p>Try later<!-- x", "Try later"},
		"XML":                             {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Expired</Message></Error>", "AccessDenied Expired"},
		"a page without words":            {"<img src=x>", ""},
		"a long page":                     {"<p>" + strings.Repeat("é <b>", 500), strings.TrimSpace(strings.Repeat("é ", 100))},
	} {
		t.Run(name, func(t *testing.T) {
			var object map[string]any
			_ = json.Unmarshal([]byte(test.body), &object)
			if got := strings.TrimSpace(BodyMessage([]byte(test.body), object)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// An expression that reads the rest of the page once for each opening tag takes
// half a minute for these.
func TestHostilePageIsReadInOnePass(t *testing.T) {
	for _, unit := range []string{"<script>", "<style>", "<!-->", "<title>", "<"} {
		began := time.Now()
		BodyMessage([]byte(strings.Repeat(unit, 64<<10/len(unit))), nil)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("64 KiB of %s take %s", unit, took)
		}
	}
}
