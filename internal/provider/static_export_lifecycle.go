package provider

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/export"
)

// ModifyPlan shows what the apply will do. Terraform plans again in the apply and compares the two plans, so
// ModifyPlan leaves everything that may differ by then unknown. A plan without changes it leaves as it is.
func (r *staticExportResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	stored := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	wanted := plan.wanted(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	step := stored.NextStep(wanted, r.data.clock.Now())
	warnAboutStep(step, &stored.State, wanted, &resp.Diagnostics)
	if step.Action == export.None && resp.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	kept, _ := stored.model()
	plan.exportResult = keptBy(step, kept.exportResult)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// keptBy returns what a step keeps of a result. Everything else is unknown.
func keptBy(step export.Step, now exportResult) exportResult {
	planned := exportResult{
		JobID: types.StringUnknown(), LatestJobID: types.StringUnknown(),
		Status: types.StringUnknown(), PageCount: types.Int64Unknown(),
		BundleURL: types.StringUnknown(), ExpiresAt: types.StringUnknown(), BundleSizeBytes: types.Int64Unknown(),
	}
	if step.KeepsCurrent() {
		planned.JobID, planned.Status, planned.PageCount = now.JobID, now.Status, now.PageCount
	}
	if !step.MayStart() {
		planned.LatestJobID = now.LatestJobID
	}
	if step.LinkStays {
		planned.BundleURL, planned.ExpiresAt = now.BundleURL, now.ExpiresAt
		planned.BundleSizeBytes = now.BundleSizeBytes
	}
	return planned
}

// Create makes the first export. Terraform stores nothing before Create returns, so the state is set once, at the end.
// It holds the job even if Create fails.
func (r *staticExportResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	operation, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, "create", defaultExportTimeout)
	defer cancel()

	created := &storedExport{exportArguments: plan.exportArguments}
	run := r.run(operation, plan, created, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if failure := run.Create(ctx, r.data.handover.take(run.Wanted.Inputs)); failure != nil {
		reportFailedCreate(failure, run, &resp.Diagnostics)
	} else {
		warnAboutLink(run, &resp.Diagnostics)
	}
	if created.Shown() != nil {
		created.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
	}
}

// reportFailedCreate decides whether a failed create taints the resource: Terraform taints what a create leaves with an
// error, and replaces it. An interrupt is only a warning, so the next apply resumes the job as an update. Terraform
// still taints the resource if it has a create-time provisioner, which the interrupt keeps from running.
func reportFailedCreate(failure *export.Failure, run *export.Run, diags *diag.Diagnostics) {
	if failure.Stage != export.Starting && interrupted(failure.Cause) {
		summary, detail := describe(failure, run, false)
		warnAboutJob(diags, summary, run.Next.ID, detail)
		return
	}
	diags.AddError(describe(failure, run, true))
}

// Update takes the next step. An export without a link is still the one that was created.
func (r *staticExportResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan staticExportModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	stored := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	operation, ok := r.data.ready(&resp.Diagnostics)
	if !ok || resp.Diagnostics.HasError() {
		return
	}
	timeout := "update"
	if stored.Current == nil {
		timeout = "create"
	}
	ctx, cancel := r.data.withTimeout(ctx, plan.Timeouts, timeout, defaultExportTimeout)
	defer cancel()

	run := r.run(operation, plan, stored, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	step := run.NextStep(run.Wanted, run.Clock.Now())
	if failure := run.Take(ctx, step); failure != nil {
		resp.Diagnostics.AddError(describe(failure, run, false))
	} else if step.Action != export.None {
		warnAboutLink(run, &resp.Diagnostics)
	}
	if stored.Shown().Inputs == run.Wanted.Inputs {
		stored.exportArguments = plan.exportArguments
	}
	stored.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
}

// Delete sends no request, because the API cannot delete a job. Terraform replaces what a failed create has left
// without asking the provider: it withholds the private state, which every other resource has, and calls Delete and
// then Create. So Delete hands the unfinished job over. Whoever asks for a replacement with -replace gets another job.
func (r *staticExportResource) Delete(
	ctx context.Context, req resource.DeleteRequest, _ *resource.DeleteResponse,
) {
	var ignored diag.Diagnostics // nothing stops a destroy
	var tainted staticExportModel
	ignored.Append(req.State.Get(ctx, &tainted)...)
	if private, _ := req.Private.GetKey(ctx, privateExportKey); private == nil {
		r.data.handover.add(tainted.stored(privateExport{}, &ignored).Unfinished())
	}
}

// run returns the run of a plan, which changes what is stored.
func (r *staticExportResource) run(
	operation *client.Operation, plan staticExportModel, stored *storedExport, diags *diag.Diagnostics,
) *export.Run {
	return &export.Run{
		State: &stored.State, Wanted: plan.wanted(diags), Service: operation,
		Clock: r.data.clock, PollInterval: durationOf(plan.PollInterval),
	}
}

// Read refreshes the status and page count of a job, if they can change what an apply does. It never creates a link.
// The state stays even if the service cannot find the job for [client.NotFoundLimit], because a wrong base_url looks
// the same: the plan then shows a new export, in place.
func (r *staticExportResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	stored := readStoredExport(ctx, req.State, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	refreshed := stored.Refreshes(stored.neverRenews())
	if refreshed == nil {
		stored.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics) // it may have no identity yet
		return
	}
	operation, ok := r.data.ready(&resp.Diagnostics)
	if !ok {
		return
	}
	ctx, cancel := r.data.withTimeout(ctx, types.Object{}, "", defaultReadTimeout)
	defer cancel()

	job, err := operation.GetStaticExportJob(ctx, refreshed.ID)
	if recordRefresh(&stored.State, job, err, &resp.Diagnostics) {
		stored.store(ctx, &resp.State, resp.Identity, resp.Private, &resp.Diagnostics)
	}
}

// recordRefresh records what a refresh read of the shown job, and says what it saw. It reports whether that can be
// stored.
func recordRefresh(s *export.State, job *client.StaticExportJob, err error, diags *diag.Diagnostics) bool {
	shown, missing := *s.Shown(), client.IsNotFound(err)
	failed := err == nil && client.HasFailed(job.Status)
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
	imported.LinkRenewal, imported.RenewBefore = types.StringValue(renewOnExpiry), types.StringValue(noLead)
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

// handover hands unfinished jobs from a Delete to the Creates that follow in the same apply.
type handover struct {
	mu   sync.Mutex
	jobs []*export.Job // several may have the same inputs
}

// add hands over a job, which may be nil.
func (h *handover) add(job *export.Job) {
	if job == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs = append(h.jobs, job)
}

// take removes and returns one job with the given inputs, or nil.
func (h *handover) take(inputs export.Inputs) *export.Job {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.jobs, func(job *export.Job) bool { return job.Inputs == inputs })
	if i < 0 {
		return nil
	}
	job := h.jobs[i]
	h.jobs = slices.Delete(h.jobs, i, i+1)
	return job
}
