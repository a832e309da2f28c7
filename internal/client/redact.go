// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"regexp"
	"strings"
	"unicode"
)

// maxShown caps what is shown of anything the service said.
const maxShown = 2 << 10

const redacted = "(redacted)"

// urlInText finds URLs of any scheme, also with the slashes that JSON may escape.
var urlInText = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*:(?://|\\/\\/)[^\s"<>\x60]+`)

// redactURL returns a URL without user information, query and fragment: a
// presigned link is a credential, and its query is what makes it one.
func redactURL(raw string) string {
	rest := strings.ReplaceAll(raw, `\/`, "/")
	suffix := ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest, suffix = rest[:i], "?"+redacted
	}
	if scheme, authority, found := strings.Cut(rest, "//"); found {
		host, path, slash := strings.Cut(authority, "/")
		if i := strings.LastIndex(host, "@"); i >= 0 {
			host = redacted + host[i:]
		}
		rest = scheme + "//" + host
		if slash {
			rest += "/" + path
		}
	}
	return rest + suffix
}

// queryInText finds the query of a link that has lost its host, as some error
// texts quote only "path?query", or that is itself escaped in another URL.
var queryInText = regexp.MustCompile(`(?i)(\?|%3f)[^\s"<>?]*?(?:=|%3d)[^\s"<>]*`)

// signatureInText finds the telling parts of a query that has lost even the
// question mark.
var signatureInText = regexp.MustCompile(`(?i)\b([\w-]*(?:signature|credential|token|key-pair-id|policy|sig|authorization)(?:=|%3d))[^\s&"<>]+`)

// bearerInText finds a credential quoted as a header, as opposed to the words
// "bearer token".
var bearerInText = regexp.MustCompile(`(?i)\bbearer\s+[\w.~+/=-]{16,}`)

// Redact returns text that came from outside, fit to be shown: at most 2 KiB,
// printable, no query of any URL, no bearer token and not the key.
func (c *Client) Redact(text string) string {
	return redactText(text, c.apiKey)
}

func redactText(text, key string) string {
	// What cannot be seen goes first, so that it hides neither the key nor a URL;
	// then the key, before anything is cut, so that no part of it is left over.
	text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
	if len(key) >= minScrubbedKey {
		text = strings.ReplaceAll(text, key, redacted)
	}
	text = cut(text, 4*maxShown)
	text = urlInText.ReplaceAllStringFunc(text, redactURL)
	text = queryInText.ReplaceAllString(text, "${1}"+redacted)
	text = signatureInText.ReplaceAllString(text, "${1}"+redacted)
	text = bearerInText.ReplaceAllString(text, "Bearer "+redacted)
	text = strings.TrimSpace(text)
	if len(text) > maxShown {
		const shortened = " (shortened)"
		text = cut(text, maxShown-len(shortened)) + shortened
	}
	return text
}

// printable keeps line breaks and tabs, and leaves out what a terminal would
// act on or not show, the marks that reorder text included.
func printable(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case unicode.IsSpace(r):
		return ' '
	case !unicode.IsPrint(r):
		return -1
	}
	return r
}

// minScrubbedKey keeps a very short key, which no service issues, from
// blacking out ordinary text.
const minScrubbedKey = 8

// cut shortens text to at most n bytes, at the start of a character.
func cut(text string, n int) string {
	for n > 0 && n < len(text) && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:min(n, len(text))]
}
