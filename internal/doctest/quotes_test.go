// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	summaryInCode = regexp.MustCompile(`summary\w+ += ("[^"]+")`)
	messageRow    = regexp.MustCompile(`(?m)^\| ([^|]+) \|`)
	messageShown  = regexp.MustCompile(`(?m)^(?:╷ │ )?(?:Error|Warning): ([^│\n]+)`)
	messageNamed  = regexp.MustCompile(`(?:error|warning) "([^"]+)"`)
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
	shown := map[string]int{}
	for name, text := range texts {
		for _, pattern := range []*regexp.Regexp{messageShown, messageNamed} {
			for _, match := range pattern.FindAllStringSubmatch(text, -1) {
				shown[name]++
				if !slices.Contains(messages, strings.TrimSpace(match[1])) {
					t.Errorf("%s shows %q, which is no message (to draw a picture again: make -B %s)", name, match[1], strings.TrimPrefix(name, root+"/"))
				}
			}
		}
	}
	for _, name := range []string{"/README.md", "/assets/demo.svg", "/assets/gate.svg", "/docs/guides/deploy-gates.md"} {
		if shown[root+name] == 0 {
			t.Errorf("%s shows no message", name)
		}
	}
}

var (
	codeText    = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
	makeCommand = regexp.MustCompile(`\bmake((?: [\w.=:/-]+)*)`)
)

// A command that a page names must exist, and .ci/run must call those that the README begins with.
func TestQuotedCommandsExist(t *testing.T) {
	t.Parallel()
	makefile, ci := read(t, root+"/Makefile"), read(t, root+"/.ci/run")
	for name, page := range pages(t) {
		for _, code := range codeText.FindAllString(page, -1) {
			for _, match := range makeCommand.FindAllStringSubmatch(code, -1) {
				for _, word := range strings.Fields(strings.ReplaceAll(match[1], "-C ", "-C=")) {
					if word[0] != '-' && !strings.Contains(word, "=") && !strings.Contains(makefile, "\n"+word+":") {
						t.Errorf("%s: the Makefile has no %s, as in %q", name, word, match[0])
					}
				}
			}
		}
	}
	commands := regexp.MustCompile(`(?m)^make \w+`).FindAllString(read(t, root+"/README.md"), -1)
	if len(commands) != 2 {
		t.Errorf("the README has the commands %q, want two", commands)
	}
	for _, command := range commands {
		if !regexp.MustCompile(`(?m)^check \w+ +` + command + ` `).MatchString(ci) {
			t.Errorf(".ci/run does not call %q", command)
		}
	}
}
