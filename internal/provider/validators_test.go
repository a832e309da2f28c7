package provider

import (
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestBadInputIsRefusedOnItsArgumentBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	block := func(head, required string) func(string) string {
		return func(argument string) string {
			return head + " \"ROW\" {\n" + required + "\n" + argument + "\n}\n"
		}
	}
	update := block(`data "docs_update_status"`, ``)
	gate := block(`resource "docs_update_gate"`, `status_id = "upd_1"`)
	site := block(`resource "docs_static_export"`, ``)
	parameters := block(`resource "docs_static_export"`, `domain = "docs.example.com"`)
	download := block(`resource "docs_bundle_download"`, `job_id = "se_1"`)

	tests := map[string]struct{ config, want string }{
		"empty ID": {update(`status_id = ""`), "Invalid ID (status_id)\nThe ID is empty."},
		"ID that a script did not find": {
			update(`status_id = "null"`),
			"Invalid ID (status_id)\nThe ID is \"null\", which a script writes if it finds none. Use the ID that the service returned.",
		},
		"ID that is a link": {
			update(`status_id = "https://store.example/b?X-Amz-Signature=abc"`), "(status_id)\nThe ID contains a URL with a query.",
		},
		"poll interval below a second": {gate(`poll_interval = "999ms"`), "(poll_interval)\nThe duration must be at least 1s, not \"999ms\"."},
		"timeout without a unit": {
			gate(`timeouts { create = "90" }`),
			"\"90\" is not a valid duration. Write numbers with units (h, m, s, or ms), such as 30s, 5m, or 1h30m.",
		},
		"timeout below a minute": {gate(`timeouts { create = "59s" }`), "The duration must be at least 1m, not \"59s\"."},
		"empty domain":           {site(`domain = ""`), "Invalid domain (domain)\nThe domain is empty. Write only the domain, such as docs.example.com."},
		"domain that a script did not find": {
			site(`domain = "undefined"`), "(domain)\nThe domain is \"undefined\", which a script writes if it finds none. Write only",
		},
		"domain with a password": {
			site(`domain = "user:` + simulator.DefaultAPIKey + `@docs.example.com"`),
			"(domain)\nThe domain contains \":\". Write only",
		},
		"parameters that are not JSON": {
			parameters(`additional_parameters = "a=1"`),
			"Invalid additional parameters (additional_parameters)\nThe parameters are invalid: they are not a JSON object. Write an object with jsonencode",
		},
		"parameters that are empty": {parameters(`additional_parameters = ""`), "they are not a JSON object."},
		"parameters as an array":    {parameters(`additional_parameters = "[1]"`), "they are not a JSON object."},
		"parameters with the domain": {
			parameters(`additional_parameters = jsonencode({ domain = "x" })`), "they contain \"domain\", which has an argument of its own",
		},
		"poll interval of an export": {parameters(`poll_interval = "1ms"`), "(poll_interval)\nThe duration must be at least 1s"},
		"negative lead of a renewal": {parameters(`renew_before = "-1h"`), "(renew_before)\nThe duration must be at least 0s"},
		"empty path":                 {download(`path = " "`), "Invalid path (path)\nThe path is empty."},
		"path of a directory": {
			download(`path = "site/"`),
			"(path)\n\"site/\" names a directory. Add a file name, such as bundle.tar.gz, or set unpack = true to unpack the bundle into the directory.",
		},
		"checksum in capitals": {download("path = \"a.tar.gz\"\nsha256 = \"" + strings.Repeat("A", 64) + `"`), "must be 64 lowercase hexadecimal digits"},
	}
	h := newHarness(t, simulator.Options{})
	var config strings.Builder
	for name, test := range tests {
		config.WriteString(strings.ReplaceAll(test.config, "ROW", label(name)))
	}
	c := h.cli(t, config.String())
	said := c.report(t, 1, "plan")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			said.wantSaid(t, name, "error: ", test.want)
			if n := strings.Count(said.said[label(name)], "error: "); n != 1 {
				t.Errorf("%d errors:\n%s", n, said.said[label(name)])
			}
			wantNoSecret(t, "the error", said.said[label(name)])
		})
	}
	h.wantCounts(t, counts{})
}

func TestDomain(t *testing.T) {
	t.Parallel()
	const label = "has a label that is empty, is longer than 63 characters, or begins or ends with a hyphen. Write only"
	long := strings.Repeat("é", 63)
	for domain, want := range map[string]string{ // what is wrong, if anything
		"localhost": "", "_docs.example-1.com": "", "xn--bcher-kva.example": "", "bücher.例え.テスト": "", long + "." + long: "", "127.0.0.1": "",
		"docs..com": label, ".docs.com": label, "docs.com.": label, "-docs.com": label, "docs-": label, "docs.-.com": label, long + "e.com": label,
		"https://docs.com": `contains ":"`, "docs.com?a=b": `contains "?"`, "docs.com/a": `contains "/"`, "docs com": `contains " "`,
		"docs.com\a": `contains "\a"`, "a.com,b.com": `contains ","`, "*.com": `contains "*"`,
	} {
		if err := checkDomain(domain); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", domain, err, want)
		}
	}
}
