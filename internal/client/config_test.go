package client

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNewChecksTheBaseURL(t *testing.T) {
	const (
		loopback = "plain http is allowed only for localhost and loopback addresses, because the API key would travel unencrypted; use https"
		absolute = "it must be absolute, such as https://host.example/v1"
		unparsed = "it cannot be parsed as a URL, such as https://host.example/v1"
		port     = "its port is not a number from 1 to 65535"
	)
	for raw, want := range map[string]string{ // a URL or an error
		" https://host.example/v1/\n":      "https://host.example/v1", //nolint:gocritic // the whitespace is what is tested
		"https://host.example:/v1":         "https://host.example/v1",
		"https://host.example/a%2Fb/v1":    "https://host.example/a%2Fb/v1",
		"http://LocalHost./v1":             "http://LocalHost./v1",
		"http://127.9.9.9:1/v1":            "http://127.9.9.9:1/v1",
		"http://[::1]:1/v1":                "http://[::1]:1/v1",
		"http://localhost../v1":            loopback,
		"http://docs.localhost/v1":         loopback,
		"http://192.0.2.1/v1":              loopback,
		"//host.example/v1":                absolute,
		"https://:443/v1":                  absolute,
		"https://u:" + signature + "@h/v1": "it must not contain a user name or password; the API key has its own argument",
		"https://h/v1?":                    "it must not have a query or a fragment (the part after \"?\" or \"#\")",
		"https://h/v1#":                    "it must not have a query or a fragment (the part after \"?\" or \"#\")",
		"https://h:0/v1":                   port,
		"https://h:65536/v1":               port,
		"ftp://host.example/v1":            `its scheme is "ftp"; use https`,
		"https://h/%zz" + signature:        unparsed,
		"https://h:" + signature + "/v1":   unparsed,
	} {
		c, err := New(Config{BaseURL: raw, APIKey: "docs_1"})
		got := fmt.Sprint(err)
		if err == nil {
			got = c.baseURL.String()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
}

func TestNewChecksTheKey(t *testing.T) {
	const (
		key     = "docs_" + signature
		refused = "it contains whitespace, a quotation mark, or another character that keys do not have"
	)
	for raw, want := range map[string]string{
		key:                       "",
		" " + key + "\u00a0\n":    "",
		"!#$%&()*+,-./:;<=>?@^_~": "",
		"\n":                      "it is empty",
		`"docs_1"`:                refused,
		"docs_1'":                 refused,
		`docs\1`:                  refused,
		"`docs_1":                 refused,
		"docs_\n" + signature:     refused,
		signature + "\x7f":        refused,
		signature + "é":           refused,
	} {
		c, err := New(Config{BaseURL: "https://docs.test/v1", APIKey: raw})
		if fmt.Sprint(err) != cmp.Or(want, "<nil>") || err == nil && c.config.APIKey != strings.TrimSpace(raw) {
			t.Errorf("%q: %v, want %q", raw, err, want)
		}
	}
}

func TestNewReadsTheCertificates(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	t.Cleanup(server.Close)
	const mark = "\uFEFF"
	block := func(kind string, content []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
	}
	good := block("CERTIFICATE", server.Certificate().Raw)
	for name, test := range map[string]struct{ text, want string }{
		"two files with byte order marks": {mark + good + mark + good, ""},
		"no certificate": {
			block("PRIVATE KEY", []byte("a")) + block("CERTIFICATE", []byte("a")),
			"no certificate could be read from the PEM text: x509: malformed certificate",
		},
		"no PEM": {"/etc/ssl/ca.pem", "no certificate could be read from the PEM text"},
	} {
		c, err := New(Config{BaseURL: "https://docs.test/v1", APIKey: "docs_1", RootCAs: []byte(test.text)})
		roots, _ := x509.SystemCertPool()
		roots.AddCert(server.Certificate())
		if fmt.Sprint(err) != cmp.Or(test.want, "<nil>") || err == nil && !c.config.RoundTripper.(*http.Transport).TLSClientConfig.RootCAs.Equal(roots) {
			t.Errorf("%s: %v, want %q and the system's roots beside the given one", name, err, test.want)
		}
	}
}
