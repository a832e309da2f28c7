// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// onGitHub matches what precedes the path of a file of this repository in a URL.
var onGitHub = regexp.MustCompile(`^https://(?:github\.com/docs-hosting/terraform-provider-docs/(?:blob|tree)|raw\.githubusercontent\.com/docs-hosting/terraform-provider-docs)/main/`)

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	address   = regexp.MustCompile(`https://github\.com/docs-hosting/terraform-provider-docs/[\w./#-]+`)
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchorTag = regexp.MustCompile(`<a id="([^"]+)"></a>`)
)

// pages returns the Markdown files of the repository, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range glob(t, "*.md") {
		found[name] = read(t, name)
	}
	for _, directory := range []string{"docs", "examples"} {
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

func TestLinksLeadToPagesAndHeadings(t *testing.T) {
	t.Parallel()
	all := pages(t)
	// The addresses in messages.
	for _, name := range glob(t, "internal/provider/*.go") {
		for _, address := range address.FindAllString(read(t, name), -1) {
			all[name] += "](" + address + ")"
		}
	}
	for name, content := range all {
		for _, match := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(content, ""), -1) {
			file, anchor, _ := strings.Cut(match[1], "#")
			target := filepath.Join(filepath.Dir(name), file)
			prefix := onGitHub.FindString(file)
			switch {
			case prefix != "":
				target = filepath.Join(root, strings.TrimPrefix(file, prefix))
			case file == "":
				target = name
			case strings.Contains(file, "://"):
				continue
			case name == index:
				// The Registry resolves relative links of the index one level too high.
				t.Errorf("the index has a relative link to %s", match[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, match[1])
			} else if anchor != "" && !slices.Contains(anchors(all[target]), anchor) {
				t.Errorf("%s links to %s, which has no such heading", name, match[1])
			}
		}
	}
}

// anchors returns the names of headings that a link can use, as the Registry and GitHub form them.
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

const index = root + "/docs/index.md"

func TestIndexLinksToEachPage(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for name := range all {
		page, inside := strings.CutPrefix(name, root+"/")
		if inside && strings.HasPrefix(page, "docs/") && name != index && !strings.Contains(all[index], "/blob/main/"+page+")") {
			t.Errorf("the index does not link to %s", page)
		}
	}
}

// A reader who copies a file must find every required setting on its page.
func TestPagesListWhatAFileNeeds(t *testing.T) {
	t.Parallel()
	const ofAWorkflow = `\b(var|secret)s\.(\w+)`
	for file, test := range map[string]struct{ page, setting string }{
		"deploy-gates/gate/deploy.yml":         {"deploy-gates", ofAWorkflow},
		"pipelines/github-actions/publish.yml": {"pipelines", ofAWorkflow},
		"pipelines/github-actions/approve.yml": {"pipelines", ofAWorkflow},
		"pipelines/github-actions/renew.yml":   {"pipelines", ofAWorkflow},
		"hcp-terraform/renew.yml":              {"pipelines", ofAWorkflow},
		"hcp-terraform/run.sh":                 {"hcp-terraform", `()\$([A-Z]+_[A-Z]+)`},
		"hcp-terraform/platform/main.tf":       {"hcp-terraform", `()(?m)^variable "(\w+)"`},
	} {
		page := read(t, root+"/docs/guides/"+test.page+".md")
		settings := regexp.MustCompile(test.setting).FindAllStringSubmatch(read(t, examples+"/guides/"+file), -1)
		if len(settings) == 0 {
			t.Errorf("%s needs nothing", file)
		}
		for _, setting := range settings {
			if !regexp.MustCompile("(?m)^(?:\\| `" + setting[2] + "`.* " + setting[1] + "|.*" + setting[1] + " `" + setting[2] + "`|export " + setting[2] + "=)").MatchString(page) {
				t.Errorf("%s does not list %s, which %s needs", test.page, setting[0], file)
			}
		}
	}
}

// A guide shows only files that the tests apply, and the Registry does not draw Mermaid.
func TestGuidesShowNoConfigurationOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, name := range glob(t, "templates/guides/*.md.tmpl") {
		for _, language := range []string{"terraform", "hcl", "yaml", "mermaid"} {
			if strings.Contains(read(t, name), "```"+language) {
				t.Errorf("%s contains %s instead of a file of examples/", name, language)
			}
		}
	}
}
