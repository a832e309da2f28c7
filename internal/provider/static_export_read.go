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
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// Read refreshes the status and page count of the job. It never creates a link. The state stays even if the service
// cannot find the job for [client.NotFoundLimit], because a wrong base_url looks the same: the plan then shows a new
// export, in place.
func (r *staticExportResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	stored := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	c, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, types.Object{}, "", defaultReadTimeout)
	defer cancel()

	job, err := c.GetStaticExportJob(ctx, stored.Shown().ID)
	if recordRefresh(&stored.State, job, err, &resp.Diagnostics) {
		stored.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
	}
}

// recordRefresh records what a refresh read of the shown job, and says what it saw. It reports whether that can be
// stored.
func recordRefresh(s *export.State, job *client.StaticExportJob, err error, diags *diag.Diagnostics) bool {
	shown, missing := *s.Shown(), client.IsNotFound(err)
	failed := err == nil && job.Status == client.JobFailed
	switch {
	case shown.Imported && shown.Status == "" && (err != nil || failed):
		addImportFailure(job, err, diags) // Terraform refreshes an import before it stores it
		return false
	case missing:
		warnAboutMissingJob(shown.ID, err, diags)
	case err != nil:
		addRefreshFailure(err, diags)
		return false
	case failed && !shown.Failed():
		warnAboutFailedJob(shown.ID, job, diags)
	}
	s.Refresh(job, err)
	return true
}

// ImportState imports an export by "DOMAIN,JOB_ID" or by identity, because the service does not return the domain of
// a job. It sends no request, because Terraform refreshes what was imported before it stores it. The first plan after
// an import always shows an update, which creates a link, adopts the configured inputs, and ends the import.
func (r *staticExportResource) ImportState(
	ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse,
) {
	identity := parseImport(ctx, req, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	// The state is null. Setting one attribute adds the others as typed nulls.
	var imported staticExportModel
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("domain"), identity.Domain)...)
	resp.Diagnostics.Append(resp.State.Get(ctx, &imported)...)
	imported.JobID = identity.JobID
	imported.LinkRenewal, imported.RenewBefore = types.StringValue(renewOnExpiry), types.StringValue("0s")
	imported.stored(privateExport{privateMarks: privateMarks{Imported: true}}, &resp.Diagnostics).
		store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

const importForm = "Import DOMAIN,JOB_ID."

// parseImport reads either form of import. A domain has no comma. A job ID may have one.
func parseImport(
	ctx context.Context, req resource.ImportStateRequest, diags *diag.Diagnostics,
) (identity staticExportIdentity) {
	if req.ID == "" && req.Identity != nil && !req.Identity.Raw.IsNull() {
		diags.Append(req.Identity.Get(ctx, &identity)...)
	} else {
		domain, jobID, both := strings.Cut(req.ID, ",")
		if !both {
			diags.AddError(summaryInvalidImport, "The service does not return the domain of a job. "+importForm)
		}
		identity.Domain = types.StringValue(strings.TrimSpace(domain))
		identity.JobID = types.StringValue(strings.TrimSpace(jobID))
	}
	err := cmp.Or(checkDomain(identity.Domain.ValueString()), checkID(identity.JobID.ValueString()))
	if err != nil && !diags.HasError() {
		diags.AddError(summaryInvalidImport, sentences(err.Error(), importForm))
	}
	return identity
}
