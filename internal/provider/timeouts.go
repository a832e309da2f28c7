// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"time"

	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const (
	defaultExportTimeout   = "60m"
	defaultDownloadTimeout = "60m"
	defaultWaitTimeout     = "60m" // for the end of an update
	defaultReadTimeout     = "5m"
)

// noTimeoutField limits an operation that no field of a timeouts argument limits.
const noTimeoutField = ""

// Descriptions that several objects share.
const (
	timeoutsDescription     = "Timeouts for operations."
	pollIntervalDescription = "Time between status checks. At least `1s`. By default, the provider adjusts it between 1 and 15 seconds. The service can ask for longer pauses."
)

// withTimeout limits an operation by a field of its timeouts argument. The
// context that Terraform passes has no deadline.
func (d *providerData) withTimeout(ctx context.Context, timeouts types.Object, field, byDefault string) (context.Context, context.CancelFunc) {
	if after, ok := timeouts.Attributes()[field].(types.String); ok && !after.IsNull() {
		byDefault = after.ValueString()
	}
	return d.limit(ctx, byDefault, field)
}

// limit limits an operation by a duration, which the field configures.
func (d *providerData) limit(ctx context.Context, after, field string) (context.Context, context.CancelFunc) {
	return d.clock.WithTimeout(ctx, durationOf(types.StringValue(after)), &timeoutError{after, field})
}

// timeoutError is the cause of a context that ended because of a timeout.
type timeoutError struct {
	after string // as configured
	field string // of the timeouts argument, or noTimeoutField
}

func (e *timeoutError) Error() string {
	text := "the operation did not finish within " + e.after
	if e.field != noTimeoutField {
		text += " (timeouts." + e.field + ")"
	}
	return text
}

// advice says how to allow the operation more time.
func (e *timeoutError) advice() string {
	if e.field == noTimeoutField {
		return "Try again later."
	}
	return "If the operation normally takes longer, increase timeouts." + e.field + "."
}

// resourceTimeouts returns the timeouts argument of a resource, with a description of
// each field.
func resourceTimeouts(fields map[string]string) rschema.SingleNestedAttribute {
	attributes := map[string]rschema.Attribute{}
	for name, description := range fields {
		attributes[name] = rschema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: timeoutRules}
	}
	return rschema.SingleNestedAttribute{MarkdownDescription: timeoutsDescription, Optional: true, Attributes: attributes}
}

// dataSourceTimeouts returns the timeouts argument of a data source.
func dataSourceTimeouts(read string) dsschema.SingleNestedAttribute {
	return dsschema.SingleNestedAttribute{MarkdownDescription: timeoutsDescription, Optional: true, Attributes: map[string]dsschema.Attribute{
		"read": dsschema.StringAttribute{MarkdownDescription: read, Optional: true, Validators: timeoutRules},
	}}
}

// durationOf returns the duration in a validated argument; zero if it is not set.
func durationOf(argument types.String) time.Duration {
	d, _ := time.ParseDuration(argument.ValueString())
	return d
}
