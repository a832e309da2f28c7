package provider

import (
	"context"
	"fmt"
	"strings"
	"time"

	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// This file checks and reads the arguments that several objects share: IDs, paths, durations, timeouts, and JSON.

// stringRule validates string values that are known. The error of check is an [invalidValue].
type stringRule struct {
	summary, description string
	check                func(value string) error
}

// invalidValue says what is wrong with a value, in sentences for a diagnostic.
type invalidValue string

func (e invalidValue) Error() string { return string(e) }

func (r stringRule) Description(context.Context) string         { return r.description }
func (r stringRule) MarkdownDescription(context.Context) string { return r.description }

func (r stringRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := r.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, r.summary, err.Error())
	}
}

// rules returns the Validators of an attribute with one rule.
func rules(summary, description string, check func(string) error) []validator.String {
	return []validator.String{stringRule{summary, description, check}}
}

var (
	idRules     = rules(summaryInvalidID, "an ID", checkID)
	domainRules = rules(summaryInvalidDomain, "a domain without a scheme, port, or path", checkDomain)
	pathRules   = rules(summaryInvalidPath, "a path", checkPath)
)

// checkID accepts IDs of any form, because the contract does not define one.
func checkID(id string) error {
	if err := client.CheckName(id); err != nil {
		return invalidValue("The ID " + err.Error() + ". Use the ID that the service returned.")
	}
	return nil
}

func checkPath(value string) error {
	switch {
	case strings.TrimSpace(value) == "":
		return invalidValue("The path is empty. Write a relative or absolute path.")
	case strings.ContainsRune(value, 0):
		return invalidValue("The path contains a NUL character. Remove it.")
	case strings.HasPrefix(value, "~/"):
		return invalidValue("Terraform does not expand \"~\". Use pathexpand(\"~/...\").")
	}
	return nil
}

// checkDomain rejects what is more than a domain. The service validates the rest. The error does not repeat the
// value, which may be a URL with credentials.
func checkDomain(domain string) error {
	if client.CheckName(domain) == nil && !strings.ContainsAny(domain, " :/?#@,*\\") {
		return nil
	}
	return invalidValue("The value is not a domain. Write only the domain, such as docs.example.com.")
}

var (
	anyDuration      = durationAtLeast(0)
	timeoutRules     = durationAtLeast(time.Minute) // longer than client.NotFoundLimit, so that "not found" is reported before the timeout
	atLeastOneSecond = durationAtLeast(time.Second)
)

// durationAtLeast accepts durations that are not shorter than a minimum.
func durationAtLeast(least time.Duration) []validator.String {
	return rules(summaryInvalidDuration, "a duration of at least "+shortDuration(least), func(value string) error {
		switch d, err := time.ParseDuration(value); {
		case err != nil:
			return invalidValue(fmt.Sprintf("%q is not a valid duration. Write numbers with units (h, m, s, or ms), such as 30s, 5m, or 1h30m.", value))
		case d < 0:
			return invalidValue("The duration must not be negative.")
		case d < least:
			return invalidValue(fmt.Sprintf("The duration must be at least %s, not %q.", shortDuration(least), value))
		}
		return nil
	})
}

// durationOf returns the duration in a validated argument; zero if it is not set.
func durationOf(argument types.String) time.Duration {
	d, _ := time.ParseDuration(argument.ValueString())
	return d
}

// shortDuration formats a duration without zeros at the end, such as "1h30m".
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

const (
	defaultExportTimeout   = 60 * time.Minute
	defaultDownloadTimeout = 60 * time.Minute
	defaultWaitTimeout     = 60 * time.Minute // for the end of an update
	defaultReadTimeout     = 5 * time.Minute

	timeoutsDescription     = "Durations such as `90m`, of at least `1m`."
	pollIntervalDescription = "Time between status checks, at least `1s`. By default, the provider chooses 1 to 15 seconds."
)

// withTimeout limits an operation by a field of its timeouts block, or by the default if field is "". The context
// that Terraform passes has no deadline.
func (d *providerData) withTimeout(ctx context.Context, timeouts types.Object, field string, byDefault time.Duration) (context.Context, context.CancelFunc) {
	limit := byDefault
	if field != "" {
		if _, declared := timeouts.AttributeTypes(ctx)[field]; !declared {
			panic("the schema has no timeouts." + field) // or the default would apply silently
		}
		if configured, _ := timeouts.Attributes()[field].(types.String); configured.ValueString() != "" {
			limit = durationOf(configured)
		}
	}
	return d.clock.WithTimeout(ctx, limit, &timeoutError{limit, field})
}

// timeoutError is the cause of a context that ended because of a timeout.
type timeoutError struct {
	limit time.Duration
	field string // of the timeouts block; "" if it has none for the operation
}

func (e *timeoutError) Error() string {
	text := "the operation did not finish within " + shortDuration(e.limit)
	if e.field != "" {
		text += " (timeouts." + e.field + ")"
	}
	return text
}

// advice says how to allow the operation more time.
func (e *timeoutError) advice() string {
	if e.field == "" {
		return "Try again later."
	}
	return "If the operation normally takes longer, increase timeouts." + e.field + "."
}

// resourceTimeouts returns the timeouts block of a resource, with a description of each field. Terraform rejects an
// unknown field of a block, but ignores one of an attribute. The blocks of terraform-plugin-framework-timeouts accept
// zero and negative durations.
func resourceTimeouts(fields map[string]string) map[string]rschema.Block {
	attributes := map[string]rschema.Attribute{}
	for name, description := range fields {
		attributes[name] = rschema.StringAttribute{MarkdownDescription: description, Optional: true, Validators: timeoutRules}
	}
	return map[string]rschema.Block{"timeouts": rschema.SingleNestedBlock{MarkdownDescription: timeoutsDescription, Attributes: attributes}}
}

// dataSourceTimeouts returns the timeouts block of a data source.
func dataSourceTimeouts(read string) map[string]dsschema.Block {
	return map[string]dsschema.Block{"timeouts": dsschema.SingleNestedBlock{MarkdownDescription: timeoutsDescription, Attributes: map[string]dsschema.Attribute{
		"read": dsschema.StringAttribute{MarkdownDescription: read, Optional: true, Validators: timeoutRules},
	}}}
}

var parametersRules = rules(summaryInvalidParameters, "a JSON object without a field \"domain\"", checkParameters)

// checkParameters accepts an object whose fields can join the domain in the request that starts an export.
func checkParameters(text string) error {
	value, err := client.DecodeJSON([]byte(text))
	fields, ok := value.(map[string]any)
	if err != nil || !ok {
		return invalidValue("The value is not a JSON object. Write it with jsonencode, such as jsonencode({ version = \"v1\" }).")
	}
	if _, found := fields["domain"]; found {
		return invalidValue("The object contains \"domain\". Remove it, and use the domain argument.")
	}
	return nil
}
