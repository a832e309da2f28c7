package provider

import (
	"cmp"
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// Read refreshes the status and page count of the job. It never creates a link. The state stays even if the service
// cannot find the job for [client.NotFoundLimit], because a wrong base_url looks the same: the plan then shows a new
// export, in place.
func (r *staticExportResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	export := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, types.Object{}, "", defaultReadTimeout)
	defer cancel()

	job, err := c.GetStaticExportJob(ctx, export.JobID.ValueString())
	switch {
	case err == nil:
		if job.Status == client.JobFailed && !export.failed() {
			warnAboutFailedJob(job, &resp.Diagnostics)
		}
		export.jobRead(job)
		if export.unfinished() != nil {
			warnAboutUnfinishedJob(job.ID, &resp.Diagnostics)
		}
	case client.IsNotFound(err):
		export.jobUnread(err)
		warnAboutMissingJob(export.JobID.ValueString(), err, &resp.Diagnostics)
	default:
		addRefreshFailure(err, &resp.Diagnostics)
		return
	}
	export.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// ImportState imports an export by "DOMAIN,JOB_ID" or by identity, because the service does not return the domain of
// a job. It creates no link, so the first plan after an import always shows an update, which creates it, adopts the
// configured inputs, and ends the import.
func (r *staticExportResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	identity := parseImport(ctx, req, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, types.Object{}, "", defaultReadTimeout)
	defer cancel()

	job, err := c.GetStaticExportJob(ctx, identity.JobID.ValueString())
	if err != nil || job.Status == client.JobFailed {
		addImportFailure(job, err, &resp.Diagnostics)
		return
	}
	// The state is null. Setting one attribute adds the others as typed nulls.
	var arguments staticExportModel
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("domain"), identity.Domain)...)
	resp.Diagnostics.Append(resp.State.Get(ctx, &arguments)...)
	arguments.LinkRenewal, arguments.RenewBefore = types.StringValue(renewOnExpiry), types.StringValue("0s")
	export := newExport(arguments.exportArguments, job.ID)
	export.imported(job)
	export.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// parseImport reads either form of import. A domain has no comma. A job ID may have one.
func parseImport(ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics) (identity staticExportIdentity) {
	if req.ID == "" && req.Identity != nil && !req.Identity.Raw.IsNull() {
		diags.Append(req.Identity.Get(ctx, &identity)...)
	} else {
		domain, jobID, both := strings.Cut(req.ID, ",")
		if !both {
			diags.AddError(summaryInvalidImport, "The service does not return the domain of a job. "+importForm)
		}
		identity = staticExportIdentity{Domain: types.StringValue(strings.TrimSpace(domain)), JobID: types.StringValue(strings.TrimSpace(jobID))}
	}
	if err := cmp.Or(checkDomain(identity.Domain.ValueString()), checkID(identity.JobID.ValueString())); err != nil && !diags.HasError() {
		diags.AddError(summaryInvalidImport, sentences(err.Error(), importForm))
	}
	return identity
}
