package display

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
)

// BodyMessage returns the message in the body of an error: that in a JSON value, or the body itself if it is text.
// value is the decoded body; nil if it is not JSON.
func BodyMessage(body []byte, value any) string {
	switch {
	case value != nil:
		return FieldMessage(value)
	case isText(body):
		return string(body)
	}
	return ""
}

// isText reports whether a body is text, and neither binary data nor damaged JSON, whose escapes could hide a secret.
// Its last character may be cut off.
func isText(body []byte) bool {
	if bytes.IndexAny(bytes.TrimSpace(body), `{["`) == 0 {
		return false
	}
	text := strings.ToValidUTF8(string(body), "\uFFFD")
	return !strings.ContainsAny(strings.TrimSuffix(text, "\uFFFD"), "\uFFFD\x00")
}

// messageFields are the fields that contain messages, in the order in which they are shown: those of RFC 9457 and of
// other common error formats.
var messageFields = []string{"title", "error", "message", "detail", "errors"}

// ObjectMessage returns the distinct messages in the common fields of a JSON object.
func ObjectMessage(object map[string]any) string {
	var messages []string
	for _, name := range messageFields {
		messages = append(messages, FieldMessage(object[name]))
	}
	return join(messages, ": ")
}

// FieldMessage returns the message in a JSON value, such as that of a common field: a string, an object with common
// fields, or an array of these. Any other object is the message itself, as in "errors": {"domain": "is empty"}.
func FieldMessage(value any) string {
	switch value := value.(type) {
	case nil, bool:
		return ""
	case string:
		return strings.TrimSpace(value)
	case []any:
		var messages []string
		for _, item := range value {
			messages = append(messages, FieldMessage(item))
		}
		return join(messages, "; ")
	case map[string]any:
		if message := ObjectMessage(value); message != "" || len(value) == 0 {
			return message
		}
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // or a key with such a character would not be found and redacted
	_ = encoder.Encode(value)    // decoded JSON, which never fails
	return strings.TrimSpace(text.String())
}

// join joins distinct texts that are not empty.
func join(texts []string, separator string) string {
	var kept []string
	for _, text := range texts {
		if text != "" && !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, separator)
}

// pageMessages find the title of a page, or the first heading or paragraph.
var pageMessages = []*regexp.Regexp{
	regexp.MustCompile(`(?is)<title[^>]*>\s*([^<\s][^<]*)`),
	regexp.MustCompile(`(?is)<(?:h\d|p|pre|body)(?:\s[^>]*)?>\s*([^<\s][^<]*)`),
}

// PageMessage returns the message in an HTML page, or "".
func PageMessage(page []byte) string {
	for _, message := range pageMessages {
		if found := message.FindSubmatch(page); found != nil {
			return strings.Join(strings.Fields(html.UnescapeString(string(found[1]))), " ")
		}
	}
	return ""
}
