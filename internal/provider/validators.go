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

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// described is the part of a string validator that is the same for all here.
type described string

func (d described) Description(context.Context) string         { return string(d) }
func (d described) MarkdownDescription(context.Context) string { return string(d) }

// known reports whether a validator has a value to look at.
func known(req validator.StringRequest) bool {
	return !req.ConfigValue.IsNull() && !req.ConfigValue.IsUnknown()
}

type baseURLValidator struct{ described }

func (baseURLValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if known(req) {
		var errorsOnly diag.Diagnostics
		checkBaseURL(req.Path, req.ConfigValue.ValueString(), "The argument", &errorsOnly)
		resp.Diagnostics.Append(errorsOnly.Errors()...)
	}
}

// checkBaseURL says what is wrong with a base URL, which came from the source
// that is named.
func checkBaseURL(at path.Path, value, source string, diags *diag.Diagnostics) {
	if value == "" {
		diags.AddAttributeError(at, "Missing base URL",
			"The provider does not know where the service is. Set base_url in the provider block, or the environment variable "+
				baseURLVariable+", to the address of the API including its version segment, such as https://host.example/v1.")
		return
	}
	u, err := client.ParseBaseURL(value)
	if err != nil {
		diags.AddAttributeError(at, "Invalid base URL", fmt.Sprintf("%s does not hold a usable base URL: %s.", source, err))
		return
	}
	if !client.EndsWithVersion(u) {
		diags.AddAttributeWarning(at, "Base URL without version segment",
			fmt.Sprintf("The paths of the API begin after a version segment such as /v1, but %s does not end with one. If requests fail with 404, add it.", u.Redacted()))
	}
}

type apiKeyValidator struct{ described }

func (apiKeyValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if known(req) {
		var errorsOnly diag.Diagnostics
		checkAPIKey(req.Path, strings.TrimSpace(req.ConfigValue.ValueString()), "The argument", &errorsOnly)
		resp.Diagnostics.Append(errorsOnly.Errors()...)
	}
}

// checkAPIKey says what is wrong with an API key, never showing any of it.
func checkAPIKey(at path.Path, key, source string, diags *diag.Diagnostics) {
	if key == "" {
		diags.AddAttributeError(at, "Missing API key",
			"The provider has no API key. Set api_key in the provider block (from a sensitive variable), or the environment variable "+
				apiKeyVariable+", to an admin API key from the API keys page of the service's dashboard.")
		return
	}
	if err := client.CheckAPIKey(key); err != nil {
		diags.AddAttributeError(at, "Invalid API key",
			fmt.Sprintf("%s does not hold a usable API key: %s. Copy the key again from the service's dashboard, without line breaks or other text.", source, err))
		return
	}
	if !client.HasKeyPrefix(key) {
		diags.AddAttributeWarning(at, "Unusual API key",
			source+" holds a key that does not begin with a prefix and an underscore, as the service's admin API keys do. If requests fail with 401, copy the key again.")
	}
}

type certificatesValidator struct{ described }

func (certificatesValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	if _, err := client.CertPool([]byte(req.ConfigValue.ValueString())); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid certificates",
			"The value must be one or more PEM blocks that begin with -----BEGIN CERTIFICATE-----: "+err.Error()+".")
	}
}

// durationValidator refuses what is no duration, and durations below a minimum.
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
			fmt.Sprintf("%q is no duration. Write one or more numbers, each with a unit (h, m, s or ms), such as 30s, 5m or 1h30m.", value))
	case d < v.least:
		resp.Diagnostics.AddAttributeError(req.Path, "Duration too short",
			fmt.Sprintf("The duration must be at least %s, not %s.", v.least, d))
	}
}

// durationOf returns the duration that a validated argument holds; zero if it
// is not set.
func durationOf(argument types.String) time.Duration {
	d, err := time.ParseDuration(argument.ValueString())
	if err != nil {
		return 0
	}
	return d
}

// idValidator refuses ids that no object can have. Anything else is the
// service's to judge: the form of its ids is not documented.
type idValidator struct{ described }

func (idValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if known(req) && strings.TrimSpace(req.ConfigValue.ValueString()) == "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Missing id",
			"The value is empty. Set it to the id that the service returned.")
	}
}

// pathValidator refuses paths that can name no file.
type pathValidator struct{ described }

func (pathValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	switch value := req.ConfigValue.ValueString(); {
	case strings.TrimSpace(value) == "":
		resp.Diagnostics.AddAttributeError(req.Path, "Missing path", "The path is empty.")
	case strings.ContainsRune(value, 0):
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid path", "The path has a NUL character in it.")
	}
}

type domainValidator struct{ described }

func (domainValidator) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !known(req) {
		return
	}
	if problem := domainProblem(req.ConfigValue.ValueString()); problem != "" {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid domain",
			problem+" Give the domain alone, such as docs.example.com.")
	}
}

// domainProblem says why a value cannot be a domain, or nothing. What else the
// service asks of a domain is not documented, and left to it.
func domainProblem(domain string) string {
	switch {
	case strings.TrimSpace(domain) == "":
		return "The domain is empty."
	case strings.Contains(domain, "://"):
		return fmt.Sprintf("The domain %q has a scheme.", domain)
	case strings.IndexFunc(domain, unicode.IsSpace) >= 0:
		return fmt.Sprintf("The domain %q has white space in it.", domain)
	case strings.IndexFunc(domain, unicode.IsControl) >= 0:
		return fmt.Sprintf("The domain %q has a control character in it.", domain)
	case strings.ContainsRune(domain, ','):
		return fmt.Sprintf("The domain %q has a comma.", domain)
	case strings.ContainsAny(domain, "/?#\\"):
		return fmt.Sprintf("The domain %q has a path, a query or a fragment.", domain)
	case strings.Contains(domain, "@"):
		return "The domain has an \"@\", which is part of a user name or an address."
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
	parameters, err := parseParameters(req.ConfigValue.ValueString())
	if err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid additional parameters",
			"The value must be one JSON object, as jsonencode({ ... }) writes it: "+err.Error()+".")
		return
	}
	if _, found := parameters["domain"]; found {
		resp.Diagnostics.AddAttributeError(req.Path, "Domain given twice",
			"The object has a member \"domain\". Remove it and use the argument domain.")
	}
}

// parseParameters reads additional_parameters; an empty value means none.
func parseParameters(text string) (map[string]json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	var parameters map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &parameters); err != nil {
		return nil, fmt.Errorf("it could not be read as an object (%w)", err)
	}
	if parameters == nil {
		return nil, fmt.Errorf("it is null")
	}
	return parameters, nil
}
