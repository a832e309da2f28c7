// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
)

// maxPageText is how many characters of a web page are shown.
const maxPageText = 200

// bodyMessage returns the message in the body of an error: the messages in JSON of a
// common format, the title or first words of a web page, or the text itself. value is
// the decoded body.
func bodyMessage(body []byte, value any) string {
	if isPage(body) {
		return pageText(string(body))
	}
	if object, ok := value.(map[string]any); ok {
		if message := objectMessage(object); message != "" {
			return message
		}
	}
	return string(body)
}

// messageFields are the fields that contain messages, in the order in which they are
// shown: those of RFC 9457 and of other common error formats.
var messageFields = []string{"title", "error", "message", "detail", "errors"}

// objectMessage returns the distinct messages of a JSON object.
func objectMessage(object map[string]any) string {
	var messages []string
	for _, name := range messageFields {
		if text := MessageIn(object[name]); text != "" && !slices.Contains(messages, text) {
			messages = append(messages, text)
		}
	}
	return strings.Join(messages, ": ")
}

// MessageIn returns the message in the JSON value of a field that contains messages: a
// string, an object in a common format, or an array of these. Any other object is the
// message itself, as in "errors": {"domain": "is empty"}.
func MessageIn(value any) string {
	switch value := value.(type) {
	case nil, bool:
		return ""
	case string:
		return strings.TrimSpace(value)
	case []any:
		var texts []string
		for _, item := range value {
			if text := MessageIn(item); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "; ")
	case map[string]any:
		if message := objectMessage(value); message != "" {
			return message
		}
	}
	text, _ := json.Marshal(value) // of decoded JSON, which never fails
	return string(text)
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
