package display

import (
	"strings"
	"testing"
)

const (
	testKey   = "docs_4f1c9a7e2b8d60"
	testToken = "another secret"
	signature = "c4a1d0signature"
)

func TestRedactTakesOutSecretsAndNothingElse(t *testing.T) {
	long := strings.Repeat("x", maxShown)
	redactor := Redactor{testKey, "", testToken}
	for name, test := range map[string]struct{ text, want string }{
		"line breaks and tabs":           {" a\n\tb\r\nc ", "a\n  | \tb \n  | c"},
		"a line like a mark":             {"a\n  | b", "a\n  | b"},
		"a command on a line":            {"::a::b\n \t::c::d\r::e", "\\::a::b\n  |  \t\\::c::d \\::e"},
		"a command that may be wrapped":  {"a ::b c::d ::::", "a \\::b c::d \\::::"},
		"a command anywhere":             {"a##[b]c ##vso[d e=f]g ###[h ## [i]", "a##\\[b]c ##vso\\[d e=f]g ###\\[h ## [i]"},
		"a command of hidden characters": {"\u200b:\u200b: #\u00ad#v\ufeffso[", "\\:: ##vso\\["},
		"the key":                        {"key " + testKey + "," + testKey, "key (redacted),(redacted)"},
		"the key with a mark inside":     {testKey[:8] + "\u200b" + testKey[8:], "(redacted)"},
		"a URL with a query and no path": {"https://h?" + signature, "https://h?(redacted)"},
		"a second secret":                {"a " + testToken + ", " + testKey, "a (redacted), (redacted)"},
		"a fragment with a token":        {"https://h/p#access_token=" + signature, "https://h/p#(redacted)"},
		"a fragment with a query":        {"https://h/#/cb?code=" + signature + " /#" + signature + "==", "https://h/#(redacted) /#(redacted)"},
		"a query before a fragment":      {"https://h/p?a=" + signature + "#L10", "https://h/p?(redacted)"},
		"anchors and line numbers": {
			"guides/links.mdx#L10: broken anchor /guides/setup#install-linux\nsee https://h/docs/a.md#L3-L5, /b##[c]",
			"guides/links.mdx#L10: broken anchor /guides/setup#install-linux\n  | see https://h/docs/a.md#L3-L5, /b##\\[c]",
		},
		"a password":                     {"https://user:" + signature + "@h/p", "https://(redacted)@h/p"},
		"an at sign in a path":           {"https://h/@scope/p", "https://h/@scope/p"},
		"a URL in quotes":                {`parse "https://h/p?` + signature + `": bad`, `parse "https://h/p?(redacted)": bad`},
		"a URL beyond the limit":         {"https://h/p?" + strings.Repeat(signature, 1000), "https://h/p?(redacted)"},
		"a path with a query":            {"GET /b.tar.gz?e=1&sig=" + signature + " HTTP/1.1", "GET /b.tar.gz?(redacted) HTTP/1.1"},
		"a query without a URL":          {"got X-Amz-Signature=" + signature + "&a=b for /b", "got X-Amz-Signature=(redacted) for /b"},
		"a query in lowercase":           {"got x-oss-signature=" + signature, "got x-oss-signature=(redacted)"},
		"a URL in a query":               {"to=https%3A%2F%2Fh%2Fb%3Fsig%3D" + signature, "to=https%3A%2F%2Fh%2Fb%3Fsig%3D(redacted)"},
		"a question about a path":        {"Is it in /docs? x=1", "Is it in /docs? x=1"},
		"control characters":             {"\x1b[2J\x07a\u009bb\u202ec\u2066d\ufeffe\u00adf", "[2Jabcdef"},
		"odd spaces":                     {"a\u00a0b\u2028c\vd", "a b c d"},
		"invalid UTF-8":                  {"a\xff\xfeb", "a\ufffdb"},
		"text of the greatest length":    {long, long},
		"longer text":                    {long + "x", long[:maxShown-12] + " (shortened)"},
		"longer text of wide characters": {strings.Repeat("€", maxShown), strings.Repeat("€", (maxShown-12)/3) + " (shortened)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := redactor.Redact(test.text)
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			if again := redactor.Redact(got); again != got {
				t.Errorf("redacted again: %q", again)
			}
		})
	}
}
