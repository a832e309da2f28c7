// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Read refreshes what the service says of the job. It never generates a link, and
// an expired link is no reason to drop the export.
func (r *staticExportResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state staticExportModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	notes := readNotes(ctx, req.Private, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeout(ctx, state.Timeouts, "read", defaultReadTimeout)
	defer cancel()

	jobID := state.JobID.ValueString()
	job, err := c.GetStaticExportJob(ctx, jobID)
	switch {
	case err == nil:
		state.setJob(job)
		notes.BaseURL = c.BaseURL()
	case !client.IsGone(err):
		addError(&resp.Diagnostics, "Could not read the static export job", err, "", "")
		return
	case notes.BaseURL != "" && notes.BaseURL != c.BaseURL():
		addError(&resp.Diagnostics, "Static export job not found at this base_url", err,
			fmt.Sprintf("Job %s was last seen at %s, but base_url is %s now. The state is unchanged.", jobID, notes.BaseURL, c.BaseURL()),
			"Correct base_url. If the service has moved without its jobs, run \"terraform state rm\" with the address of this resource.")
		return
	case notes.Pending != nil:
		what, _ := explain(err)
		resp.Diagnostics.AddWarning("Static export job not found", paragraphs(what,
			fmt.Sprintf("The state stays, because job %s, which an earlier apply started for new content, may still complete. The next apply resumes it.", notes.Pending.JobID)))
		notes.Lost = true
		state.clearLink()
	default:
		what, _ := explain(err)
		resp.Diagnostics.AddWarning("Static export job not found", paragraphs(what,
			fmt.Sprintf("The export of %s is removed from the state, so the plan shows a new export.", state.Domain.ValueString()),
			"If the job should still exist, check base_url and the API key before you apply."))
		resp.State.RemoveResource(ctx)
		// Terraform before 1.12 keeps no identity, but the framework requires one here.
		resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	notes.write(ctx, resp.Private, &resp.Diagnostics)
}

// ImportState imports an export by "JOB_ID", by "DOMAIN,JOB_ID" or by identity. It
// generates no link, so the first plan after an import always has one to make. The
// apply of that plan adopts the configured inputs and ends the import.
func (r *staticExportResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	identity, problem := parseImport(ctx, req)
	if problem != "" {
		resp.Diagnostics.AddError("Invalid import ID", problem)
	}
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := withTimeout(ctx, types.Object{}, "read", defaultReadTimeout)
	defer cancel()

	job, err := c.GetStaticExportJob(ctx, identity.JobID.ValueString())
	if err != nil {
		next := ""
		if jobID := identity.JobID.ValueString(); client.IsGone(err) && strings.Contains(jobID, ".") && domainProblem(jobID) == "" {
			next = fmt.Sprintf("%q looks like a domain. %s", jobID, importForms)
		}
		addError(&resp.Diagnostics, "Could not import the static export job", err, "", next)
		return
	}
	if job.Finished() && !job.Succeeded() {
		resp.Diagnostics.AddError("Could not import the static export job",
			paragraphs(failureOf(job), "A failed job has no bundle. Remove the import, and the next apply exports the site again."))
		return
	}
	// Setting one attribute makes an object of the state, with typed nulls for the rest.
	var state staticExportModel
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("job_id"), identity.JobID)...)
	resp.Diagnostics.Append(resp.State.Get(ctx, &state)...)
	state.Domain = identity.Domain
	state.LinkRenewal = types.StringValue(renewOnExpiry)
	state.RenewBefore = types.StringValue("0s")
	state.setJob(job)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	(&exportNotes{Imported: true, BaseURL: c.BaseURL()}).write(ctx, resp.Private, &resp.Diagnostics)
}

const importForms = "Write JOB_ID or DOMAIN,JOB_ID, such as docs.example.com,se_3f9a2c1b8e7d4a06."

// parseImport reads any form of import. A domain has no comma, but a job ID may
// have one.
func parseImport(ctx context.Context, req resource.ImportStateRequest) (identity staticExportIdentity, problem string) {
	if req.ID == "" && req.Identity != nil {
		if diags := req.Identity.Get(ctx, &identity); diags.HasError() {
			return identity, "The identity cannot be read."
		}
	} else {
		domain, jobID, both := strings.Cut(req.ID, ",")
		if !both {
			domain, jobID = "", req.ID
		}
		identity.JobID = types.StringValue(strings.TrimSpace(jobID))
		if both {
			identity.Domain = types.StringValue(strings.TrimSpace(domain))
		}
	}
	if problem = idProblem(identity.JobID.ValueString()); problem == "" && !identity.Domain.IsNull() {
		problem = domainProblem(identity.Domain.ValueString())
	}
	if problem != "" {
		problem += " " + importForms
	}
	return identity, problem
}
