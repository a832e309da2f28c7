package doctest

import (
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Line breaks, frames, times, and IDs can differ, and an ellipsis leaves out text.
func TestQuotedOutputIsWhatTheCLIPrints(t *testing.T) {
	t.Parallel()
	const outputs = "examples/outputs/"
	const failedUpdate = "-var=status_id=upd_failure"
	for file, test := range map[string]struct {
		year     int // the CLI's own clock is between 2020 and 2030
		examples []string
		later    time.Duration // after a first apply, if positive
		exit     int
		args     []string
	}{
		outputs + "first-apply.txt":  {2030, []string{"guides/getting-started"}, 0, 0, []string{"apply", "-auto-approve"}},
		outputs + "due-link.txt":     {2030, []string{"guides/link-lifetime/renewal"}, 6 * time.Minute, 0, []string{"plan"}},
		outputs + "expired-link.txt": {2020, []string{"guides/link-lifetime/renewal"}, 1, 0, []string{"plan", "-refresh-only"}},
		outputs + "import.txt": {
			2030,
			[]string{"resources/docs_static_export/resource.tf", "resources/docs_static_export/import-by-string-id.tf"},
			0,
			0,
			[]string{"plan"},
		},
		outputs + "failed-update.txt": {2030, []string{"guides/deploy-gates/gate"}, 0, 1, []string{"apply", "-auto-approve", failedUpdate}},
		"assets/demo.svg":             {2030, []string{"quickstart"}, 0, 1, []string{"apply", "-auto-approve", failedUpdate}},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newService(t, test.year)
			s.enter(t, test.examples...)
			if test.later > 0 {
				s.Run(t, 0, "apply", "-auto-approve")
				s.clock.Advance(test.later)
			}
			output := s.Run(t, test.exit, test.args...)
			printed, shown := comparable(output), read(t, filepath.Join(root, file))
			if filepath.Ext(file) == ".svg" {
				shown = html.UnescapeString(pictureMessage.FindString(pictureTag.ReplaceAllString(shown, " ")))
			}
			for part := range strings.SplitSeq(shown, "…") {
				_, after, found := strings.Cut(printed, comparable(part))
				if !found || shown == "" {
					t.Fatalf("%s shows\n%s\nbut the CLI prints\n%s", file, part, output)
				}
				printed = after
			}
		})
	}
}

var (
	pictureTag     = regexp.MustCompile(`<[^>]+>\s*`)
	pictureMessage = regexp.MustCompile(`(?s)Error: .*?╵`)
	// volatile matches what differs from run to run, and the frame of a message.
	volatile = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z|\bse_\w+|[│╷╵]`)
)

func comparable(output string) string {
	return strings.Join(strings.Fields(volatile.ReplaceAllString(output, "")), " ")
}
