// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"strings"
	"testing"
)

func TestParseBaseURL(t *testing.T) {
	tests := map[string]struct {
		raw     string
		want    string // empty: refused
		problem string
	}{
		"https":                               {"https://host.example/v1", "https://host.example/v1", ""},
		"a trailing slash":                    {"https://host.example/v1/", "https://host.example/v1", ""},
		"many of them":                        {"https://host.example/v1///", "https://host.example/v1", ""},
		"no path":                             {"https://host.example", "https://host.example", ""},
		"a slash for a path":                  {"https://host.example/", "https://host.example", ""},
		"a port":                              {"https://host.example:8443/v1", "https://host.example:8443/v1", ""},
		"an empty port":                       {"https://host.example:/v1", "https://host.example/v1", ""},
		"an upper-case scheme":                {"HTTPS://host.example/v1", "https://host.example/v1", ""},
		"an escaped slash":                    {"https://host.example/a%2Fb/v1", "https://host.example/a%2Fb/v1", ""},
		"an escaped slash at the end":         {"https://host.example/a%2F", "https://host.example/a%2F", ""},
		"a path that needs escaping":          {"https://host.example/a b/v1", "https://host.example/a%20b/v1", ""},
		"http to localhost":                   {"http://localhost:8080/v1", "http://localhost:8080/v1", ""},
		"http to localhost in capitals":       {"http://LocalHost/v1", "http://LocalHost/v1", ""},
		"http to a name below localhost":      {"http://docs.localhost/v1", "http://docs.localhost/v1", ""},
		"http to localhost with its dot":      {"http://localhost./v1", "http://localhost./v1", ""},
		"http to 127.0.0.1":                   {"http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1", ""},
		"http to another address of loopback": {"http://127.9.9.9/v1", "http://127.9.9.9/v1", ""},
		"http to ::1":                         {"http://[::1]:1/v1", "http://[::1]:1/v1", ""},
		"http to a host":                      {"http://host.example/v1", "", "plain http is allowed for loopback hosts only"},
		"http to a private address":           {"http://10.0.0.1/v1", "", "plain http is allowed for loopback hosts only"},
		"http to what begins like loopback":   {"http://127.0.0.1.host.example/v1", "", "plain http is allowed"},
		"http to what ends like localhost":    {"http://notlocalhost/v1", "", "plain http is allowed"},
		"http to every address":               {"http://0.0.0.0/v1", "", "plain http is allowed"},
		"nothing":                             {"", "", "it must be absolute"},
		"a host alone":                        {"host.example/v1", "", "it must be absolute"},
		"a host with a port alone":            {"host.example:443/v1", "", "it must be absolute"},
		"a relative path":                     {"/v1", "", "it must be absolute"},
		"no scheme":                           {"//host.example/v1", "", "it must be absolute"},
		"no host":                             {"https:///v1", "", "it must be absolute"},
		"a port without a host":               {"https://:443/v1", "", "it must be absolute"},
		"an opaque URL":                       {"https:host.example/v1", "", "it must be absolute"},
		"a user":                              {"https://user@host.example/v1", "", "it must not hold a user name or password"},
		"a password":                          {"https://user:" + marked + "@host.example/v1", "", "it must not hold a user name or password"},
		"a query":                             {"https://host.example/v1?key=" + marked, "", "it must not have a query"},
		"an empty query":                      {"https://host.example/v1?", "", "it must not have a query"},
		"a fragment":                          {"https://host.example/v1#" + marked, "", "it must not have a fragment"},
		"an empty fragment":                   {"https://host.example/v1#", "", "it must not have a fragment"},
		"ftp":                                 {"ftp://host.example/v1", "", `its scheme is "ftp"; use https`},
		"a space before":                      {" https://host.example/v1", "", "it is not a URL"},
		"a broken escape":                     {"https://host.example/%zz" + marked, "", "it is not a URL"},
		"a control character":                 {"https://host.example/\x00" + marked, "", "it is not a URL"},
		"a port that is none":                 {"https://host.example:" + marked + "/v1", "", "it is not a URL"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			u, err := ParseBaseURL(test.raw)
			if test.want == "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.problem) {
					t.Fatalf("got %v, %v; want %q", u, err, test.problem)
				}
				checkShown(t, err.Error())
				return
			}
			if err != nil || u.String() != test.want {
				t.Errorf("got %v, %v; want %q", u, err, test.want)
			}
		})
	}
}

func TestEndsWithVersion(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://h/v1": true, "https://h/v1/": true, "https://h/api/v12": true,
		"https://h": false, "https://h/v": false, "https://h/v1/api": false, "https://h/av1": false, "https://v1": false, "https://h/v1.0": false,
	} {
		u, err := ParseBaseURL(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := EndsWithVersion(u); got != want {
			t.Errorf("EndsWithVersion(%s) is %v", raw, got)
		}
	}
}

func TestCheckAPIKey(t *testing.T) {
	tests := map[string]struct{ key, problem string }{
		"a key":                         {testKey, ""},
		"every printable character":     {"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", ""},
		"nothing":                       {"", "it is empty"},
		"a space inside":                {"docs_ " + marked, "it has white space inside"},
		"a line break at the end":       {marked + "\n", "it has white space inside"},
		"a space that does not break":   {marked + "\u00a0", "it has white space inside"},
		"a tab":                         {marked + "\t", "it has white space inside"},
		"NUL":                           {marked + "\x00", "it has a control character inside"},
		"DEL":                           {marked + "\x7f", "it has a control character inside"},
		"escape":                        {marked + "\x1b[0m", "it has a control character inside"},
		"a letter with an accent":       {marked + "é", "it has a character outside ASCII"},
		"a quote as word processors do": {marked + "”", "it has a character outside ASCII"},
		"a byte order mark":             {"\ufeff" + marked, "it has a character outside ASCII"},
		"bytes that are no text":        {marked + "\xff", "it has a character outside ASCII"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := CheckAPIKey(test.key)
			if got := ""; err != nil {
				got = err.Error()
				checkShown(t, got)
				if got != test.problem {
					t.Errorf("got %q, want %q", got, test.problem)
				}
			} else if test.problem != "" {
				t.Errorf("accepted, want %q", test.problem)
			}
		})
	}
}

func TestHasKeyPrefix(t *testing.T) {
	for key, want := range map[string]bool{
		testKey: true, "a_b": true, "live_admin_abc": true, "p_-x": true,
		"abc": false, "_abc": false, "abc_": false, "": false, "a-b_c": false, "__": false,
	} {
		if got := HasKeyPrefix(key); got != want {
			t.Errorf("HasKeyPrefix(%q) is %v", key, got)
		}
	}
}
