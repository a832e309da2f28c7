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

var urlInText = regexp.MustCompile(`(?i)\bhttps?:(//|\\/\\/)[^\s"'<>\x60]+`)

// redactURL returns a URL without user information, query and fragment: a
// presigned link is a credential, and its query is what makes it one.
func redactURL(raw string) string {
	rest := raw
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

// signatureInText finds the telling parts of a link that has lost its host, as
// some error texts quote only "path?query".
var signatureInText = regexp.MustCompile(`(?i)\b(x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|signature|key-pair-id|policy|sig|token|access_token|authorization)(=|%3d)[^\s&"'<>]+`)

// bearerInText finds a credential quoted as a header.
var bearerInText = regexp.MustCompile(`(?i)\bbearer\s+[^\s"',;<>]+`)

// Redact returns text that came from outside, fit to be shown: at most 2 KiB,
// no control characters, no query of any URL, no bearer token and not the key.
func (c *Client) Redact(text string) string {
	return redactText(text, c.apiKey)
}

func redactText(text, key string) string {
	// The key goes before anything is cut, so that no part of it is left over.
	if len(key) >= minScrubbedKey {
		text = strings.ReplaceAll(text, key, redacted)
	}
	text = cut(strings.ToValidUTF8(text, "\uFFFD"), 4*maxShown)
	text = urlInText.ReplaceAllStringFunc(text, redactURL)
	text = signatureInText.ReplaceAllString(text, "${1}${2}"+redacted)
	text = bearerInText.ReplaceAllString(text, "Bearer "+redacted)
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		// Cf holds the marks that reorder or hide text on a terminal.
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, text)
	text = strings.TrimSpace(text)
	if len(text) > maxShown {
		text = cut(text, maxShown) + " (shortened)"
	}
	return text
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
