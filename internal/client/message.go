// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// requestIDHeaders are the names under which services return the name of an
// exchange.
var requestIDHeaders = []string{"X-Request-Id", "X-Correlation-Id", "Request-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray"}

func (c *Client) requestID(header http.Header) string {
	for _, name := range requestIDHeaders {
		if id := header.Get(name); id != "" {
			return cut(c.Redact(id), 128)
		}
	}
	return ""
}

// errorMessage returns what the body of an error says, whatever its form. An
// object of a shape that is not known is better shown as it came than not at
// all. It is empty for an empty body.
func errorMessage(body []byte) string {
	message := knownMessage(body)
	if r, ok := parseRecord(body); message == "" && ok && len(r.members) > 0 {
		return string(trimBOM(body))
	}
	return message
}

// knownMessage returns the words for people in a body: JSON in the common
// shapes, HTML, text.
func knownMessage(body []byte) string {
	body = bytes.TrimSpace(trimBOM(body))
	switch {
	case len(body) == 0:
		return ""
	case isPage(body):
		return htmlText(body)
	}
	var value any
	if json.Unmarshal(body, &value) == nil {
		return strings.Join(messagesIn(value, 0), ": ")
	}
	return string(body)
}

// messageMembers are the members that hold words for people, in the order in
// which they are told: RFC 9457, OAuth 2.0 and the shapes common elsewhere.
var messageMembers = []string{"title", "error", "message", "detail", "details", "error_description", "errors", "reason", "description"}

// messagesIn collects the different messages of a JSON value. Below the top an
// object of other members counts as well, as in "errors": {"domain": ["is empty"]}.
func messagesIn(value any, depth int) []string {
	const deepest = 4
	if depth > deepest {
		return nil
	}
	switch value := value.(type) {
	case string:
		if text := strings.TrimSpace(value); text != "" {
			return []string{text}
		}
	case []any:
		var items []string
		for _, item := range value {
			if text := strings.Join(messagesIn(item, depth+1), ": "); text != "" {
				items = append(items, text)
			}
		}
		if len(items) > 0 {
			return []string{strings.Join(items, "; ")}
		}
	case map[string]any:
		var messages []string
		for _, member := range messageMembers {
			for _, message := range messagesIn(value[member], depth+1) {
				if !slices.Contains(messages, message) {
					messages = append(messages, message)
				}
			}
		}
		if len(messages) > 0 || depth == 0 {
			return messages
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if text := strings.Join(messagesIn(value[name], depth+1), ": "); text != "" {
				messages = append(messages, name+": "+text)
			}
		}
		if len(messages) > 0 {
			return []string{strings.Join(messages, "; ")}
		}
	}
	return nil
}

// htmlText returns the words of an HTML or XML page, without its styles and
// scripts.
func htmlText(page []byte) string {
	var words []string
	length := 0
	hidden := 0
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for length < maxShown {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.Join(words, " ")
		case html.StartTagToken:
			if isHidden(tokens) {
				hidden++
			}
		case html.EndTagToken:
			if isHidden(tokens) && hidden > 0 {
				hidden--
			}
		case html.TextToken:
			if text := strings.Join(strings.Fields(string(tokens.Text())), " "); text != "" && hidden == 0 {
				words = append(words, text)
				length += len(text)
			}
		}
	}
	return strings.Join(words, " ")
}

func isHidden(tokens *html.Tokenizer) bool {
	name, _ := tokens.TagName()
	return string(name) == "script" || string(name) == "style"
}

// describeBody says what came instead of the JSON object that was expected.
func describeBody(body []byte) string {
	body = bytes.TrimSpace(trimBOM(body))
	if len(body) == 0 {
		return "the body is empty"
	}
	if isPage(body) {
		return "the body is an HTML or XML page"
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		if body[0] == '{' || body[0] == '[' {
			return "the body is broken JSON: " + err.Error()
		}
		return "the body is not JSON"
	}
	return fmt.Sprintf("the body is JSON, but %s instead of an object", jsonKind(value))
}

func jsonKind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

// isPage reports whether a body is HTML or XML.
func isPage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(trimBOM(body)), []byte("<"))
}

func trimBOM(body []byte) []byte {
	return bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
}
