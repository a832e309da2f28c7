package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Descriptions of attributes of a job and its link.
const (
	jobStatusDescription  = "Status of the job, such as `completed` or `failed`."
	bundleURLDescription  = "Presigned URL of the bundle."
	expiresAtDescription  = "Time when `bundle_url` expires (RFC 3339, UTC). Null if it is not known."
	bundleSizeDescription = "Size of the bundle in bytes."
)

// waitForCompleted waits for a job that is still running, because the contract leaves open what the service returns
// for the bundle of a job that has not completed. It reports failures, and what they leave unchanged.
func waitForCompleted(ctx context.Context, o *client.Operation, jobID, unchanged string, diags *diag.Diagnostics) bool {
	job, err := o.WaitForStaticExport(ctx, jobID, 0)
	switch {
	case err == nil && job.Succeeded():
		return true
	case err == nil:
		diags.AddError(summaryJobFailed, paragraphs(failureOf(job), unchanged,
			sentences("A failed job has no bundle.", exportAgain, "Otherwise, use the ID of a completed job.")))
	case job != nil:
		addError(diags, summaryJobNotCompleted, err, sentences(progressOf(jobID, job), unchanged), "")
	case client.IsNotFound(err):
		addError(diags, summaryJobUnreadable, err, unchanged, exportAgain)
	default:
		addError(diags, summaryJobUnreadable, err, unchanged, "")
	}
	return false
}

// progressOf describes an unfinished job as it was last read; last is nil if it was never read.
func progressOf(jobID string, last *client.StaticExportJob) string {
	if last == nil {
		return fmt.Sprintf("Job %s could not be read. It may still be running.", jobID)
	}
	var numbers []string
	if last.Progress != nil {
		numbers = append(numbers, fmt.Sprintf("progress %.4g", *last.Progress))
	}
	if last.PageCount != nil {
		numbers = append(numbers, fmt.Sprintf("page count %d", *last.PageCount))
	}
	text := fmt.Sprintf("Job %s had status %q when last checked", jobID, last.Status)
	if len(numbers) > 0 {
		text += " (" + strings.Join(numbers, ", ") + ")"
	}
	if !last.Documented() {
		return text + ". The status is undocumented, so the provider treats the job as running. " +
			"Look for the job in the service's dashboard."
	}
	return text + ". It may still be running."
}

// failureOf describes why a job failed.
func failureOf(job *client.StaticExportJob) string {
	message := strings.TrimSuffix(job.Message, ".")
	if message == "" {
		return fmt.Sprintf("Job %s ended with status %q. The service gave no reason.", job.ID, job.Status)
	}
	return fmt.Sprintf("Job %s ended with status %q. The service's message: %s.", job.ID, job.Status, message)
}
