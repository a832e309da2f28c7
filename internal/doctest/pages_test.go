package doctest

import (
	"encoding/json"
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
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*.md", "examples/*/*/*.md"} {
		for _, name := range glob(t, pattern) {
			found[name] = read(t, name)
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
		if page := strings.TrimPrefix(name, root+"/"); strings.HasPrefix(page, "docs/") && name != index && !strings.Contains(all[index], "/blob/main/"+page+")") {
			t.Errorf("the index does not link to %s", page)
		}
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

// A reader who copies a file must find every required setting on its page.
func TestPagesListWhatAFileNeeds(t *testing.T) {
	t.Parallel()
	const ofAWorkflow = `\b(var|secret)s\.(\w+)`
	for file, test := range map[string]struct{ page, setting string }{
		"deploy-gates/gate/deploy.yml":         {"deploy-gates", ofAWorkflow},
		"pipelines/github-actions/publish.yml": {"pipelines", ofAWorkflow},
		"pipelines/github-actions/approve.yml": {"pipelines", ofAWorkflow},
		"pipelines/github-actions/renew.yml":   {"pipelines", ofAWorkflow},
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
	if len(headings) < 7 {
		t.Errorf("the errors page has headings for %d messages, want at least 7", len(headings))
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
	testName    = regexp.MustCompile("`(Test[A-Z]\\w+)`")
	makeCommand = regexp.MustCompile(`\bmake((?: [\w.=:/-]+)*)`)
)

// A command, or a test, that a page names must exist.
func TestQuotedCommandsExist(t *testing.T) {
	t.Parallel()
	makefile, tests := read(t, root+"/Makefile"), ""
	for _, name := range glob(t, "internal/*/*_test.go") {
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

// After a run was killed, its job is looked up in its log, at a level that the workflows set.
func TestJobOfAKilledRunIsInTheLogOfItsWorkflow(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"deploy-gates/gate/*.yml", "pipelines/*/*.yml"} {
		for _, name := range glob(t, "examples/guides/"+pattern) {
			if !strings.Contains(read(t, name), "TF_LOG_PROVIDER: INFO") {
				t.Errorf("%s does not log at INFO", name)
			}
		}
	}
	phrase := regexp.MustCompile("In a log at `INFO`, search for `([^`]+)`").FindStringSubmatch(read(t, root+"/docs/guides/errors.md"))
	if phrase == nil {
		t.Fatal("the page does not say what to search for")
	}
	if !slices.ContainsFunc(glob(t, "internal/client/*.go"), func(name string) bool {
		return strings.Contains(read(t, name), `"`+phrase[1]+" ")
	}) {
		t.Errorf("no log record contains %q", phrase[1])
	}
}

// The roles of a pipeline may read, write, and lock the state where the backend stores it.
func TestPolicyNamesTheStateOfTheBackend(t *testing.T) {
	t.Parallel()
	const directory = examples + "/guides/pipelines/github-actions/"
	backend := read(t, directory+"backend.tf")
	value := func(name string) string {
		t.Helper()
		match := regexp.MustCompile(name + `\s+= "([^"]+)"`).FindStringSubmatch(backend)
		if match == nil {
			t.Fatalf("the backend has no %s", name)
		}
		return match[1]
	}
	bucket := "arn:aws:s3:::" + value("bucket")
	state := bucket + "/" + value("key")
	policy := read(t, directory+"state-policy.json")
	for _, resource := range []string{bucket, state, state + ".tflock"} {
		if !strings.Contains(policy, `"Resource": "`+resource+`"`) {
			t.Errorf("the policy does not name %s", resource)
		}
	}
	if !json.Valid([]byte(policy)) || !json.Valid([]byte(read(t, directory+"trust-policy.json"))) {
		t.Error("a policy is not JSON")
	}
}
