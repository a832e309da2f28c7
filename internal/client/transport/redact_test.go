// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestRedactTakesOutSecretsAndNothingElse(t *testing.T) {
	long := strings.Repeat("x", maxShown)
	for name, test := range map[string]struct{ text, want string }{
		"ordinary text":                   {"Site docs.example.com: 3 of 7 pages (42 %)", "Site docs.example.com: 3 of 7 pages (42 %)"},
		"line breaks and tabs":            {" a\n\tb\r\nc ", "a\n\tb \nc"},
		"a URL":                           {"see https://h.test/a/b.html.", "see https://h.test/a/b.html."},
		"a URL with a query":              {"GET https://h/p?sig=" + signature + " failed", "GET https://h/p?(redacted) failed"},
		"a fragment":                      {"https://h/p#" + signature, "https://h/p?(redacted)"},
		"a password":                      {"https://user:" + signature + "@h/p", "https://(redacted)@h/p"},
		"an at sign in a path":            {"https://h/@scope/p", "https://h/@scope/p"},
		"a URL in quotes":                 {`parse "https://h/p?` + signature + `": bad`, `parse "https://h/p?(redacted)": bad`},
		"a URL in capitals":               {"HTTPS://H/P?" + signature, "HTTPS://H/P?(redacted)"},
		"a URL that JSON escapes":         {`https:\/\/user:` + signature + `@h\/p?` + signature, "https://(redacted)@h/p?(redacted)"},
		"a URL with a mark inside":        {"https:/\u200b/h/p?" + signature, "https://h/p?(redacted)"},
		"two URLs":                        {"https://a/?" + signature + " http://b/?" + signature, "https://a/?(redacted) http://b/?(redacted)"},
		"a URL beyond the limit":          {"https://h/p?" + strings.Repeat(signature, 1000), "https://h/p?(redacted)"},
		"a path with a query":             {"GET /b.tar.gz?e=1&sig=" + signature + " HTTP/1.1", "GET /b.tar.gz?(redacted) HTTP/1.1"},
		"a URL escaped within a URL":      {"to=https%3A%2F%2Fh%2Fp%3FX-Amz-Signature%3D" + signature + "%26a%3Db end", "to=https%3A%2F%2Fh%2Fp%3F(redacted) end"},
		"a question":                      {"Is it there? x=1", "Is it there? x=1"},
		"a signature alone":               {"X-Amz-Signature=" + signature + "&a=1", "X-Amz-Signature=(redacted)&a=1"},
		"a design":                        {"design is sound", "design is sound"},
		"a bearer token":                  {"Authorization: Bearer abc." + signature, "Authorization: Bearer (redacted)"},
		"the words bearer token":          {"Invalid bearer token", "Invalid bearer token"},
		"control characters":              {"\x1b[2J\x07a\u009bb\u202ec\u2066d\ufeffe\u00adf", "[2Jabcdef"},
		"odd spaces":                      {"a\u00a0b\u2028c\vd", "a b c d"},
		"invalid UTF-8":                   {"a\xff\xfeb", "a\ufffdb"},
		"other scripts":                   {"見つかりません — ошибка ✓", "見つかりません — ошибка ✓"},
		"text of the greatest length":     {long, long},
		"a URL with an empty user":        {"https://@h/p", "https://(redacted)@h/p"},
		"longer text":                     {long + "x", long[:maxShown-12] + " (shortened)"},
		"longer text of wide characters":  {strings.Repeat("€", maxShown), strings.Repeat("€", (maxShown-12)/3) + " (shortened)"},
		"a very long text before secrets": {strings.Repeat("x ", 4*maxShown) + "Bearer " + signature + signature, strings.Repeat("x ", (maxShown-12)/2) + " (shortened)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Redact(test.text)
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if again := Redact(got); again != got {
				t.Errorf("redacted again: %q", again)
			}
		})
	}
}

// escapeAll escapes every byte of a text.
func escapeAll(format, text string) string {
	escaped := ""
	for _, c := range []byte(text) {
		escaped += fmt.Sprintf(format, c)
	}
	return escaped
}

func TestScrubberFindsTheKeyInDisguise(t *testing.T) {
	const key = "docs_4f1c~/+=\"9a7e2b8d60" // with characters that escaping changes
	s := newScrubber(key)
	disguises := map[string]string{
		"percent-encoded":             url.QueryEscape(key),
		"percent-encoded, all":        escapeAll("%%%02x", key),
		"percent-encoded in capitals": escapeAll("%%%02X", key),
		"JSON-escaped":                `docs_4f1c~\/+=\"9a7e2b8d60`,
		"JSON-escaped, all":           escapeAll(`\u%04x`, key),
		"JSON-escaped twice":          `docs_4f1c~\\/+=\\\"9a7e2b8d60`,
		"broken over lines":           key[:8] + "\r\n\t" + key[8:],
		"with escaped line breaks":    key[:8] + `\n` + key[8:15] + `\r\t` + key[15:],
		"with invisible characters":   key[:8] + " \u200b\x00\x7f" + key[8:],
	}
	for offset := range 3 {
		for name, encoding := range map[string]*base64.Encoding{"standard": base64.StdEncoding, "URL": base64.RawURLEncoding} {
			encoded := encoding.EncodeToString([]byte("id:"[:offset] + key + ":secret"))
			disguises[fmt.Sprintf("in %s base64 after %d bytes", name, offset)] = encoded
			disguises[fmt.Sprintf("in %s base64 after %d bytes, over lines", name, offset)] = encoded[:20] + "\n" + encoded[20:]
		}
	}
	for name, disguise := range disguises {
		if got := s.scrub("no such key: " + disguise); got != "(redacted)" {
			t.Errorf("%s: %q is left", name, got)
		}
	}
	for text, want := range map[string]string{
		"key " + key + "," + key: "key (redacted),(redacted)",
		"the prefix docs_4f1c":   "the prefix docs_4f1c",
		"100 % of \\u00zz %zz %": "100 % of \\u00zz %zz %",
		"ends with \\":           "ends with \\",
		"ends with \\u00":        "ends with \\u00",
	} {
		if got := s.scrub(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := newScrubber("docs").scrub("docs.example.com"); got != "docs.example.com" {
		t.Errorf("a key too short to be one leaves %q", got)
	}
	if got := newScrubber("12345678").scrub("12345678"); got != "(redacted)" {
		t.Errorf("a key of eight characters leaves %q", got)
	}
}

// FuzzRedact puts the key into any text. It never survives, and the result is fit
// for a terminal.
func FuzzRedact(f *testing.F) {
	for _, text := range []string{"", "%", `\u00`, "https://h/?a=", "Bearer ", "\\", "é\xff", "%3f", "a\n"} {
		f.Add(text, "tail")
	}
	s := newScrubber(testKey)
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, form := range []string{testKey, escapeAll("%%%02x", testKey), escapeAll(`\u%04x`, testKey)} {
			shown := Redact(s.scrub(before + form + after))
			checkFit(t, shown, maxShown)
			if plain := undisguise(shown); strings.Contains(plain, testKey) {
				t.Errorf("%q is shown", shown)
			}
		}
		if shown := redactURL("https://h/?" + before); strings.TrimPrefix(shown, "https://h/?") != Redacted {
			t.Errorf("the query is shown as %q", shown)
		}
	})
}
