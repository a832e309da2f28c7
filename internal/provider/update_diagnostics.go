// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// How much of a failed update's log an error shows: its end.
const (
	shownLogLines = 20
	shownLogBytes = 4 << 10
)

// addWaitError says why an update could not be waited for to its end. The last
// that was seen of it may be nil; again says how to go on waiting.
func addWaitError(diags *diag.Diagnostics, statusID string, last *client.UpdateStatus, err error, again string) {
	seen := seenOf(statusID, last)
	switch {
	case errors.Is(err, client.ErrTimeout):
		addError(diags, "Update not finished in time", err, seen, "The update itself goes on, and may still succeed. "+again)
	case interrupted(err):
		diags.AddError("Wait for the update interrupted", strings.TrimSpace(seen+" The update itself goes on. "+again))
	default:
		addError(diags, "Could not read the update "+statusID, err, seen)
	}
}

// seenOf says how an update was last seen.
func seenOf(statusID string, last *client.UpdateStatus) string {
	switch {
	case last == nil:
		return ""
	case last.Status == "queued" || last.Status == "in_progress":
		return fmt.Sprintf("Update %s was last seen with status %q.", statusID, last.Status)
	}
	return fmt.Sprintf("Update %s was last seen with status %q, which is not documented and counts as still running.", statusID, last.Status)
}

// addUpdateFailure says what a failed update is known to have failed of.
func addUpdateFailure(diags *diag.Diagnostics, c *client.Client, statusID string, update *client.UpdateStatus) {
	var facts []string
	add := func(name string, value *string) {
		if value == nil {
			return
		}
		if text := c.Redact(*value); text != "" {
			facts = append(facts, name+": "+text)
		}
	}
	add("Summary", update.Summary)
	if commit := update.Commit; commit != nil {
		add("Commit", commit.SHA)
		add("Ref", commit.Ref)
		add("Message", firstLine(commit.Message))
	}
	if update.Author != nil {
		add("Author", update.Author.Name)
	}
	paragraphs := []string{fmt.Sprintf("Update %s ended with status %q.", statusID, update.Status)}
	if len(facts) > 0 {
		paragraphs = append(paragraphs, strings.Join(facts, "\n"))
	}
	if log := endOfLog(c, update.Logs); len(log) > 0 {
		// Terraform does not wrap lines that begin with a space.
		paragraphs = append(paragraphs, "The end of its log:\n  "+strings.Join(log, "\n  "))
	}
	paragraphs = append(paragraphs, "Correct the cause, and update the site again.")
	diags.AddError("Update failed", strings.Join(paragraphs, "\n\n"))
}

// firstLine returns the subject of a commit's message.
func firstLine(message *string) *string {
	if message == nil {
		return nil
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(*message), "\n")
	return &subject
}

// endOfLog returns the last lines of a log, fit to be shown. An entry of the log
// may be of several lines.
func endOfLog(c *client.Client, log []string) []string {
	var lines []string // the last one first
	size := 0
	for _, entry := range slices.Backward(log) {
		for _, line := range slices.Backward(strings.Split(c.Redact(entry), "\n")) {
			size += len(line)
			if len(lines) == shownLogLines || size > shownLogBytes {
				slices.Reverse(lines)
				return lines
			}
			lines = append(lines, line)
		}
	}
	slices.Reverse(lines)
	return lines
}
