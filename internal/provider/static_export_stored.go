package provider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// storedExport is all that Terraform stores about an export: the attributes, and the private state. The arguments
// among the attributes are those that its job was started with, unless it was imported. After it was read, only the
// methods in this file change it, each for one event.
type storedExport struct {
	staticExportModel
	privateExport
}

// privateExport is the private state of an export.
type privateExport struct {
	// Imported is set from an import to the first update after it, which adopts the configured triggers and
	// parameters. Until then, only the domain of the job is known.
	Imported bool `json:"imported,omitempty"`
	// LinkKept means that an early renewal returned the link with the expiry that it had before.
	LinkKept bool `json:"link_kept,omitempty"`
	// JobMissing and BundleMissing mean that the service returned nothing but 404 or 410 for the job, or for its
	// bundle, for [client.NotFoundLimit].
	JobMissing    bool `json:"job_missing,omitempty"`
	BundleMissing bool `json:"bundle_missing,omitempty"`
	// Pending was started for other inputs, and has no link yet. It is kept until it has one, fails, or is replaced
	// by a newer job.
	Pending *unfinishedJob `json:"pending,omitempty"`
}

// newExport returns an export of which only the arguments and the job ID are known.
func newExport(arguments exportArguments, jobID string) *storedExport {
	return &storedExport{staticExportModel: staticExportModel{arguments, exportResult{JobID: types.StringValue(jobID)}}}
}

// jobRead records what the service returned about the job; nil if nothing. It keeps what the service omits. The
// bundle of a job that was read may still be missing.
func (e *storedExport) jobRead(job *client.StaticExportJob) {
	if job == nil {
		return
	}
	e.JobMissing = false
	if job.Status != "" {
		e.Status = types.StringValue(job.Status)
	}
	if job.PageCount != nil {
		e.PageCount = types.Int64PointerValue(job.PageCount)
	}
}

// imported records that the job, as it was read, was imported.
func (e *storedExport) imported(job *client.StaticExportJob) {
	e.jobRead(job)
	e.Imported = true
}

// jobUnread records whether a read of the job failed because the service does not find it.
func (e *storedExport) jobUnread(err error) { e.JobMissing = client.IsNotFound(err) }

// linkFailed records whether a link was not created because the service does not find the bundle.
func (e *storedExport) linkFailed(err error) { e.BundleMissing = client.IsNotFound(err) }

// linkCreated records a new link to the bundle of the job.
func (e *storedExport) linkCreated(bundle *client.Bundle, now time.Time) {
	before := e.ExpiresAt
	e.BundleURL, e.ExpiresAt, e.BundleSizeBytes = types.StringValue(bundle.URL), expiry(bundle.ExpiresAt), types.Int64PointerValue(bundle.SizeBytes)
	e.LinkKept = !before.IsNull() && e.ExpiresAt.Equal(before) && now.Before(e.expiresAt())
	e.BundleMissing = false
}

// pendingStarted records a job for the given inputs. The job and its link stay.
func (e *storedExport) pendingStarted(job *client.StaticExportJob, inputs exportInputs) {
	e.Pending = &unfinishedJob{job.ID, inputs}
}

// pendingEnded makes the pending job the job if it has a link now, and otherwise forgets it.
func (e *storedExport) pendingEnded(next *storedExport) {
	if e.Pending = nil; next.linked() {
		*e = *next
	}
}

// applied records the arguments of an update that succeeded.
func (e *storedExport) applied(arguments exportArguments) {
	e.exportArguments, e.Imported = arguments, false
}

// exportStep is what an apply does for an existing export.
type exportStep int

const (
	stepNone   exportStep = iota // it records changed arguments
	stepLink                     // it creates a link for the job, after waiting for it if it is still running
	stepExport                   // it resumes the pending job if that has the same inputs, asks for a missing bundle, or starts another job
)

// nextStep decides what an apply does. due reports whether the link is due for renewal then. ModifyPlan and Update
// both call it.
func (e *storedExport) nextStep(wanted wantedExport, due bool) exportStep {
	needsLink := due || !e.linked()
	switch {
	case e.differs(wanted), e.JobMissing, e.BundleMissing, needsLink && e.failed():
		return stepExport
	case needsLink:
		return stepLink
	}
	return stepNone
}

// differs reports whether the plan wants other content than that of the job. Inputs that are not known yet differ.
func (e *storedExport) differs(wanted wantedExport) bool {
	if e.Imported {
		return e.Domain.ValueString() != wanted.inputs.Domain
	}
	inputs, _ := e.inputs()
	return !wanted.equals(inputs)
}

// resumes reports whether an export resumes the pending job.
func (e *storedExport) resumes(wanted wantedExport) bool {
	return e.Pending != nil && wanted.equals(e.Pending.Inputs)
}

// linkDue reports whether the link is due for renewal at the time now. A link that the service has kept is due only
// when it has expired.
func (e *storedExport) linkDue(now time.Time, wanted wantedExport) bool {
	lead := wanted.renewBefore
	if e.LinkKept {
		lead = 0
	}
	return e.linkWillBeDue(wanted) && !now.Before(e.expiresAt().Add(-lead))
}

// linkWillBeDue reports whether the link will be due at some time. One without a known expiry never is.
func (e *storedExport) linkWillBeDue(wanted wantedExport) bool {
	return !wanted.neverRenew && !e.ExpiresAt.IsNull()
}

func (e *storedExport) linked() bool { return !e.BundleURL.IsNull() }
func (e *storedExport) failed() bool { return e.Status.ValueString() == client.JobFailed }

// completed reports whether the job is known to have completed. A job that has had a link has, regardless of its
// present status.
func (e *storedExport) completed() bool {
	return e.linked() || e.Status.ValueString() == client.JobCompleted
}

// unfinished returns the job if it may still get its first link and its inputs are known, or nil.
func (e *storedExport) unfinished() *unfinishedJob {
	if e.linked() || e.failed() || e.Imported {
		return nil
	}
	inputs, _ := e.inputs()
	return &unfinishedJob{e.JobID.ValueString(), inputs}
}

// wantedExport is what a plan wants of an export.
type wantedExport struct {
	inputs exportInputs
	known  bool // whether all inputs are known
	// renewBefore is how long before its expiry a link is renewed, unless it is never renewed.
	renewBefore time.Duration
	neverRenew  bool
}

// wanted returns what a plan wants.
func (m *exportArguments) wanted() wantedExport {
	inputs, known := m.inputs()
	return wantedExport{inputs: inputs, known: known, renewBefore: durationOf(m.RenewBefore), neverRenew: m.LinkRenewal.ValueString() == renewNever}
}

// equals reports whether the plan wants exactly these inputs.
func (w wantedExport) equals(inputs exportInputs) bool { return w.known && w.inputs == inputs }

// inputs returns the inputs of a plan or a state, and whether all are known.
func (m *exportArguments) inputs() (inputs exportInputs, known bool) {
	known = !m.Domain.IsUnknown() && !m.Triggers.IsUnknown() && !m.AdditionalParameters.IsUnknown()
	triggers := map[string]*string{}
	for name, value := range m.Triggers.Elements() {
		text, _ := value.(types.String)
		known = known && !text.IsUnknown()
		triggers[name] = text.ValueStringPointer()
	}
	canonical, _ := json.Marshal(triggers) // strings, which never fail
	return exportInputs{m.Domain.ValueString(), string(canonical), canonicalParameters(m.AdditionalParameters.ValueString())}, known
}

// expiresAt returns when the link expires; zero if that is not known.
func (m *exportResult) expiresAt() time.Time {
	at, _ := time.Parse(time.RFC3339, m.ExpiresAt.ValueString())
	return at
}

// privateExportKey is the key of privateExport in the private state.
const privateExportKey = "export"

// readStoredExport reads what Terraform has stored. It is an error if the private state cannot be decoded, because a
// job that is named only there would be lost.
func readStoredExport(ctx context.Context, state tfsdk.State, private privateState, diags *diag.Diagnostics) *storedExport {
	e := &storedExport{}
	diags.Append(state.Get(ctx, &e.staticExportModel)...)
	stored, err := readPrivate[privateExport](ctx, private, privateExportKey, diags)
	if err != nil {
		addUnreadablePrivateState(diags, e.JobID.ValueString())
	} else if stored != nil {
		e.privateExport = *stored
	}
	return e
}

// store stores the export as a whole.
func (e *storedExport) store(ctx context.Context, state *tfsdk.State, identity *tfsdk.ResourceIdentity, private privateState, diags *diag.Diagnostics) {
	diags.Append(state.Set(ctx, &e.staticExportModel)...)
	diags.Append(identity.Set(ctx, staticExportIdentity{JobID: e.JobID, Domain: e.Domain})...)
	writePrivate(ctx, private, privateExportKey, e.privateExport, diags)
}
