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

// Read refreshes what the job tells. It only GETs: it never makes a link, and
// an expired link is no reason to forget the export.
func (r *staticExportResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state staticExportModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	timeout, diags := state.Timeouts.Read(ctx, defaultReadTimeout)
	resp.Diagnostics.Append(diags...)
	notes := readNotes(ctx, req.Private, &resp.Diagnostics)
	c, ok := r.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, timeout)
	defer cancel()

	jobID := state.JobID.ValueString()
	job, err := c.GetStaticExportJob(ctx, jobID)
	if ahead, ok := c.Skew(); ok {
		// The apply, which may know no answer of the service yet, decides by the same clock as the plan.
		notes.Skew = ahead
	}
	switch {
	case client.IsGone(err) && notes.Pending != nil:
		resp.Diagnostics.AddWarning("Static export job no longer known to the service",
			fmt.Sprintf("The service does not know the job %s of %s any more. The state stays, because the job %s that an earlier apply started for new content is still to be looked at: the next apply goes on with it.\n\n%s",
				jobID, state.Domain.ValueString(), notes.Pending.JobID, detail(err)))
		notes.Lost = true
		state.forgetLink()
	case client.IsGone(err):
		resp.Diagnostics.AddWarning("Static export job no longer known to the service",
			fmt.Sprintf("The service does not know the job %s of %s any more, so it leaves the state, and the plan shows a new export.\n\n%s",
				jobID, state.Domain.ValueString(), detail(err)))
		resp.State.RemoveResource(ctx)
		// Terraform before 1.12 keeps no identity, and the framework wants one here.
		resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
		return
	case err != nil:
		addError(&resp.Diagnostics, "Could not read the static export job "+jobID, err)
		return
	}
	if err == nil {
		state.setJob(job)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	notes.write(ctx, resp.Private, &resp.Diagnostics)
}

// ImportState takes over an export by "job_id", by "domain,job_id" or by
// identity. It starts no job. If the job has completed it makes a link, so that
// the imported export is whole and needs no apply.
func (r *staticExportResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	identity, problem := parseImport(ctx, req)
	if problem != "" {
		resp.Diagnostics.AddError("Invalid import id", problem+" Give the id of the job, or the domain of the site, a comma and the id of the job: \"docs.example.com,JOB_ID\".")
	}
	c, ok := r.service.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := c.WithTimeout(ctx, defaultReadTimeout)
	defer cancel()

	// One attribute makes an object of the state, with typed nulls for the others.
	var state staticExportModel
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("job_id"), identity.JobID)...)
	resp.Diagnostics.Append(resp.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	jobID := identity.JobID.ValueString()
	job, err := c.GetStaticExportJob(ctx, jobID)
	if err != nil {
		addError(&resp.Diagnostics, "Could not import the static export job "+jobID, err)
		return
	}
	if job.Finished() && !job.Succeeded() {
		resp.Diagnostics.AddError("Could not import the static export job "+jobID, failureOf(job)+"\n\nA failed job has no bundle. Leave out the import, and the next apply exports anew.")
		return
	}
	state.Domain = identity.Domain
	state.LinkRenewal = types.StringValue(renewOnExpiry)
	state.RenewBefore = types.StringValue("0s")
	state.setJob(job)
	notes := &exportNotes{Imported: true}
	run := exportRun{client: c, plan: &state, notes: notes, diags: &resp.Diagnostics}
	if job.Succeeded() {
		if err := run.link(ctx, &state); err != nil {
			resp.Diagnostics.AddWarning("Imported without a link",
				"The export was imported, but no link to its bundle could be made. The next apply makes one.\n\n"+detail(err))
		}
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(resp.Identity.Set(ctx, state.identity())...)
	notes.write(ctx, resp.Private, &resp.Diagnostics)
}

// parseImport reads either form of import. A domain has no comma; a job's id
// might, and is given after a domain then.
func parseImport(ctx context.Context, req resource.ImportStateRequest) (identity staticExportIdentity, problem string) {
	if req.ID == "" && req.Identity != nil {
		if diags := req.Identity.Get(ctx, &identity); diags.HasError() {
			return identity, "The identity could not be read."
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
	if strings.TrimSpace(identity.JobID.ValueString()) == "" {
		return identity, "The job's id is empty."
	}
	if !identity.Domain.IsNull() {
		problem = domainProblem(identity.Domain.ValueString())
	}
	return identity, problem
}
