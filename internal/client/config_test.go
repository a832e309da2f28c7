// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"strings"
	"testing"
)

func TestParseBaseURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://host.example/v1":          "https://host.example/v1",
		"https://host.example/":            "https://host.example",
		" https://host.example/v1\n":       "https://host.example/v1",
		"https://host.example:8443/v1":     "https://host.example:8443/v1",
		"https://host.example:/v1":         "https://host.example/v1",
		"https://host.example/a%2Fb/v1":    "https://host.example/a%2Fb/v1",
		"https://host.example/a b/v1":      "https://host.example/a%20b/v1",
		"http://LocalHost/v1":              "http://LocalHost/v1",
		"http://localhost./v1":             "http://localhost./v1",
		"http://127.9.9.9:1/v1":            "http://127.9.9.9:1/v1",
		"http://[::1]:1/v1":                "http://[::1]:1/v1",
		"http://localhost../v1":            "error: BaseURL: plain http is allowed for loopback hosts only",
		"http://docs.localhost/v1":         "error: BaseURL: plain http is allowed for loopback hosts only",
		"http://host.example/v1":           "error: BaseURL: plain http is allowed for loopback hosts only",
		"":                                 "error: BaseURL: it must be absolute",
		"host.example/v1":                  "error: BaseURL: it must be absolute",
		"https://:443/v1":                  "error: BaseURL: it must be absolute",
		"https:host.example/v1":            "error: BaseURL: it must be absolute",
		"https://u:" + signature + "@h/v1": "error: BaseURL: it must not contain a user name or password",
		"https://h/v1?":                    "error: BaseURL: it must not have a query",
		"https://h/v1#":                    "error: BaseURL: it must not have a fragment",
		"https://h:0/v1":                   "error: BaseURL: its port is not a number from 1 to 65535",
		"https://h:65536/v1":               "error: BaseURL: its port is not a number from 1 to 65535",
		"ftp://host.example/v1":            `error: BaseURL: its scheme is "ftp"; use https`,
		"https://h/%zz" + signature:        "error: BaseURL: it cannot be parsed as a URL, such as https://host.example/v1",
		"https://h/\x00" + signature:       "error: BaseURL: it cannot be parsed as a URL, such as https://host.example/v1",
		"https://h:" + signature + "/v1":   "error: BaseURL: it cannot be parsed as a URL, such as https://host.example/v1",
	} {
		u, err := ParseBaseURL(raw)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else if got = u.String(); got != want {
			got = "no error, but " + got
		}
		if !strings.HasPrefix(got, want) || strings.Contains(got, signature) {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
}

func TestParseAPIKey(t *testing.T) {
	const key = "docs_" + signature
	for raw, want := range map[string]string{
		key:                       "",
		" " + key + "\u00a0\n":    "",
		"!#$%&()*+,-./:;<=>?@'^_": "",
		"a":                       "",
		"":                        "APIKey: it is empty",
		"\n":                      "APIKey: it is empty",
		`"docs_1"`:                "APIKey: it has quotation marks around it",
		"docs_1'":                 "APIKey: it has quotation marks around it",
		"`docs_1":                 "APIKey: it has quotation marks around it",
		"docs_ " + signature:      "APIKey: it contains whitespace",
		"docs_\n" + signature:     "APIKey: it contains whitespace",
		signature + "\x00":        "APIKey: it contains a control character",
		signature + "\x7f":        "APIKey: it contains a control character",
		signature + "é":           "APIKey: it contains a character outside ASCII",
		signature + "\xff":        "APIKey: it contains a character outside ASCII",
		"\ufeff" + signature:      "APIKey: it contains a character outside ASCII",
	} {
		parsed, err := ParseAPIKey(raw)
		got := ""
		if err != nil {
			got = err.Error()
		} else if parsed != strings.TrimSpace(raw) {
			got = "no error, but " + parsed
		}
		if got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}
