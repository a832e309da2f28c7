// Package exporttest writes the state of an export as one line, so that tests can show it in a table.
//
// A line is "CURRENT | NEXT", and either may be missing: "a1 due | b1 running missing". A job is its ID, whose first
// letter is its content, and words in any order:
//
//	queued running completed failed   its status; also canceled and expired
//	imported missing bundle-missing   its marks
//	as:b                              its content, if the ID does not have it
//	due 2h unlimited                  when the link expires: now, in two hours, or never; otherwise in an hour
//	kept                              the link was kept by an early renewal
//
// The last two are for CURRENT only. Any other word, or a content that is not a, b, or c, panics.
package exporttest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// Now is the present of all states.
var Now = time.Date(2130, time.January, 31, 12, 0, 0, 0, time.UTC)

// Domain and Parameters are those of all inputs.
const (
	Domain     = "docs.example.com"
	Parameters = `{"version":7}`
)

// contents are the inputs of each content that a line can name, and imported are those of an imported job.
var (
	contents = map[string]export.Inputs{"a": Inputs("a"), "b": Inputs("b"), "c": Inputs("c")}
	imported = NewInputs(Domain, nil, "")
)

// Inputs returns the inputs of a content.
func Inputs(content string) export.Inputs {
	return NewInputs(Domain, map[string]*string{"revision": &content}, Parameters)
}

// NewInputs is [export.NewInputs] for valid parameters.
func NewInputs(domain string, triggers map[string]*string, parameters string) export.Inputs {
	inputs, err := export.NewInputs(domain, triggers, parameters)
	if err != nil {
		panic(err)
	}
	return inputs
}

// State parses a line.
func State(line string) *export.State {
	current, next, _ := strings.Cut(line, "|")
	s := &export.State{}
	if words := strings.Fields(current); len(words) > 0 {
		s.Link = export.Link{URL: "https://storage.example/" + words[0], ExpiresAt: Now.Add(time.Hour)}
		s.Current = job(words, &s.Link)
	}
	s.Next = Job(next)
	return s
}

// Job parses a job, or returns nil for "".
func Job(text string) *export.Job {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	return job(words, nil)
}

func job(words []string, link *export.Link) *export.Job {
	j := &export.Job{ID: words[0], Inputs: contents[words[0][:1]]}
	for _, word := range words[1:] {
		content, isContent := strings.CutPrefix(word, "as:")
		lifetime, notLifetime := time.ParseDuration(word)
		switch {
		case slices.Contains([]string{"queued", "running", "completed", "failed", "canceled", "expired"}, word):
			j.Status = word
		case word == "imported":
			j.Imported, j.Inputs = true, imported
		case word == "missing":
			j.Missing = true
		case word == "bundle-missing":
			j.BundleMissing = true
		case isContent:
			j.Inputs = contents[content]
		case link != nil && word == "due":
			link.ExpiresAt = Now
		case link != nil && word == "unlimited":
			link.ExpiresAt = time.Time{}
		case link != nil && word == "kept":
			link.Kept = true
		case link != nil && notLifetime == nil:
			link.ExpiresAt = Now.Add(lifetime)
		default:
			panic(fmt.Sprintf("%q is not a word of %q", word, strings.Join(words, " ")))
		}
	}
	if j.Inputs == (export.Inputs{}) {
		panic(fmt.Sprintf("%q has no content", strings.Join(words, " ")))
	}
	return j
}

// Line returns the line of a state. [State] parses it.
func Line(s *export.State) string {
	line := ""
	if s.Current != nil {
		words := wordsOf(s.Current)
		switch left := s.Link.ExpiresAt.Sub(Now); {
		case s.Link.ExpiresAt.IsZero():
			words = append(words, "unlimited")
		case left <= 0:
			words = append(words, "due")
		case left != time.Hour:
			words = append(words, left.String())
		}
		if s.Link.Kept {
			words = append(words, "kept")
		}
		line = strings.Join(words, " ") + " "
	}
	line += "|"
	if s.Next != nil {
		line += " " + strings.Join(wordsOf(s.Next), " ")
	}
	return line
}

func wordsOf(j *export.Job) []string {
	words := []string{j.ID}
	for content, inputs := range contents {
		if j.Inputs == inputs && !strings.HasPrefix(j.ID, content) {
			words = append(words, "as:"+content)
		}
	}
	if j.Status != "" {
		words = append(words, j.Status)
	}
	for _, mark := range []struct {
		word string
		is   bool
	}{{"imported", j.Imported}, {"missing", j.Missing}, {"bundle-missing", j.BundleMissing}} {
		if mark.is {
			words = append(words, mark.word)
		}
	}
	return words
}
