package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const (
	statusIDDescription = "Status ID that the service returned when the update was triggered."

	// maxLogLines and maxLogBytes limit how much of the end of a failed update's log an error shows.
	maxLogLines = 20
	maxLogBytes = 4 << 10

	fixCause = "Fix the cause, and use the status_id of the next update."
)

// siteUpdateWait is a wait for the end of an update.
type siteUpdateWait struct {
	operation    *client.Operation
	statusID     string
	pollInterval types.String
	onUpdate     func(*client.UpdateStatus) // called with each new status; may be nil
	again        string                     // how to wait again after a timeout
	unchanged    string                     // what a failure leaves unchanged, or ""
	next         string                     // what to do after any failure, or ""
}

// waitForEnd waits until the update has finished, successfully or not. It reports an error only if the wait itself
// fails.
func (w siteUpdateWait) waitForEnd(ctx context.Context, diags *diag.Diagnostics) (*client.UpdateStatus, bool) {
	last, err := w.operation.WaitForUpdate(ctx, w.statusID, durationOf(w.pollInterval), w.onUpdate)
	if err == nil {
		return last, true
	}
	summary, next := summaryUpdateUnreadable, w.next
	if timedOut(err) {
		summary, next = summaryUpdateTimedOut, sentences(w.again, w.next)
	} else if interrupted(err) {
		summary = summaryUpdateInterrupted
	}
	addError(diags, summary, err, sentences(describeLastSeen(w.statusID, last), w.unchanged), next)
	return nil, false
}

// waitForSuccess waits for the end of the update and fails closed: anything but success is reported as an error.
func (w siteUpdateWait) waitForSuccess(ctx context.Context, diags *diag.Diagnostics) (*client.UpdateStatus, bool) {
	update, ok := w.waitForEnd(ctx, diags)
	if ok && !update.Succeeded() {
		addUpdateFailure(w.operation, diags, w.statusID, update, w.unchanged, fixCause)
		ok = false
	}
	return update, ok
}

// describeLastSeen describes the update as it was last read. last is nil if no read succeeded.
func describeLastSeen(statusID string, last *client.UpdateStatus) string {
	if last == nil {
		return fmt.Sprintf("No status was received for update %s.", statusID)
	}
	running := "It may still be running."
	if !last.Documented() {
		running = "The status is undocumented, so the provider treats the update as running."
	}
	return fmt.Sprintf("Update %s had status %q when last checked. %s", statusID, last.Status, running)
}

// addUpdateFailure reports what is known about a failed update, what the failure leaves unchanged, and what to do
// next.
func addUpdateFailure(
	o *client.Operation, diags *diag.Diagnostics, statusID string, update *client.UpdateStatus, unchanged, next string,
) {
	facts := []string{fmt.Sprintf("Update %s ended with status %q.", statusID, update.Status)}
	add := func(name string, value *string) {
		if value == nil {
			return
		}
		if text := o.Redact(*value); text != "" {
			facts = append(facts, name+": "+text)
		}
	}
	add("Summary", update.Summary)
	if commit := update.Commit; commit != nil {
		add("Commit", commit.SHA)
		add("Ref", commit.Ref)
		if commit.Message != nil {
			subject, _, _ := strings.Cut(strings.TrimSpace(*commit.Message), "\n")
			add("Message", &subject)
		}
	}
	if update.Author != nil {
		add("Author", update.Author.Name)
	}
	log := endOfLog(o, update.Logs)
	diags.AddError(summaryUpdateFailed, paragraphs(strings.Join(facts, "\n"), log, unchanged, next))
}

// endOfLog shows the last lines of a log, if there are any. One entry of the log may have several.
func endOfLog(o *client.Operation, log []string) string {
	if len(log) == 0 {
		return ""
	}
	var lines []string
	for _, entry := range log {
		lines = append(lines, strings.Split(strings.Trim(entry, "\r\n"), "\n")...)
	}
	lines = o.RedactLines(lines[max(0, len(lines)-maxLogLines):])
	for len(lines) > 1 && len(strings.Join(lines, "")) > maxLogBytes {
		lines = lines[1:]
	}
	return "End of the log:" + strings.Join(lines, "")
}
