// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

const jobStatusDescription = "Status of the job as the service returns it. `completed` and `failed` are final. Any other value means that the job is still running."

// completedBundle creates a link to the bundle of a job. It first waits for the job if it
// is still running, because the contract leaves open what the service returns for the
// bundle of a job that has not completed. It reports failures.
func completedBundle(ctx context.Context, c *client.Client, jobID string, diags *diag.Diagnostics) (*client.Bundle, bool) {
	job, err := c.WaitForStaticExport(ctx, jobID, client.WaitOptions{})
	var failed *client.JobFailedError
	switch {
	case errors.As(err, &failed):
		diags.AddError("Static export job failed", paragraphs(failureOf(job), "A failed job has no bundle. Use the ID of a completed job."))
		return nil, false
	case err != nil && job != nil:
		addError(diags, "Static export job not completed", err, progressOf(job), "")
		return nil, false
	case err != nil:
		addError(diags, "Could not read the static export job", err, "", "")
		return nil, false
	}
	bundle, err := c.GenerateBundle(ctx, jobID)
	if err != nil {
		addError(diags, "Could not create a bundle link", err, "", "")
		return nil, false
	}
	return bundle, true
}

// progressOf describes the progress of a job when it was last read.
func progressOf(job *client.StaticExportJob) string {
	if job.Status == "" {
		return fmt.Sprintf("Job %s was started, but its status has not been read yet.", job.ID)
	}
	text := fmt.Sprintf("Job %s was last seen with status %q", job.ID, job.Status)
	if job.Progress != nil {
		text += fmt.Sprintf(", %g%% done", *job.Progress)
	}
	if job.PageCount != nil {
		text += fmt.Sprintf(", %d pages", *job.PageCount)
	}
	return text + "."
}

// failureOf describes why a job failed.
func failureOf(job *client.StaticExportJob) string {
	if job.Error == "" {
		return fmt.Sprintf("Job %s ended with status %q. The service gave no reason.", job.ID, job.Status)
	}
	return fmt.Sprintf("Job %s ended with status %q. The service says: %s.", job.ID, job.Status, strings.TrimSuffix(job.Error, "."))
}

func nullIfEmpty(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}
