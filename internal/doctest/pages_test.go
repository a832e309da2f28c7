// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchorTag = regexp.MustCompile(`<a id="([^"]+)"></a>`)
)

// pages returns the Markdown files below the directories, by path.
func pages(t *testing.T, directories ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, directory := range directories {
		err := filepath.WalkDir(filepath.Join(root, directory), func(name string, _ fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(name) == ".md" {
				found[name] = read(t, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for name, content := range pages(t, "docs", "examples") {
		for _, match := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(content, ""), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(match[1], "#")
			target := name
			if file != "" {
				target = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, match[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", name, match[1])
			}
		}
	}
}

// anchors returns what a link may name in a page: its headings, in the form that the Registry and
// GitHub give them.
func anchors(page string) []string {
	var names []string
	for _, match := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(page, ""), -1) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(match[1])))
	}
	for _, match := range anchorTag.FindAllStringSubmatch(page, -1) {
		names = append(names, match[1])
	}
	return names
}

// What a guide shows is what the tests apply.
func TestGuidesShowNoConfigurationOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, name := range glob(t, "templates/guides/*.md.tmpl") {
		for _, language := range []string{"terraform", "hcl", "yaml"} {
			if strings.Contains(read(t, name), "```"+language) {
				t.Errorf("%s has %s in it instead of a file of examples/", name, language)
			}
		}
	}
}

func TestIndexNamesEachPage(t *testing.T) {
	t.Parallel()
	found := pages(t, "docs")
	index := found[filepath.Join(root, "docs/index.md")]
	for name := range maps.Keys(found) {
		relative, err := filepath.Rel(filepath.Join(root, "docs"), name)
		if err != nil {
			t.Fatal(err)
		}
		if relative != "index.md" && !strings.Contains(index, "("+filepath.ToSlash(relative)+")") {
			t.Errorf("the index does not link to %s", relative)
		}
	}
}

// A module's README tells of each variable and output.
func TestModulesAreDescribedWhole(t *testing.T) {
	t.Parallel()
	declaration := regexp.MustCompile(`(?m)^(?:variable|output) "(\w+)" \{$`)
	for _, directory := range modules {
		readme := read(t, filepath.Join(examples, directory, "README.md"))
		rows := 0
		for _, file := range []string{"variables.tf", "outputs.tf"} {
			for _, match := range declaration.FindAllStringSubmatch(read(t, filepath.Join(examples, directory, file)), -1) {
				rows++
				if !strings.Contains(readme, "\n| `"+match[1]+"` |") {
					t.Errorf("the README of %s does not tell of %s", directory, match[1])
				}
			}
		}
		if got := strings.Count(readme, "\n| `"); got != rows {
			t.Errorf("the README of %s has %d rows, but there are %d variables and outputs", directory, got, rows)
		}
	}
}
