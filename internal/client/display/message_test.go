package display

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMessageIsFoundInAnyBody(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"an error and a message": {`{"message":"no such job","error":"Not Found"}`, "Not Found: no such job"},
		"the same text twice":    {`{"message":"no such job","error":"no such job"}`, "no such job"},
		"an error as a number":   {`{"error":404,"message":"no such job"}`, "404: no such job"},
		"no error":               {`{"error":false,"message":null}`, `{"error":false,"message":null}`},
		"RFC 9457": {
			`{"type":"https://h/e","title":"Forbidden","status":403,"detail":"not in this subscription"}`, "Forbidden: not in this subscription",
		},
		"an empty object":    {`{}`, ""},
		"a list":             {`{"errors":[{"title":"Bad","detail":"no domain"},"",null,"no key"]}`, "Bad: no domain; no key"},
		"errors by field":    {`{"message":"Invalid","errors":{"domain":["is empty"]}}`, `Invalid: {"domain":["is empty"]}`},
		"an unknown format":  {`{"msg":"no such job"}`, `{"msg":"no such job"}`},
		"escapes":            {`[{"message":"bad key a\/b"},{"msg":"\u002f"}]`, `bad key a/b; {"msg":"/"}`},
		"characters of HTML": {`{"errors":{"key":"a&b<c>d"}}`, `{"key":"a&b<c>d"}`},
		"a page":             {" <!DOCTYPE html>\n<TITLE lang=en>502 &lt;Bad\n Gateway&gt;</title><h1>Oh no</h1>", "502 <Bad Gateway>"},
		"a page without a title": { // haproxy
			"<html><body><h1>503 Service Unavailable</h1>\nNo server is available.\n</body></html>\n", "503 Service Unavailable",
		},
		"a page without text": {"<html><body><p> <img src=a></p>", ""},
		"an XML document":     {"<?xml?><Error><Code>a</Code></Error>", ""},
		"text cut off":        {"seite \xc3", "seite \xc3"},
		"compressed data":     {"\x1b\x07\x00\xf8\x8d", ""},
		"binary data":         {"PK\x03\x04\x00", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var value any
			_ = json.Unmarshal([]byte(test.body), &value)
			got := BodyMessage([]byte(test.body), value)
			if strings.Contains(test.body, "<") && value == nil {
				got = PageMessage([]byte(test.body))
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
