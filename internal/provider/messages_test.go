package provider

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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

// obeyed matches what CI runners take for a command.
var obeyed = regexp.MustCompile(`(?m)^\s*::|##\w*\[`)

// wantTexts compares messages with a file of testdata, which has them whole, by the names of
// their cases, so that they can be read one after the other.
func wantTexts(t *testing.T, file string, texts map[string]string) {
	t.Helper()
	var all strings.Builder
	want, err := os.ReadFile("testdata/" + file)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for replacement, pattern := range varying {
			texts[name] = pattern.ReplaceAllString(texts[name], replacement)
		}
		text := fmt.Sprintf("== %s\n%s\n\n", name, strings.TrimSpace(texts[name]))
		all.WriteString(text)
		if command := obeyed.FindString(text); command != "" {
			t.Errorf("a CI runner obeys %q in\n%s", command, text)
		}
		if !*update && !strings.Contains(string(want), text) {
			t.Errorf("%s does not have\n%s", file, text)
		}
	}
	switch {
	case *update:
		err = os.WriteFile("testdata/"+file, []byte(all.String()), 0o600)
	case all.String() != string(want):
		t.Errorf("%s has other messages than the test", file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var literalSummary = regexp.MustCompile(`(Add(Error|Warning)\(|AddAttribute(Error|Warning)\([^,]+, |add(Bundle)?Error\([^,]+, )"`)

func TestEachSummaryIsAConstant(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if literal := literalSummary.Find(source); err != nil || literal != nil && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s: write the summary of %s... as a constant in summaries.go (%v)", file, literal, err)
		}
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
