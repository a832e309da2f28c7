// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"strings"
	"testing"
)

func TestRedactTakesOutSecretsAndNoMore(t *testing.T) {
	t.Parallel()
	c := &Client{apiKey: testKey}
	long := strings.Repeat("x", maxShown)
	tests := map[string]struct{ text, want string }{
		"ordinary text":                      {"Site docs.example.com: 3 of 7 pages (42 %)", "Site docs.example.com: 3 of 7 pages (42 %)"},
		"line breaks and tabs":               {" a\n\tb\r\nc ", "a\n\tb \nc"},
		"the key":                            {"no such key: " + testKey + ".", "no such key: (redacted)."},
		"the key twice":                      {testKey + testKey, "(redacted)(redacted)"},
		"the key with a mark inside":         {"docs_4f1c9a\u200b7e2b8d60", "(redacted)"},
		"the key with a break for terminals": {"docs_4f1c9a\x007e2b8d60", "(redacted)"},
		"the key at the cut":                 {strings.Repeat("x", 4*maxShown-6) + testKey, long[:maxShown-12] + " (shortened)"},
		"a URL":                              {"see https://h.example/a/b.html.", "see https://h.example/a/b.html."},
		"a URL with a query":                 {"GET https://h/p?sig=" + marked + " failed", "GET https://h/p?(redacted) failed"},
		"a URL with a query without a value": {"https://h/p?" + marked, "https://h/p?(redacted)"},
		"a URL with a fragment":              {"https://h/p#" + marked, "https://h/p?(redacted)"},
		"a URL with a password":              {"https://user:" + marked + "@h/p", "https://(redacted)@h/p"},
		"a URL with two at signs":            {"https://user:" + marked + "@x@h/p", "https://(redacted)@h/p"},
		"a URL with an at sign in its path":  {"https://h/@scope/p", "https://h/@scope/p"},
		"a URL without a path":               {"https://h?" + marked, "https://h?(redacted)"},
		"a URL in quotes":                    {`parse "https://h/p?` + marked + `": bad`, `parse "https://h/p?(redacted)": bad`},
		"a URL in angle brackets":            {"<https://h/p?" + marked + ">", "<https://h/p?(redacted)>"},
		"a URL with a quote in its query":    {"https://h/p?a='" + marked + "'", "https://h/p?(redacted)"},
		"a URL in capitals":                  {"HTTPS://H/P?" + marked, "HTTPS://H/P?(redacted)"},
		"a URL right behind a letter":        {"url_https://h/p?" + marked, "url_https://h/p?(redacted)"},
		"a URL of another scheme":            {"s3://bucket/key?" + marked, "s3://bucket/key?(redacted)"},
		"a URL as JSON may escape it":        {`https:\/\/user:` + marked + `@h\/p?` + marked, "https://(redacted)@h/p?(redacted)"},
		"a URL with a mark inside":           {"https:/\u200b/h/p?" + marked, "https://h/p?(redacted)"},
		"a URL with a mark in its query":     {"https://h/p?a=\u200b" + marked, "https://h/p?(redacted)"},
		"two URLs":                           {"https://a/?" + marked + " http://b/?" + marked, "https://a/?(redacted) http://b/?(redacted)"},
		"a URL over the cut":                 {"https://h/p?" + strings.Repeat(marked, 1000), "https://h/p?(redacted)"},
		"a path with a query":                {"GET /b.tar.gz?e=1&sig=" + marked + " HTTP/1.1", "GET /b.tar.gz?(redacted) HTTP/1.1"},
		"a URL escaped within another":       {"to=https%3A%2F%2Fh%2Fp%3FX-Amz-Signature%3D" + marked + "%26a%3Db end", "to=https%3A%2F%2Fh%2Fp%3F(redacted) end"},
		"a question":                         {"Is it there? x=1", "Is it there? x=1"},
		"a signature without a URL":          {"X-Amz-Signature=" + marked + "&a=1", "X-Amz-Signature=(redacted)&a=1"},
		"a credential without a URL":         {"a=1&X-Goog-Credential=" + marked, "a=1&X-Goog-Credential=(redacted)"},
		"a signature of Azure":               {"sv=2020&sig=" + marked, "sv=2020&sig=(redacted)"},
		"a signature of CloudFront":          {"Key-Pair-Id=" + marked + "&Policy=" + marked + "&Signature=" + marked, "Key-Pair-Id=(redacted)&Policy=(redacted)&Signature=(redacted)"},
		"a token":                            {"refresh_token=" + marked, "refresh_token=(redacted)"},
		"a design":                           {"design is sound", "design is sound"},
		"a bearer":                           {"Authorization: Bearer abc." + marked, "Authorization: Bearer (redacted)"},
		"the words bearer token":             {"Invalid bearer token", "Invalid bearer token"},
		"the words bearer authentication":    {"bearer authentication is wanted", "bearer authentication is wanted"},
		"what a terminal acts on":            {"\x1b[2J\x07a\u009bb\u202ec\u2066d\ufeffe\u00adf", "[2Jabcdef"},
		"odd spaces":                         {"a\u00a0b\u2028c\vd", "a b c d"},
		"bytes that are no text":             {"a\xff\xfeb", "a\ufffdb"},
		"other scripts":                      {"見つかりません — ошибка ✓", "見つかりません — ошибка ✓"},
		"text of the greatest length":        {long, long},
		"longer text":                        {long + "x", long[:maxShown-12] + " (shortened)"},
		"longer text of wide characters":     {strings.Repeat("€", maxShown), strings.Repeat("€", (maxShown-12)/3) + " (shortened)"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := c.Redact(test.text)
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if again := c.Redact(got); again != got {
				t.Errorf("redacted again it is %q", again)
			}
		})
	}
}

func TestRedactLeavesTextAloneForAKeyThatIsNone(t *testing.T) {
	c := &Client{apiKey: "docs"}
	if got := c.Redact("docs.example.com"); got != "docs.example.com" {
		t.Errorf("got %q", got)
	}
	if got := string(c.scrub([]byte("docs.example.com"))); got != "docs.example.com" {
		t.Errorf("got %q", got)
	}
}

func TestCutKeepsCharactersWhole(t *testing.T) {
	for n, want := range []string{"", "a", "a", "a€"[:1], "a€", "a€"} {
		if got := cut("a€", n); got != want {
			t.Errorf("cut at %d is %q, want %q", n, got, want)
		}
	}
}
