// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// shownLogLines is how much of a failed update's log an error shows: its end.
const shownLogLines = 20

// addUpdateError says why an update could not be read, or not to its end. The
// last that was seen of it may be nil.
func addUpdateError(diags *diag.Diagnostics, statusID string, last *client.UpdateStatus, err error) {
	seen := ""
	if last != nil {
		seen = fmt.Sprintf("Update %s was last seen with status %q.", statusID, last.Status)
	}
	switch {
	case errors.Is(err, client.ErrTimeout):
		addError(diags, "Update not finished in time", err, seen, "The update may still succeed. Look again later, or raise the timeout.")
	case interrupted(err):
		diags.AddError("Wait for the update interrupted", strings.TrimSpace("The update itself goes on. "+seen))
	default:
		addError(diags, "Could not read the update "+statusID, err, seen)
	}
}

// addUpdateFailure says what a failed update is known to have failed of.
func addUpdateFailure(diags *diag.Diagnostics, c *client.Client, statusID string, update *client.UpdateStatus) {
	lines := []string{fmt.Sprintf("Update %s ended with status %q.", statusID, update.Status)}
	add := func(name string, value *string) {
		if value != nil && *value != "" {
			lines = append(lines, fmt.Sprintf("%s: %s", name, *value))
		}
	}
	lines = append(lines, "")
	add("Summary", update.Summary)
	if commit := update.Commit; commit != nil {
		add("Commit", commit.SHA)
		add("Ref", commit.Ref)
		add("Message", commit.Message)
	}
	if update.Author != nil {
		add("Author", update.Author.Name)
	}
	if logs := update.Logs; len(logs) > 0 {
		if len(logs) > shownLogLines {
			logs = logs[len(logs)-shownLogLines:]
		}
		lines = append(lines, "", "The end of its log:")
		for _, line := range logs {
			lines = append(lines, "  "+strings.TrimRight(line, "\r\n"))
		}
	}
	diags.AddError("Update failed", c.Redact(strings.Join(lines, "\n"))+"\n\nCorrect what the log names, and update the site again.")
}
