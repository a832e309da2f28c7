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

// maxPageText is how many characters of a web page are shown.
const maxPageText = 200

// errorMessage returns the message in the body of an error, redacted: the messages in
// JSON of a common form, all strings in any other JSON, the title or first words of a
// web page, or the text itself. value is the decoded body. Text after maxError bytes is
// ignored.
func (t *Transport) errorMessage(body []byte, value any) string {
	body = body[:min(len(body), maxError)]
	if isPage(body) {
		return Redact(t.scrubber.scrub(pageText(string(body))))
	}
	if value == nil {
		return Redact(t.scrubber.scrub(string(body)))
	}
	return MessageIn(value)
}

// MessageIn returns the messages in a decoded JSON value, redacted: those of a common
// error format, or else all strings.
func MessageIn(value any) string {
	return Redact(strings.Join(messagesIn(value, 1), ": "))
}

// messageMembers are the members that contain messages, in the order in which they are
// shown: those of RFC 9457, of OAuth 2.0, and of other common error formats.
var messageMembers = []string{"title", "error", "message", "detail", "details", "error_description", "errors", "reason", "description"}

// messagesIn collects the distinct messages of a JSON value. An object without
// any of the members above is shown in full, as in "errors": {"domain": ["is empty"]}.
// At depth 0 it is not shown, because it is a successful response, which may contain
// anything.
func messagesIn(value any, depth int) []string {
	object, isObject := value.(map[string]any)
	if !isObject {
		return members(value, depth)
	}
	var messages []string
	for _, name := range messageMembers {
		for _, message := range messagesIn(object[name], depth+1) {
			if !slices.Contains(messages, message) {
				messages = append(messages, message)
			}
		}
	}
	if len(messages) == 0 && depth > 0 {
		return members(value, depth)
	}
	return messages
}

// members returns all strings in a JSON value. For an object, it also returns numbers,
// and adds the names of the members.
func members(value any, depth int) []string {
	const deepest, most = 5, 100
	if depth > deepest {
		return nil
	}
	var found []string
	switch value := value.(type) {
	case string:
		if text := strings.TrimSpace(value); text != "" {
			return []string{text}
		}
		return nil
	case []any:
		for _, item := range value[:min(len(value), most)] {
			if text := strings.Join(messagesIn(item, depth+1), ": "); text != "" {
				found = append(found, text)
			}
		}
	case map[string]any:
		names := slices.Sorted(maps.Keys(value))
		for _, name := range names[:min(len(names), most)] {
			text := strings.Join(messagesIn(value[name], depth+1), ": ")
			if number, ok := value[name].(json.Number); ok {
				text = number.String()
			}
			if text != "" {
				found = append(found, name+": "+text)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{strings.Join(found, "; ")}
}

var (
	pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title`)
	// pageMarkup matches an unclosed element to the end of the page, so that it reads
	// no text twice.
	pageMarkup = regexp.MustCompile(`(?is)<script\b.*?(?:</script[^>]*>|\z)|<style\b.*?(?:</style[^>]*>|\z)|<!--.*?(?:-->|\z)|<[^>]*>?`)
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
