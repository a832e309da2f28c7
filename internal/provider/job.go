// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Descriptions that several objects share.
const (
	bundleURLDescription  = "Presigned link to the bundle, a single archive."
	expiresAtDescription  = "Time when `bundle_url` expires, in RFC 3339 format (UTC), such as `2030-01-31T12:00:00Z`. Null if neither the service nor the link specifies it."
	bundleSizeDescription = "Size of the bundle in bytes."
	jobStatusDescription  = "Status of the job as the service returns it. `completed` and `failed` are final. Any other value means that the job is still running."
)

// waitForCompleted waits for a job that is still running, because the contract leaves
// open what the service returns for the bundle of a job that has not completed. It
// reports failures. timeout is the field of the timeouts argument that limits it.
func waitForCompleted(ctx context.Context, c *client.Client, jobID, timeout string, diags *diag.Diagnostics) bool {
	job, err := c.WaitForStaticExport(ctx, jobID, client.WaitOptions{})
	switch {
	case err == nil:
		return true
	case job != nil && job.Status == client.JobFailed:
		diags.AddError(summaryJobFailed, paragraphs(failureOf(c, job), "A failed job has no bundle. Use the ID of a completed job."))
	case job != nil:
		addError(diags, summaryJobNotCompleted, explain(err, timeout), progressOf(jobID, job), "")
	default:
		addError(diags, summaryJobUnreadable, explain(err, timeout), "", "")
	}
	return false
}

// progressOf describes a job that has not finished as it was last read; last is nil if it
// was not.
func progressOf(jobID string, last *client.StaticExportJob) string {
	if last == nil {
		return fmt.Sprintf("Job %s may still be running. Its status has not been read.", jobID)
	}
	text := fmt.Sprintf("Job %s was last seen with status %q", jobID, last.Status)
	if last.Progress != nil {
		text += fmt.Sprintf(", progress %.4g", *last.Progress)
	}
	if last.PageCount != nil {
		text += fmt.Sprintf(", page count %d", *last.PageCount)
	}
	if !last.Documented() {
		return text + ". That status is undocumented, and counts as still running."
	}
	return text + ", and may still be running."
}

// failureOf describes why a job failed.
func failureOf(c *client.Client, job *client.StaticExportJob) string {
	if job.Error == "" {
		return fmt.Sprintf("Job %s ended with status %q. The service gave no reason.", job.ID, job.Status)
	}
	return fmt.Sprintf("Job %s ended with status %q. The service's message: %s.", job.ID, job.Status, strings.TrimSuffix(c.Redact(job.Error), "."))
}

// expiry returns the expires_at of a link; null if its expiry is not known.
func expiry(at time.Time) types.String {
	if at.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(at.Format(time.RFC3339))
}

func nullIfEmpty(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}
