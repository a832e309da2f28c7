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
	summaryInCode = regexp.MustCompile(`summary\w+ += "([^"]+)"`)
	messageShown  = regexp.MustCompile(`(?m)^(?:Error|Warning): ([^:\n]+)`)
	messageNamed  = regexp.MustCompile(`(?:error|warning) "([^"]+)"`)
	errorsLink    = regexp.MustCompile(`\[([A-Z][^\]]*)\]\((?:\S*errors\.md)?#([^)]+)\)`)
)

// A reworded message must be reworded wherever the documentation quotes its first line, or the
// part of it that is constant.
func TestQuotedMessagesExist(t *testing.T) {
	t.Parallel()
	messages := []string{"Invalid provider configuration", "Check block assertion failed"} // Terraform's own
	for _, match := range summaryInCode.FindAllStringSubmatch(read(t, root+"/internal/provider/summaries.go"), -1) {
		messages = append(messages, match[1])
	}
	texts := pages(t)
	_, section, _ := strings.Cut(texts[root+"/docs/guides/errors.md"], "\n## Messages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	headings := anchors(section)
	if len(headings) < 10 {
		t.Errorf("the errors page has headings for %d messages, want at least 10", len(headings))
	}
	shown := map[string]int{}
	for name, text := range texts {
		quoted := messageShown.FindAllStringSubmatch(text, -1)
		quoted = append(quoted, messageNamed.FindAllStringSubmatch(text, -1)...)
		for _, match := range errorsLink.FindAllStringSubmatch(text, -1) {
			if slices.Contains(headings, match[2]) {
				quoted = append(quoted, match)
			}
		}
		if strings.HasSuffix(name, "/errors.md") {
			quoted = append(quoted, heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(section, ""), -1)...)
		}
		for _, match := range quoted {
			shown[name]++
			if !slices.Contains(messages, strings.TrimSpace(match[1])) {
				t.Errorf("%s quotes %q, which is no message", name, match[1])
			}
		}
	}
	for _, name := range []string{"/README.md", "/docs/guides/deploy-gates.md"} {
		if shown[root+name] == 0 {
			t.Errorf("%s quotes no message", name)
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
