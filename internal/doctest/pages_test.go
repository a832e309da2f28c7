package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages returns the Markdown files of the repository, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*/*.md"} {
		for _, name := range glob(t, pattern) {
			found[name] = read(t, name)
		}
	}
	return found
}

var (
	// onGitHub matches what precedes the path of a file of this repository in a URL.
	onGitHub = regexp.MustCompile(`^https://(?:github\.com/docs-hosting/terraform-provider-docs/(?:blob|tree)|` +
		`raw\.githubusercontent\.com/docs-hosting/terraform-provider-docs)/main/`)
	address   = regexp.MustCompile(`https://github\.com/docs-hosting/terraform-provider-docs/[\w./#-]+`)
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchorTag = regexp.MustCompile(`<a id="([^"]+)"></a>`)
)

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
			case name == root+"/docs/index.md":
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

var (
	summaryInCode = regexp.MustCompile(`summary\w+ += "([^"]+)"`)
	messageQuoted = regexp.MustCompile(`(?m)^(?:Error|Warning): ([^:\n]+)|(?:error|warning) "([^"]+)"`)
	logRecord     = regexp.MustCompile("In a log at `INFO`, search for `([^`]+)`")
)

// Where a page quotes the first line of a message, or the part of it that is constant, the code has
// that line. The headings below "Messages" in Troubleshooting are such lines.
func TestQuotedMessagesExist(t *testing.T) {
	t.Parallel()
	messages := []string{"Check block assertion failed"} // Terraform's own
	for _, match := range summaryInCode.FindAllStringSubmatch(read(t, root+"/internal/provider/summaries.go"), -1) {
		messages = append(messages, match[1])
	}
	all := pages(t)
	troubleshooting := all[root+"/docs/guides/errors.md"]
	_, section, _ := strings.Cut(troubleshooting, "\n## Messages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, match := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(section, ""), -1) {
		all["a heading of Troubleshooting"] += "Error: " + match[1] + "\n"
	}
	for name, text := range all {
		for _, match := range messageQuoted.FindAllStringSubmatch(text, -1) {
			if message := strings.TrimSpace(match[1] + match[2]); !slices.Contains(messages, message) {
				t.Errorf("%s quotes %q, which is no message", name, message)
			}
		}
	}
	var client string
	for _, name := range glob(t, "internal/client/*.go") {
		client += read(t, name)
	}
	record := logRecord.FindStringSubmatch(troubleshooting)
	if record == nil || !strings.Contains(client, `"`+record[1]+" ") {
		t.Errorf("Troubleshooting says to search a log for %q", record)
	}
}

var (
	codeText    = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
	testName    = regexp.MustCompile("`(Test[A-Z]\\w+)`")
	makeCommand = regexp.MustCompile(`\bmake((?: [\w.=:/-]+)*)`)
)

// A target of the Makefile, or a test, that a page names must exist.
func TestQuotedCommandsExist(t *testing.T) {
	t.Parallel()
	makefile, tests := read(t, root+"/Makefile"), ""
	for _, name := range append(glob(t, "internal/*/*_test.go"), glob(t, "*_test.go")...) {
		tests += read(t, name)
	}
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
		for _, match := range testName.FindAllStringSubmatch(page, -1) {
			if !strings.Contains(tests, "func "+match[1]+"(") {
				t.Errorf("%s names the test %s, which does not exist", name, match[1])
			}
		}
	}
}

func TestReadmeShowsTheConfigurationOfTheIndex(t *testing.T) {
	t.Parallel()
	configuration, _, _ := strings.Cut(read(t, examples+"/provider/provider.tf"), "\noutput ")
	if !strings.Contains(read(t, root+"/README.md"), "```terraform\n"+configuration+"```\n") {
		t.Error("the README shows another configuration than the index")
	}
}
