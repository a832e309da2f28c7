// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// notesKey is the key of the private state that holds an export's notes.
const notesKey = "export"

// exportNotes is what has to be remembered about an export beside its
// attributes. All times are by the service's clock.
type exportNotes struct {
	// LinkMadeAt is when the present link was received.
	LinkMadeAt time.Time `json:"link_made_at,omitzero"`
	// LinkKept is the expiry of a link that the service handed out again when it
	// was asked for another one early.
	LinkKept string `json:"link_kept,omitempty"`
	// Skew is how far the service's clock was ahead of the local one.
	Skew time.Duration `json:"skew,omitempty"`
	// Imported is set until the first update after an import.
	Imported bool `json:"imported,omitempty"`
	// Pending is a job for new content that was started but whose bundle is not
	// there yet.
	Pending *pendingJob `json:"pending,omitempty"`
	// Lost is set once it is seen that the state's job will give no bundle any more.
	Lost bool `json:"lost,omitempty"`
}

// pendingJob is a job that the next apply goes on with, if it is still asked
// for the same.
type pendingJob struct {
	JobID  string `json:"job_id"`
	Inputs string `json:"inputs"`
}

type privateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateWriter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readNotes returns the notes of an export; there may be none yet.
func readNotes(ctx context.Context, private privateReader, diags *diag.Diagnostics) *exportNotes {
	notes := &exportNotes{}
	value, more := private.GetKey(ctx, notesKey)
	diags.Append(more...)
	if len(value) == 0 {
		return notes
	}
	if err := json.Unmarshal(value, notes); err != nil {
		diags.AddWarning("Private state of the export is unreadable",
			"It was written by another version of the provider, or damaged, and is ignored. An export of new content that was cut off is not resumed, but started anew.")
		return &exportNotes{}
	}
	return notes
}

func (n *exportNotes) write(ctx context.Context, private privateWriter, diags *diag.Diagnostics) {
	value, err := json.Marshal(n)
	if err != nil {
		diags.AddError("Could not write the private state of the export", err.Error())
		return
	}
	diags.Append(private.SetKey(ctx, notesKey, value)...)
}

// linkAge is what is known of the state's link.
func (n *exportNotes) linkAge(state *staticExportModel) linkAge {
	age := linkAge{MadeAt: n.LinkMadeAt}
	if expiresAt, err := time.Parse(time.RFC3339, state.ExpiresAt.ValueString()); err == nil {
		age.ExpiresAt = expiresAt
	}
	age.Kept = n.LinkKept != "" && n.LinkKept == state.ExpiresAt.ValueString()
	return age
}

// linkIsDue reports whether the state's link has to be made anew, by what the
// plan says of renewal.
func (n *exportNotes) linkIsDue(now time.Time, plan, state *staticExportModel) bool {
	renewBefore := durationOf(plan.RenewBefore)
	return state.hasLink() && linkDue(now, n.linkAge(state), renewBefore, plan.LinkRenewal.ValueString())
}

// exportInputs are what the content of an export follows from.
type exportInputs struct {
	domain     string
	triggers   map[string]string
	parameters string
}

func inputsOf(m *staticExportModel) exportInputs {
	inputs := exportInputs{domain: m.Domain.ValueString(), triggers: map[string]string{}}
	for name, value := range m.Triggers.Elements() {
		inputs.triggers[name] = value.String()
	}
	inputs.parameters = canonicalJSON(m.AdditionalParameters.ValueString())
	return inputs
}

// fingerprint tells equal inputs without holding them.
func (i exportInputs) fingerprint() string {
	text, err := json.Marshal([]any{i.domain, i.triggers, i.parameters})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonicalJSON writes JSON without regard to spacing and order of members.
// No parameters and an empty object are the same.
func canonicalJSON(text string) string {
	if text == "" {
		return "{}"
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // a large number is not rounded
	var value any
	if decoder.Decode(&value) != nil {
		return text
	}
	canonical, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(canonical)
}
