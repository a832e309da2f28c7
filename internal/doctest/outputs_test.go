package doctest

import (
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The CLI prints each output on a page, and each message in a picture. Line breaks, frames, times, and
// IDs can differ, and an ellipsis leaves out text.
func TestOutputsOnPagesAreThoseOfTheCLI(t *testing.T) {
	t.Parallel()
	const outputs = "examples/outputs/"
	apply := func(t *testing.T, s *service, wantExit int) string {
		t.Helper()
		return s.Run(t, wantExit, "apply", "-auto-approve")
	}
	failUpdate := func(t *testing.T, s *service) string {
		t.Helper()
		s.Env = append(s.Env, "TF_VAR_status_id=upd_failure")
		return apply(t, s, 1)
	}
	for name, test := range map[string]struct {
		file     string
		year     int
		examples []string
		print    func(t *testing.T, s *service) string
	}{
		"the first apply": {outputs + "first-apply.txt", 2030, []string{"guides/getting-started"}, func(t *testing.T, s *service) string {
			return apply(t, s, 0)
		}},
		"the plan of a link that is due": {outputs + "due-link.txt", 2030, []string{"guides/link-lifetime/renewal"}, func(t *testing.T, s *service) string {
			apply(t, s, 0)
			s.clock.Advance(6 * time.Minute)
			return s.Run(t, 0, "plan")
		}},
		// The link has expired by the clock of the CLI.
		"a refresh-only plan of an expired link": {outputs + "expired-link.txt", 2020, []string{"guides/link-lifetime/renewal"}, func(t *testing.T, s *service) string {
			apply(t, s, 0)
			return s.Run(t, 0, "plan", "-refresh-only")
		}},
		"an import": {outputs + "import.txt", 2030, []string{"resources/docs_static_export/resource.tf", "resources/docs_static_export/import-by-string-id.tf"}, func(t *testing.T, s *service) string {
			return s.Run(t, 0, "plan")
		}},
		"a gate that stops":       {outputs + "failed-update.txt", 2030, []string{"guides/deploy-gates/gate"}, failUpdate},
		"the picture of the demo": {"assets/demo.svg", 2030, []string{"quickstart"}, failUpdate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceIn(t, test.year)
			s.enter(t, test.examples...)
			output := test.print(t, s)
			printed := comparable(output)
			shown := read(t, filepath.Join(root, test.file))
			if filepath.Ext(test.file) == ".svg" {
				shown = html.UnescapeString(pictureMessage.FindString(pictureTag.ReplaceAllString(shown, " ")))
			}
			for part := range strings.SplitSeq(shown, "…") {
				_, after, found := strings.Cut(printed, comparable(part))
				if !found || shown == "" {
					t.Fatalf("%s shows\n%s\nbut the CLI prints\n%s", test.file, part, output)
				}
				printed = after
			}
		})
	}
}

var (
	pictureTag     = regexp.MustCompile(`<[^>]+>\s*`)
	pictureMessage = regexp.MustCompile(`(?s)Error: .*?╵`)
)

// volatile matches what differs from run to run, and the frame of a message.
var volatile = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z|\bse_\w+|[│╷╵]`)

func comparable(output string) string {
	return strings.Join(strings.Fields(volatile.ReplaceAllString(output, "")), " ")
}
