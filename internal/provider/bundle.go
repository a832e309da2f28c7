// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// bundleOf makes a link to the bundle of a job that has to have completed. It
// looks at the job first, because the service does not document what it answers
// to those who ask for the bundle of one that has not. It reports failures
// itself.
func bundleOf(ctx context.Context, c *client.Client, jobID string, diags *diag.Diagnostics) (*client.Bundle, bool) {
	job, err := c.GetStaticExportJob(ctx, jobID)
	switch {
	case err != nil:
		addError(diags, "Could not read the static export job "+jobID, err)
		return nil, false
	case !job.Finished():
		diags.AddError("Static export job not completed", progressOf(job)+
			"\n\nA link to the bundle can be made only once the job has completed. Run Terraform again then. "+
			"To wait for a job within the same run, start it with the resource docs_static_export.")
		return nil, false
	case !job.Succeeded():
		diags.AddError("Static export job failed", failureOf(job)+
			"\n\nA failed job has no bundle. Export the site again, and give the id of the new job.")
		return nil, false
	}
	bundle, err := c.GenerateBundle(ctx, jobID)
	if err != nil {
		addError(diags, "Could not make a link to the bundle of the static export job "+jobID, err)
		return nil, false
	}
	return bundle, true
}
