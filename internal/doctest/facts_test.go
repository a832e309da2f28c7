// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// limits holds the constant of the code for each row of the limits page.
var limits = map[string]string{
	"One attempt of a request, or no data in a download":                       "defaultRequestTimeout",
	"Retries of a request":                                                     "defaultMaxRetries",
	"Longest first pause between retries (the limit doubles with each retry)":  "firstBackoff",
	"Longest pause between retries, without a `Retry-After`":                   "maxBackoff",
	"Size of a response":                                                       "maxBody",
	"Each text from the service in a message or the log":                       "maxShown",
	"Shortest time between two polls":                                          "minWait",
	"Longest time between two polls by default":                                "maxWait",
	"Longest `Retry-After` of a successful poll that is honored":               "maxRetryAfter",
	"Time that failing polls are tolerated":                                    "maxOutage",
	"Time that a new job may be unknown to the service":                        "settling",
	"Export, resumed job, or renewal":                                          "defaultExportTimeout",
	"Download, including the wait for a running job":                           "defaultDownloadTimeout",
	"Gate, action, or `wait_for_completion`":                                   "defaultWaitTimeout",
	"Other read, or ephemeral link":                                            "defaultReadTimeout",
	"Characters of an ID":                                                      "MaxNameLength",
	"Entries of an archive that is unpacked":                                   "defaultLimits = limits{entries",
	"Size of an unpacked archive":                                              "defaultLimits = limits{entries: 100_000, bytes",
	"Bundles that a download recognizes as its own, including the current one": "maxOwned",
	"Lines of a failed update's log in a message":                              "maxLogLines",
	"Size of these lines":                                                      "maxLogBytes",
}

var limitRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| (\d[^|]*) \|`)

func TestLimitsOnThePageAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	rows := limitRow.FindAllStringSubmatch(read(t, root+"/templates/guides/limits.md.tmpl"), -1)
	if len(rows) != len(limits) {
		t.Errorf("the page has %d limits, want %d", len(rows), len(limits))
	}
	code := sourceCode(t)
	for _, row := range rows {
		definition := regexp.MustCompile(`\b` + regexp.QuoteMeta(limits[row[1]]) + `(?: *=|:) ([^,}/\n]+)`).FindStringSubmatch(code)
		if limits[row[1]] == "" || definition == nil {
			t.Errorf("%q: the code has no constant %q", row[1], limits[row[1]])
		} else if want := quantity(t, definition[1]); row[2] != want {
			t.Errorf("%q is %s on the page and %s in the code", row[1], row[2], want)
		}
	}
}

// sourceCode returns the code that ships.
func sourceCode(t *testing.T) string {
	t.Helper()
	var code strings.Builder
	for _, directory := range []string{"bundle", "client", "provider"} {
		err := filepath.WalkDir(filepath.Join(root, "internal", directory), func(name string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
				code.WriteString(read(t, name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return code.String()
}

// quantity evaluates a constant expression, and writes its value as the limits page does.
func quantity(t *testing.T, expression string) string {
	t.Helper()
	inSeconds := strings.NewReplacer("time.Second", "1", "time.Minute", "60").Replace(expression)
	result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, inSeconds)
	if err != nil {
		t.Fatal(err)
	}
	value, _ := constant.Int64Val(result.Value)
	plural := func(n int64, unit string) string {
		if n == 1 {
			return "1 " + unit
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	switch {
	case inSeconds != expression && value%60 == 0:
		return plural(value/60, "minute")
	case inSeconds != expression:
		return plural(value, "second")
	case value >= 1<<30:
		return fmt.Sprintf("%d GiB", value>>30)
	case value >= 1<<20:
		return fmt.Sprintf("%d MiB", value>>20)
	case strings.Contains(expression, "<<"):
		return fmt.Sprintf("%d KiB", value>>10)
	case value >= 1000:
		return fmt.Sprintf("%d,%03d", value/1000, value%1000)
	}
	return fmt.Sprint(value)
}

var (
	summaryInCode = regexp.MustCompile(`summary\w+ += ("[^"]+")`)
	messageRow    = regexp.MustCompile(`(?m)^\| ([^|]+) \|`)
	messageShown  = regexp.MustCompile(`(?m)^(?:╷ │ )?(?:Error|Warning): ([^│\n]+)`)
	pictureTag    = regexp.MustCompile(`<[^>]+>\s*`)
)

// A reworded message must be reworded wherever the documentation quotes its first line.
func TestQuotedMessagesExist(t *testing.T) {
	t.Parallel()
	messages := []string{"Invalid provider configuration", "Error acquiring the state lock"} // Terraform's own
	for _, match := range summaryInCode.FindAllStringSubmatch(read(t, root+"/internal/provider/summaries.go"), -1) {
		messages = append(messages, strings.Trim(match[1], `"`))
	}
	page := read(t, root+"/templates/guides/errors.md.tmpl")
	_, page, _ = strings.Cut(page, "| First line | More |\n|---|---|\n")
	table, _, _ := strings.Cut(page, "\n\n")
	rows := messageRow.FindAllStringSubmatch(table, -1)
	if len(rows) == 0 {
		t.Error("the errors page has no table of messages")
	}
	for _, row := range rows {
		if !slices.Contains(messages, row[1]) {
			t.Errorf("the errors page lists %q, which no message begins with", row[1])
		}
	}

	texts := pages(t)
	for _, name := range glob(t, "assets/*.svg") {
		text := strings.Join(strings.Fields(pictureTag.ReplaceAllString(read(t, name), " ")), " ")
		texts[name] = strings.ReplaceAll(text, "╷ │ ", "\n╷ │ ")
	}
	shown := 0
	for name, text := range texts {
		for _, match := range messageShown.FindAllStringSubmatch(text, -1) {
			shown++
			if !slices.Contains(messages, strings.TrimSpace(match[1])) {
				t.Errorf("%s shows %q, which is no message", name, match[1])
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a message")
	}
}
