// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// exportLife is what Terraform stores about an export: its computed attributes, and in the
// private state what no attribute shows. All of it is read and written together, and only
// the methods in this file change it, each for one event.
type exportLife struct {
	JobID string `json:"-"`
	// Status is "" if the service has not returned one.
	Status string `json:"-"`
	// PageCount is nil if the service has not returned it.
	PageCount *int64 `json:"-"`
	// Inputs are those in the state, which the job was started with unless it is Imported.
	Inputs exportInputs `json:"-"`
	// Imported is set from an import to the first update after it, which adopts the
	// configured inputs without a new job.
	Imported bool       `json:"imported,omitempty"`
	Link     exportLink `json:"link"`
	// Pending is a job that was started for other inputs, and that has no link yet. It is
	// kept until it has one, fails, or is replaced by a newer job.
	Pending *pendingJob `json:"pending,omitempty"`
	Missing missing     `json:"missing,omitzero"`
}

// exportInputs are the arguments that determine what a job exports.
type exportInputs struct {
	Domain   string             `json:"domain"`
	Triggers map[string]*string `json:"triggers,omitempty"`
	// Parameters is a JSON object without insignificant whitespace, with sorted fields.
	Parameters string `json:"parameters"`
}

// exportLink is a presigned link. Its URL is "" if there is none.
type exportLink struct {
	URL string `json:"-"`
	// ExpiresAt is zero if it is not known.
	ExpiresAt time.Time `json:"-"`
	// SizeBytes is nil if the service has not returned it.
	SizeBytes *int64 `json:"-"`
	// ReceivedAt is zero if it is not known.
	ReceivedAt time.Time `json:"received_at,omitzero"`
	// Kept means that the service returned the same link when the provider requested a new
	// one early: it returns a new link only after the old one has expired.
	Kept bool `json:"kept,omitempty"`
}

// pendingJob is a job that an apply with the same inputs resumes.
type pendingJob struct {
	JobID   string       `json:"job_id"`
	Inputs  exportInputs `json:"inputs"`
	Missing missing      `json:"missing,omitzero"`
}

// missing says what the service could not find of a job when it was last asked. The next
// apply that needs it asks again before it starts another job.
type missing struct {
	Job    bool `json:"job,omitempty"`
	Bundle bool `json:"bundle,omitempty"`
}

// notFound records a 404 or 410. It reports whether the same was missing before.
func (m *missing) notFound(what missing) (again bool) {
	again = what.Job && m.Job || what.Bundle && m.Bundle
	m.Job, m.Bundle = m.Job || what.Job, m.Bundle || what.Bundle
	return again
}

// lifeKey is the key of exportLife in the private state.
const lifeKey = "export"

// readLife returns what the state and the private state hold.
func readLife(ctx context.Context, state *staticExportModel, private privateState, diags *diag.Diagnostics) *exportLife {
	life, err := readPrivate[exportLife](ctx, private, lifeKey, diags)
	if err != nil {
		diags.AddWarning(summaryUnreadableNotes,
			"Another version of the provider wrote it, or it is damaged. The provider ignores it. An interrupted job, if any, is not resumed.")
	}
	life.JobID, life.Status = state.JobID.ValueString(), state.Status.ValueString()
	life.PageCount = state.PageCount.ValueInt64Pointer()
	life.Inputs = state.goal().inputs
	life.Imported = life.Imported || state.Domain.IsNull()
	life.Link.URL = state.BundleURL.ValueString()
	life.Link.ExpiresAt, _ = time.Parse(time.RFC3339, state.ExpiresAt.ValueString()) // zero if it is null
	life.Link.SizeBytes = state.BundleSizeBytes.ValueInt64Pointer()
	return &life
}

// write stores the life with the arguments of the model.
func (l *exportLife) write(ctx context.Context, arguments staticExportModel, state *tfsdk.State, identity *tfsdk.ResourceIdentity, private privateState, diags *diag.Diagnostics) {
	model := arguments
	model.JobID, model.Status = types.StringValue(l.JobID), nullIfEmpty(l.Status)
	model.PageCount = types.Int64PointerValue(l.PageCount)
	model.BundleURL, model.ExpiresAt = nullIfEmpty(l.Link.URL), expiry(l.Link.ExpiresAt)
	model.BundleSizeBytes = types.Int64PointerValue(l.Link.SizeBytes)
	diags.Append(state.Set(ctx, &model)...)
	diags.Append(identity.Set(ctx, staticExportIdentity{JobID: model.JobID, Domain: model.Domain})...)
	writePrivate(ctx, private, lifeKey, l, diags)
}

// imported returns the life of a job that was just imported.
func imported(job *client.StaticExportJob) *exportLife {
	life := &exportLife{JobID: job.ID, Imported: true}
	life.jobRead(job)
	return life
}

// started records a job that the service has started: the first one, or a pending one.
func (l *exportLife) started(job *client.StaticExportJob, inputs exportInputs) {
	if l.JobID == "" {
		l.JobID = job.ID
		l.jobRead(job)
		return
	}
	l.Pending = &pendingJob{JobID: job.ID, Inputs: inputs}
}

// jobRead records what the service returned about the job; nil if the job was not read. It
// keeps what the service omits. The bundle of a job that was read may still be missing.
func (l *exportLife) jobRead(job *client.StaticExportJob) {
	if job == nil {
		return
	}
	l.Missing.Job = false
	if job.Status != "" {
		l.Status = job.Status
	}
	if job.PageCount != nil {
		l.PageCount = job.PageCount
	}
}

// linkCreated records a link to the bundle of the job.
func (l *exportLife) linkCreated(bundle *client.Bundle, now time.Time) {
	link := exportLink{URL: bundle.URL, ExpiresAt: bundle.ExpiresAt.Truncate(time.Second), SizeBytes: bundle.SizeBytes, ReceivedAt: now}
	if !link.ExpiresAt.IsZero() && link.ExpiresAt.Equal(l.Link.ExpiresAt) {
		link.Kept, link.ReceivedAt = true, l.Link.ReceivedAt
	}
	l.Link, l.Missing = link, missing{}
}

// pendingRead records that the pending job was read; job is nil if it was not.
func (l *exportLife) pendingRead(job *client.StaticExportJob) {
	if job != nil {
		l.Pending.Missing.Job = false
	}
}

// pendingCompleted makes the pending job the job.
func (l *exportLife) pendingCompleted(job *client.StaticExportJob, bundle *client.Bundle, now time.Time) {
	*l = exportLife{JobID: l.Pending.JobID}
	l.jobRead(job)
	l.linkCreated(bundle, now)
}

// pendingFailed forgets the pending job.
func (l *exportLife) pendingFailed() { l.Pending = nil }

// updated records that the plan's inputs are now those of the job.
func (l *exportLife) updated() { l.Imported = false }

// exportGoal is what a plan asks for.
type exportGoal struct {
	inputs exportInputs
	known  bool // all inputs are
	// renewBefore is how long before its expiry a link is renewed; never is set if it is
	// not renewed at all.
	renewBefore time.Duration
	never       bool
}

// exportStep is what an apply does for an existing export.
type exportStep string

const (
	// stepNone only records changed arguments.
	stepNone exportStep = "none"
	// stepLink creates a link, after waiting for the job if it still runs.
	stepLink exportStep = "link"
	// stepExport exports the site, or resumes the pending job. If it is planned only
	// because something is missing, the apply asks for that first.
	stepExport exportStep = "export"
)

// nextStep decides what an apply does at the time now. ModifyPlan and Update both call it.
func (l *exportLife) nextStep(now time.Time, goal exportGoal) exportStep {
	needsLink := l.Link.URL == "" || l.linkIsDue(now, goal)
	switch {
	case l.differs(goal), l.Missing.Job, needsLink && (l.Missing.Bundle || l.Status == client.JobFailed):
		return stepExport
	case needsLink:
		return stepLink
	}
	return stepNone
}

func (l *exportLife) isMissing() bool { return l.Missing != missing{} }

// differs reports whether the plan asks for other content than the job has. Inputs that
// are not known yet differ. An imported job has what the plan asks for.
func (l *exportLife) differs(goal exportGoal) bool {
	return !l.Imported && (!goal.known || !reflect.DeepEqual(goal.inputs, l.Inputs))
}

// adopts reports whether an update of an imported job records inputs that the state does
// not have.
func (l *exportLife) adopts(goal exportGoal) bool {
	recorded := l.Inputs
	recorded.Domain = goal.inputs.Domain // which the import may have left out
	return l.Imported && (!goal.known || !reflect.DeepEqual(goal.inputs, recorded))
}

// resumes reports whether an apply resumes the pending job.
func (l *exportLife) resumes(goal exportGoal) bool {
	return l.Pending != nil && goal.known && reflect.DeepEqual(goal.inputs, l.Pending.Inputs)
}

func (l *exportLife) linkIsDue(now time.Time, goal exportGoal) bool {
	return !goal.never && l.Link.due(now, goal.renewBefore)
}

// due reports whether the link must be renewed at the time now: renewBefore ahead of its
// expiry. A link without a known expiry is never due.
func (l exportLink) due(now time.Time, renewBefore time.Duration) bool {
	lead, _ := l.lead(renewBefore)
	return !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt.Add(-lead))
}

// lead returns how long before its expiry the link is renewed. It is zero if the service
// keeps the link, because an earlier request returns the same link. If renewBefore is not
// shorter than the link's lifetime, every new link would be due at once, so the lead is
// clamped to half the lifetime.
func (l exportLink) lead(renewBefore time.Duration) (lead time.Duration, clamped bool) {
	lifetime := l.ExpiresAt.Sub(l.ReceivedAt)
	switch {
	case l.Kept:
		return 0, false
	case !l.ReceivedAt.IsZero() && renewBefore >= lifetime:
		return max(0, lifetime/2), true
	}
	return renewBefore, false
}

// goal returns what the plan asks for.
func (m *staticExportModel) goal() exportGoal {
	inputs := exportInputs{Domain: m.Domain.ValueString(), Parameters: canonicalParameters(m.AdditionalParameters)}
	known := !m.Domain.IsUnknown() && !m.Triggers.IsUnknown() && !m.AdditionalParameters.IsUnknown()
	for name, value := range m.Triggers.Elements() {
		text, _ := value.(types.String)
		known = known && !text.IsUnknown()
		if inputs.Triggers == nil {
			inputs.Triggers = map[string]*string{}
		}
		inputs.Triggers[name] = text.ValueStringPointer()
	}
	return exportGoal{inputs, known, durationOf(m.RenewBefore), m.LinkRenewal.ValueString() == renewNever}
}

// canonicalParameters returns additional_parameters with sorted fields and without
// insignificant whitespace. The value must be valid: Terraform also validates values that
// the plan did not know.
func canonicalParameters(argument types.String) string {
	parameters, _ := parseParameters(argument.ValueString())
	text, _ := json.Marshal(parameters) // of decoded JSON, which never fails
	return string(text)
}
