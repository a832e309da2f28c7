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
	defaultExportTimeout   = 60 * time.Minute
	defaultDownloadTimeout = 60 * time.Minute
	defaultWaitTimeout     = 60 * time.Minute // for the end of an update
	defaultReadTimeout     = 5 * time.Minute
)

// Descriptions that several objects share.
const (
	timeoutsDescription     = "Timeouts for operations."
	pollIntervalDescription = "Time between status checks. At least `1s`. By default, the provider adjusts it between 1 and 15 seconds."
)

// withTimeout limits an operation by a field of its timeouts argument. The
// context that Terraform passes has no deadline.
func (d *providerData) withTimeout(ctx context.Context, timeouts types.Object, field string, byDefault time.Duration) (context.Context, context.CancelFunc) {
	after := byDefault
	if value, ok := timeouts.Attributes()[field].(types.String); ok && !value.IsNull() {
		after = durationOf(value)
	}
	return d.clock.WithTimeout(ctx, after, &timeoutError{after, field})
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
