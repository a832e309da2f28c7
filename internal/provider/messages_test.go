package provider

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

var update = flag.Bool("update", false, "write the texts of messages to testdata instead of comparing them")

// varying matches what differs between runs, because rows of one test share a clock and a service.
var varying = map[string]*regexp.Regexp{
	"N attempts over T": regexp.MustCompile(`\d+ attempts over \S+[ms]`),
	"request ID ID":     regexp.MustCompile(`request ID req_[0-9a-f]{16}`),
	"HOST":              regexp.MustCompile(`127\.0\.0\.1:\d+`),
}

// wantTexts compares messages with a file of testdata, which has them whole, by the names of
// their cases, so that they can be read one after the other.
func wantTexts(t *testing.T, file string, texts map[string]string) {
	t.Helper()
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for replacement, pattern := range varying {
			texts[name] = pattern.ReplaceAllString(texts[name], replacement)
		}
		texts[name] = strings.TrimSpace(texts[name])
		fmt.Fprintf(&got, "== %s\n%s\n\n", name, texts[name])
	}
	name := "testdata/" + file
	if *update {
		if err := os.WriteFile(name, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]string{}
	for section := range strings.SplitSeq("\n"+string(want), "\n== ") {
		name, text, _ := strings.Cut(section, "\n")
		wanted[name] = strings.TrimSpace(text)
	}
	delete(wanted, "")
	for name, text := range texts {
		if text != wanted[name] {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, wanted[name])
		}
	}
	if len(wanted) != len(texts) {
		t.Errorf("%s has %d messages, the test %d", file, len(wanted), len(texts))
	}
}

// textOf returns diagnostics with the argument that each is about.
func textOf(diags diag.Diagnostics) string {
	var text strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&text, "%s: %s", d.Severity(), d.Summary())
		if at, ok := d.(diag.DiagnosticWithPath); ok {
			fmt.Fprintf(&text, " (%s)", at.Path())
		}
		fmt.Fprintf(&text, "\n%s\n", d.Detail())
	}
	if len(diags) == 0 {
		return "nothing\n"
	}
	return text.String()
}
