package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Read refreshes the status and page count of the job. It never creates a link. The state
// stays even if the service cannot find the job for [client.NotFoundLimit], because a wrong
// base_url looks the same: the plan then shows a new export, in place.
func (r *staticExportResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state staticExportModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	life := readLife(ctx, &state, req.Private, &resp.Diagnostics)
	notes := life.exportNotes
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, state.Timeouts, "read", defaultReadTimeout)
	defer cancel()

	job, err := c.GetStaticExportJob(ctx, life.JobID)
	switch {
	case err == nil:
		if job.Status == client.JobFailed && life.Status != client.JobFailed {
			resp.Diagnostics.AddWarning(aboutJob(summaryJobFailed, job.ID), paragraphs(failureOf(c, job), "If this plan exports the site again, fix the site before you apply the plan."))
		}
		life.jobRead(job)
	case client.IsNotFound(err):
		life.jobNotFound()
		resp.Diagnostics.AddWarning(aboutJob(summaryJobNotFound, life.JobID), paragraphs(explain(err).what,
			"The refresh kept the job in the state. If the job should still exist, check base_url and the API key before you apply a plan."))
	default:
		cause := explainExport(err)
		cause.advice = sentences(cause.advice, "To plan or destroy without this request, use -refresh=false.")
		addError(&resp.Diagnostics, summaryJobUnreadable, cause, stateUnchanged)
		return
	}
	if life.Unfinished {
		// Terraform does not ask the provider before it replaces a tainted resource.
		resp.Diagnostics.AddWarning(aboutJob(summaryUnfinished, life.JobID), fmt.Sprintf(
			"When Terraform refreshed the state, job %[1]s had no link, because an earlier apply did not finish.\n\n"+
				"If the plan shows the resource as tainted, applying the plan starts another job. To resume job %[1]s instead, run \"terraform untaint ADDRESS\" for this resource, and plan again. Otherwise, ignore this warning.", life.JobID))
	}
	life.storeState(ctx, state, &resp.State, resp.Identity, &resp.Diagnostics)
	if life.exportNotes != notes { // or what a later version has stored would be lost
		life.storeNotes(ctx, resp.Private, &resp.Diagnostics)
	}
}

// ImportState imports an export by "JOB_ID", by "DOMAIN,JOB_ID", or by identity. It
// creates no link, so the first plan after an import always shows an update, which
// creates it, adopts the configured inputs, and ends the import.
func (r *staticExportResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	identity := parseImport(ctx, req, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, types.Object{}, "", defaultReadTimeout)
	defer cancel()

	job, err := c.GetStaticExportJob(ctx, identity.JobID.ValueString())
	if err != nil {
		cause := explainExport(err)
		if jobID := identity.JobID.ValueString(); client.IsNotFound(err) && strings.ContainsAny(jobID, "./") {
			cause.advice = fmt.Sprintf("%q looks like a domain or a path, not like a job ID. %s", jobID, importForms)
		}
		addError(&resp.Diagnostics, summaryImportFailed, cause, "")
		return
	}
	if job.Finished() && !job.Succeeded() {
		resp.Diagnostics.AddError(summaryImportFailed,
			paragraphs(failureOf(c, job), "A failed job has no bundle. Import a job that has not failed, or apply without an import to export the site."))
		return
	}
	// The state is null. Setting one attribute adds the others as typed nulls.
	var state staticExportModel
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("job_id"), identity.JobID)...)
	resp.Diagnostics.Append(resp.State.Get(ctx, &state)...)
	state.Domain = identity.Domain
	state.LinkRenewal = types.StringValue(renewOnExpiry)
	state.RenewBefore = types.StringValue("0s")
	importedLife(job).store(ctx, state, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

const importForms = "Import JOB_ID or DOMAIN,JOB_ID, such as docs.example.com,se_3f9a2c1b8e7d4a06."

// parseImport reads any form of import. A domain has no comma. A job ID may have one.
func parseImport(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (identity staticExportIdentity) {
	if req.ID == "" && req.Identity != nil && !req.Identity.Raw.IsNull() {
		diags.Append(req.Identity.Get(ctx, &identity)...)
	} else if domain, jobID, both := strings.Cut(req.ID, ","); both {
		identity.Domain, identity.JobID = types.StringValue(strings.TrimSpace(domain)), types.StringValue(strings.TrimSpace(jobID))
	} else {
		identity.JobID = types.StringValue(strings.TrimSpace(req.ID))
	}
	if diags.HasError() {
		return identity
	}
	err := checkID(identity.JobID.ValueString())
	if err == nil && !identity.Domain.IsNull() {
		err = checkDomain(identity.Domain.ValueString())
	}
	if err != nil {
		diags.AddError(summaryInvalidImport, sentences(err.Error(), importForms))
	}
	return identity
}
