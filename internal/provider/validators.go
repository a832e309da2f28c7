// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// described is the description that all validators and plan modifiers here share.
type described string

func (d described) Description(context.Context) string         { return string(d) }
func (d described) MarkdownDescription(context.Context) string { return string(d) }

// known reports whether a validator has a value to check.
func known(req validator.StringRequest) bool {
	return !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown()
}

type baseURLValidator struct{ described }

func (baseURLValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if known(req) {
		var all diag.Diagnostics
		checkBaseURL(req.Path, req.ConfigValue.ValueString(), "The argument", &all)
		resp.Diagnostics.Append(all.Errors()...) // Configure adds the warnings, once
	}
}

// checkBaseURL reports what is wrong with a base URL from the source that is named.
func checkBaseURL(at path.Path, value, source string, diags *diag.Diagnostics) {
	if value == "" {
		diags.AddAttributeError(at, "Missing base URL",
			"Set base_url in the provider block, or the environment variable "+baseURLVariable+
				", to the address of the API with its version segment, such as https://host.example/v1.")
		return
	}
	u, err := client.ParseBaseURL(value)
	if err != nil {
		diags.AddAttributeError(at, "Invalid base URL", fmt.Sprintf("%s is not a usable base URL: %s.", source, err))
		return
	}
	if !client.EndsWithVersion(u) {
		diags.AddAttributeWarning(at, "Base URL without version segment",
			fmt.Sprintf("%s does not end with a version segment such as /v1. If requests fail with 404, add it.", u.Redacted()))
	}
}

type apiKeyValidator struct{ described }

func (apiKeyValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if known(req) {
		var all diag.Diagnostics
		checkAPIKey(req.Path, strings.TrimSpace(req.ConfigValue.ValueString()), "The argument", &all)
		resp.Diagnostics.Append(all.Errors()...)
	}
}

// checkAPIKey reports what is wrong with an API key, without showing any of it.
func checkAPIKey(at path.Path, key, source string, diags *diag.Diagnostics) {
	if key == "" {
		diags.AddAttributeError(at, "Missing API key",
			"Set api_key in the provider block, or the environment variable "+apiKeyVariable+
				", to an admin API key from the API keys page of the service's dashboard.")
		return
	}
	if err := client.CheckAPIKey(key); err != nil {
		diags.AddAttributeError(at, "Invalid API key", fmt.Sprintf("%s is not a usable API key: %s.\n\nCopy the key again from the service's dashboard.", source, err))
		return
	}
	if !client.HasKeyPrefix(key) {
		diags.AddAttributeWarning(at, "Unusual API key",
			source+" does not begin with a prefix and an underscore, as the service's admin API keys do. If requests fail with 401, copy the key again.")
	}
}

type certificatesValidator struct{ described }

func (certificatesValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	value := req.ConfigValue.ValueString()
	if client.CheckCertificates([]byte(value)) == nil {
		return
	}
	problem := "The value must be one or more PEM blocks that begin with -----BEGIN CERTIFICATE-----."
	if !strings.Contains(value, "-----BEGIN") && !strings.Contains(value, "\n") {
		problem += " If it is the path of a file, give the file's content with file(\"...\")."
	}
	resp.Diagnostics.AddAttributeError(req.Path, "Invalid certificates", problem)
}

// durationValidator rejects what is not a duration, and durations below a minimum.
type durationValidator struct {
	described
	least time.Duration
}

func durationAtLeast(least time.Duration) validator.String {
	return durationValidator{described(fmt.Sprintf("a duration of at least %s", least)), least}
}

func (v durationValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	value := req.ConfigValue.ValueString()
	switch d, err := time.ParseDuration(value); {
	case err != nil:
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid duration",
			fmt.Sprintf("%q is not a valid duration. Write numbers with units (h, m, s or ms), such as 30s, 5m or 1h30m.", value))
	case d < v.least:
		resp.Diagnostics.AddAttributeError(req.Path, "Duration too short", fmt.Sprintf("The duration must be at least %s, not %s.", v.least, d))
	}
}

// durationOf returns the duration in a validated argument; zero if it is not set.
func durationOf(argument types.String) time.Duration {
	d, err := time.ParseDuration(argument.ValueString())
	if err != nil {
		return 0
	}
	return d
}

// idValidator rejects IDs that no object can have. The contract leaves the form of
// IDs open.
type idValidator struct{ described }

func (idValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	if problem := idProblem(req.ConfigValue.ValueString()); problem != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid ID", problem+" Use the ID that the service returned.")
	}
}

// idProblem says why a value cannot be an ID; empty if it can.
func idProblem(id string) string {
	switch {
	case strings.TrimSpace(id) == "":
		return "The ID is empty."
	case utf8.RuneCountInString(id) > client.MaxNameLength:
		return fmt.Sprintf("The ID is longer than %d characters.", client.MaxNameLength)
	case strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "The ID contains a character that cannot be printed."
	}
	return ""
}

// pathValidator rejects paths that cannot name a file.
type pathValidator struct{ described }

func (pathValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	switch value := req.ConfigValue.ValueString(); {
	case strings.TrimSpace(value) == "":
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid path", "The path is empty.")
	case strings.ContainsRune(value, 0):
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid path", "The path contains a NUL character.")
	}
}

type domainValidator struct{ described }

func (domainValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	if problem := domainProblem(req.ConfigValue.ValueString()); problem != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid domain", problem+" Write the domain alone, such as docs.example.com.")
	}
}

// domainProblem says why a value cannot be the domain of a site; empty if it can.
// The service decides about everything else.
func domainProblem(domain string) string {
	switch {
	case strings.TrimSpace(domain) == "":
		return "The domain is empty."
	case strings.Contains(domain, "://"):
		return fmt.Sprintf("The domain %q has a scheme.", domain)
	case strings.ContainsFunc(domain, unicode.IsSpace):
		return fmt.Sprintf("The domain %q contains white space.", domain)
	case strings.ContainsFunc(domain, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "The domain contains a character that cannot be printed."
	case strings.ContainsAny(domain, "/?#\\"):
		return fmt.Sprintf("The domain %q has a path, a query or a fragment.", domain)
	case strings.Contains(domain, "@"):
		return "The domain contains an \"@\", which belongs to a user name or an email address."
	case strings.Contains(domain, ","):
		return fmt.Sprintf("The domain %q contains a comma.", domain)
	case strings.Contains(domain, ":"):
		return fmt.Sprintf("The domain %q has a port.", domain)
	case strings.Contains(domain, "*"):
		return fmt.Sprintf("The domain %q has a wildcard; an export is of one site.", domain)
	}
	return ""
}

// parametersValidator accepts one JSON object without the member that has an
// argument of its own.
type parametersValidator struct{ described }

func (parametersValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	if _, problem := parseParameters(req.ConfigValue.ValueString()); problem != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid additional parameters", problem)
	}
}

// parseParameters reads additional_parameters, or says what is wrong with it. An
// empty value means no parameters.
func parseParameters(text string) (parameters map[string]json.RawMessage, problem string) {
	if text == "" {
		return nil, ""
	}
	if err := json.Unmarshal([]byte(text), &parameters); err != nil || parameters == nil {
		return nil, "The value is not a JSON object. Write it with jsonencode, such as jsonencode({ version = \"v1\" })."
	}
	if _, found := parameters["domain"]; found {
		return nil, "The object has a member \"domain\". Remove it, and use the argument domain."
	}
	return parameters, ""
}

// sameJSONModifier keeps the prior value of an argument whose JSON differs in
// spacing and member order only.
type sameJSONModifier struct{ described }

func (sameJSONModifier) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	if !req.StateValue.IsNull() && !req.PlanValue.IsNull() && !req.PlanValue.IsUnknown() &&
		canonicalJSON(req.PlanValue.ValueString()) == canonicalJSON(req.StateValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
