// Package display makes the service's text safe to show: it redacts secrets, marks lines, and finds the message in a
// body. It does not depend on HTTP or on the API.
package display

import (
	"regexp"
	"strings"
	"unicode"
)

// LineMark begins each line of the service's text but the first, which follows words of the provider. So none looks
// like a line of the provider. Terraform does not wrap lines that begin with a space.
const LineMark = "\n  | "

const (
	redacted = "(redacted)"
	// maxShown is how many bytes of any text are shown.
	maxShown = 2 << 10
)

var (
	userInURL = regexp.MustCompile(`://[^\s/?#"<>]*@`)
	// queryInURL matches a path, or a whole URL, and its query, or a fragment with a parameter, such as an access
	// token. Any other fragment is an anchor or a line number, which says where a site is broken.
	queryInURL = regexp.MustCompile(`(/[^\s?#"<>]*\?)[^\s"<>]+|(/[^\s?#"<>]*#)[^\s"<>=]*=[^\s"<>]*`)
	// signed matches a parameter that makes a link a credential, with or without the link, and its value.
	signed = regexp.MustCompile(`(?i)((?:X-(?:Amz|Goog|Oss)-[\w-]+|signature|sig)(?:=|%3d))[^\s"<>]+`)
	// command matches what CI runners obey in a log: "::" at the beginning of a line, which a CLI that wraps can make
	// of each word, and "##[" or "##vso[" anywhere. A backslash breaks it, and unlike a space, it cannot be wrapped.
	command = regexp.MustCompile(`(^|\s)(::)|(##\w*)(\[)`)
)

// Redactor makes text safe to show. It holds the secrets that are never shown, unless they are empty.
type Redactor []string

// Redact makes text safe to show: printable, at most 2 KiB, without the secrets, and without the user information,
// query, and parameters in the fragment of any URL, and the signature of a presigned link, which is a credential. Its
// lines have a [LineMark], and hold no command of a CI runner.
func (r Redactor) Redact(text string) string {
	text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
	for _, secret := range r {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	text = userInURL.ReplaceAllString(text, "://"+redacted+"@")
	text = queryInURL.ReplaceAllString(text, "${1}${2}"+redacted)
	text = strings.TrimSpace(signed.ReplaceAllString(text, "${1}"+redacted))
	text = command.ReplaceAllString(text, `${1}${3}\${2}${4}`)
	text = strings.ReplaceAll(strings.ReplaceAll(text, LineMark, "\n"), "\n", LineMark)
	if len(text) > maxShown {
		const shortened = " (shortened)"
		text = strings.ToValidUTF8(text[:maxShown-len(shortened)], "") + shortened
	}
	return text
}

// printable keeps line breaks and tabs, and drops characters that a terminal interprets or does not show, including
// those that reorder text.
func printable(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	if unicode.IsSpace(r) {
		return ' '
	}
	return -1
}
