package provider

import (
	"cmp"
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

	timeoutsDescription     = "Durations such as `90m`, of at least `1m`."
	pollIntervalDescription = "Time between status checks, at least `1s`. Default: adaptive, `1s` to `15s`."
)

// withTimeout limits an operation by a field of its timeouts block, or by the default if field is "". The context
// that Terraform passes has no deadline.
func (d *providerData) withTimeout(
	ctx context.Context, timeouts types.Object, field string, byDefault time.Duration,
) (context.Context, context.CancelFunc) {
	configured, _ := timeouts.Attributes()[field].(types.String)
	limit := cmp.Or(durationOf(configured), byDefault)
	return d.clock.WithTimeout(ctx, limit, &timeoutError{limit, field})
}

// resourceTimeouts returns the timeouts block of a resource, with a description of each field. Terraform rejects an
// unknown field of a block, but ignores one of an attribute. The blocks of terraform-plugin-framework-timeouts accept
// zero and negative durations.
func resourceTimeouts(fields map[string]string) map[string]rschema.Block {
	attributes := map[string]rschema.Attribute{}
	for name, description := range fields {
		attributes[name] = rschema.StringAttribute{
			MarkdownDescription: description,
			Optional:            true,
			Validators:          timeoutRules,
		}
	}
	return map[string]rschema.Block{"timeouts": rschema.SingleNestedBlock{
		MarkdownDescription: timeoutsDescription,
		Attributes:          attributes,
	}}
}

// dataSourceTimeouts returns the timeouts block of a data source.
func dataSourceTimeouts(read string) map[string]dsschema.Block {
	return map[string]dsschema.Block{"timeouts": dsschema.SingleNestedBlock{
		MarkdownDescription: timeoutsDescription,
		Attributes: map[string]dsschema.Attribute{
			"read": dsschema.StringAttribute{MarkdownDescription: read, Optional: true, Validators: timeoutRules},
		},
	}}
}
