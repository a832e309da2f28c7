// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	// Redacted replaces what must not be shown.
	Redacted = "(redacted)"
	// maxShown is how many bytes of any text from the service are shown.
	maxShown = 2 << 10
	// minScrubbedKey is the length of the shortest key that is removed. A shorter one,
	// which no service issues, could occur in ordinary text.
	minScrubbedKey = 8
)

// scrubber removes the API key from text.
type scrubber struct {
	key   string
	forms []string // the key and its base64 forms
}

func newScrubber(key string) scrubber {
	if len(key) < minScrubbedKey {
		return scrubber{}
	}
	s := scrubber{key: key, forms: []string{key, hex.EncodeToString([]byte(key)), strings.ToUpper(hex.EncodeToString([]byte(key)))}}
	// In base64, a key has one of three forms, depending on its offset in the encoded
	// text. Its first and last characters also depend on the text around it.
	for offset := range 3 {
		padded := []byte(strings.Repeat("\x00", offset) + key)
		from, to := (offset*8+5)/6, len(padded)*8/6
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if form := encoding.EncodeToString(padded)[from:to]; !slices.Contains(s.forms, form) {
				s.forms = append(s.forms, form)
			}
		}
	}
	return s
}

// scrub returns the text without the key. If the text contains the key in
// another form (percent-encoded, in base64, escaped, or broken over lines), all of the
// text is removed.
func (s scrubber) scrub(text string) string {
	if s.key == "" {
		return text
	}
	text = strings.ReplaceAll(text, s.key, Redacted)
	plain := undisguise(text)
	for _, form := range s.forms {
		if strings.Contains(plain, form) {
			return Redacted
		}
	}
	return text
}

// undisguise decodes percent-encoding and JSON escapes, and drops whitespace,
// unprintable characters, and everything outside of ASCII.
func undisguise(text string) string {
	var plain strings.Builder
	plain.Grow(len(text))
	for i := 0; i < len(text); i++ {
		c, size := text[i], 1
		if c == '%' || c == '\\' {
			c, size = unescape(text[i:])
		}
		i += size - 1
		if c > ' ' && c < 0x7f && (c != '\\' || size > 1) {
			plain.WriteByte(c)
		}
	}
	return plain.String()
}

// unescape decodes the first byte of a text, and returns how many bytes encode it. It
// returns a space for a line break or tab that JSON escapes.
func unescape(text string) (c byte, size int) {
	for _, prefix := range []string{"%", `\u00`} {
		if digits, found := strings.CutPrefix(text, prefix); found && len(digits) >= 2 {
			if decoded, err := hex.DecodeString(digits[:2]); err == nil {
				return decoded[0], len(prefix) + 2
			}
		}
	}
	for _, escape := range []string{`\n`, `\r`, `\t`} {
		if strings.HasPrefix(text, escape) {
			return ' ', len(escape)
		}
	}
	return text[0], 1
}

var (
	// urlInText finds URLs of any scheme, also with slashes that JSON escapes.
	urlInText = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*:(?://|\\/\\/)[^\s"<>\x60]+`)
	// queryInText finds the query of a URL that has lost its host or is escaped
	// inside another URL.
	queryInText = regexp.MustCompile(`(?i)(\?|%3f)[^\s"<>?]*?(?:=|%3d)[^\s"<>]*`)
	// signatureInText finds the secret parameters of a query without its question
	// mark.
	signatureInText = regexp.MustCompile(`(?i)\b(x-(?:amz|goog)-[\w-]+["']?\s*[:=]\s*["']?|[\w-]*(?:signature|credential|token|key-pair-id|policy|sig|authorization)(?:=|%3d))[^\s&"<>]+`)
	// bearerInText finds a credential quoted as a header, but not the words
	// "bearer token".
	bearerInText = regexp.MustCompile(`(?i)\bbearer\s+[\w.~+/=-]{16,}`)
)

// Redact makes text from the service safe to show: printable, at most 2 KiB, without
// the query of any URL, and without bearer tokens. It does not remove the API key, which
// a Transport has already removed.
func Redact(text string) string {
	text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
	text = shorten(text, 4*maxShown)
	text = urlInText.ReplaceAllStringFunc(text, redactURL)
	text = queryInText.ReplaceAllString(text, "${1}"+Redacted)
	text = signatureInText.ReplaceAllString(text, "${1}"+Redacted)
	text = bearerInText.ReplaceAllString(text, "Bearer "+Redacted)
	text = strings.TrimSpace(text)
	if len(text) > maxShown {
		const shortened = " (shortened)"
		text = shorten(text, maxShown-len(shortened)) + shortened
	}
	return text
}

// Redact makes text safe to show, as the function does, without the API key.
func (t *Transport) Redact(text string) string { return Redact(t.scrubber.scrub(text)) }

// redactURL returns a URL without user information, query, and fragment. The query of
// a presigned link is a credential.
func redactURL(raw string) string {
	rest := strings.ReplaceAll(raw, `\/`, "/")
	suffix := ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest, suffix = rest[:i], "?"+Redacted
	}
	if scheme, authority, found := strings.Cut(rest, "//"); found {
		host, path, slash := strings.Cut(authority, "/")
		if i := strings.LastIndex(host, "@"); i >= 0 {
			host = Redacted + host[i:]
		}
		rest = scheme + "//" + host
		if slash {
			rest += "/" + path
		}
	}
	return rest + suffix
}

// printable keeps line breaks and tabs, and drops characters that a terminal interprets
// or does not show, including those that reorder text.
func printable(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	if unicode.IsSpace(r) {
		return ' '
	}
	return -1
}

// shorten cuts text to at most n bytes, between two characters.
func shorten(text string, n int) string {
	for n > 0 && n < len(text) && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:min(n, len(text))]
}
