// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxPageText caps what is shown of a web page, in characters.
const maxPageText = 200

// errorMessage returns what the body of an error says, redacted: the words of JSON,
// the title or first words of a web page, or the text itself. value is the decoded
// body.
func (t *Transport) errorMessage(body []byte, value any) string {
	switch {
	case value != nil:
		return MessageIn(value)
	case isPage(body):
		return Redact(t.scrubber.scrub(pageText(string(body))))
	}
	return Redact(t.scrubber.scrub(string(body)))
}

// MessageIn returns the words for people in a decoded JSON value, redacted: those of
// the shapes that errors commonly have, or else everything in it.
func MessageIn(value any) string {
	messages := knownMessages(value, 0)
	if len(messages) == 0 {
		return Redact(allText(value, 0))
	}
	return Redact(strings.Join(messages, ": "))
}

// messageMembers are the members that hold words for people, in the order in
// which they are shown: RFC 9457, OAuth 2.0 and shapes common elsewhere.
var messageMembers = []string{"title", "error", "message", "detail", "details", "error_description", "errors", "reason", "description"}

// maxMessageDepth bounds how deep messages are looked for.
const maxMessageDepth = 4

// knownMessages returns the distinct texts of the members of an object that hold
// words for people. What such a member holds counts whole, as in
// "errors": {"domain": ["is empty"]}.
func knownMessages(value any, depth int) []string {
	object, isObject := value.(map[string]any)
	if !isObject || depth > maxMessageDepth {
		if text := allText(value, depth); text != "" {
			return []string{text}
		}
		return nil
	}
	var messages []string
	for _, name := range messageMembers {
		for _, message := range knownMessages(object[name], depth+1) {
			if !slices.Contains(messages, message) {
				messages = append(messages, message)
			}
		}
	}
	if text := allText(value, depth); len(messages) == 0 && depth > 0 && text != "" {
		return []string{text}
	}
	return messages
}

// allText returns all strings in a JSON value; those of an object, and its numbers,
// with their names.
func allText(value any, depth int) string {
	const most = 100 // items of an array or object
	var found []string
	add := func(name string, value any) {
		text := strings.Join(knownMessages(value, depth+1), ": ")
		if number, ok := value.(json.Number); ok && name != "" {
			text = number.String()
		}
		if text != "" && len(found) < most {
			found = append(found, name+text)
		}
	}
	switch value := value.(type) {
	case string:
		return strings.TrimSpace(value)
	case []any:
		for _, item := range value[:min(len(value), most)] {
			add("", item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			add(name+": ", value[name])
		}
	}
	return strings.Join(found, "; ")
}

var (
	pageTitle  = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title`)
	pageMarkup = regexp.MustCompile(`(?is)<script\b.*?</script|<style\b.*?</style|<!--.*?-->|<[^>]*>?`)
)

// pageText returns the title of an HTML or XML page, or its first words.
func pageText(page string) string {
	text := pageMarkup.ReplaceAllString(page, " ")
	if title := pageTitle.FindStringSubmatch(page); title != nil && strings.TrimSpace(title[1]) != "" {
		text = title[1]
	}
	words := []rune(strings.Join(strings.Fields(html.UnescapeString(text)), " "))
	return string(words[:min(len(words), maxPageText)])
}

// isPage reports whether a body is HTML or XML.
func isPage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}
