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

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// stringRule validates string values that are known. problem returns what is wrong with a
// value, or "" if the value is valid.
type stringRule struct {
	summary, description string
	problem              func(value string) string
}

func (r stringRule) Description(context.Context) string         { return r.description }
func (r stringRule) MarkdownDescription(context.Context) string { return r.description }

func (r stringRule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if problem := r.problem(req.ConfigValue.ValueString()); problem != "" {
		resp.Diagnostics.AddAttributeError(req.Path, r.summary, problem)
	}
}

// rules returns the Validators of an attribute with one rule.
func rules(summary, description string, problem func(string) string) []validator.String {
	return []validator.String{stringRule{summary, description, problem}}
}

var (
	baseURLRules = rules(summaryInvalidArgument, "an absolute URL", func(value string) string {
		_, err := client.ParseBaseURL(value)
		return configProblem("base_url", err)
	})
	apiKeyRules = rules(summaryInvalidArgument, "an API key", func(value string) string {
		_, err := client.ParseAPIKey(value)
		return configProblem("api_key", err)
	})
	certificateRules = rules(summaryInvalidArgument, "PEM certificates", func(value string) string {
		return configProblem("ca_cert_pem", client.CheckCertificates([]byte(value)))
	})
	idRules         = rules(summaryInvalidID, "an ID", idProblem)
	domainRules     = rules(summaryInvalidDomain, "a domain without a scheme, port, or path", domainProblem)
	pathRules       = rules(summaryInvalidPath, "a path", pathProblem)
	parametersRules = rules(summaryInvalidParameters, "a JSON object without a field \"domain\"", func(value string) string {
		_, problem := parseParameters(value)
		return problem
	})
	anyDuration      = durationAtLeast(0)
	timeoutRules     = durationAtLeast(time.Millisecond)
	atLeastOneSecond = durationAtLeast(time.Second)
)

// configProblem describes why the client rejects a setting. It shows no part of an API
// key.
func configProblem(setting string, err error) string {
	switch {
	case err == nil:
		return ""
	case setting == "base_url":
		return "The base URL cannot be used: " + err.Error() + "."
	case setting == "api_key":
		return "The API key cannot be used: " + err.Error() + ". Copy it again from the service's dashboard."
	}
	return "The value must be one or more PEM blocks that begin with -----BEGIN CERTIFICATE-----. To read them from a file, use file(\"...\")."
}

// durationAtLeast accepts durations that are not shorter than a minimum.
func durationAtLeast(least time.Duration) []validator.String {
	return rules(summaryInvalidDuration, fmt.Sprintf("a duration of at least %s", least), func(value string) string {
		switch d, err := time.ParseDuration(value); {
		case err != nil:
			return fmt.Sprintf("%q is not a valid duration. Write numbers with units (h, m, s, or ms), such as 30s, 5m, or 1h30m.", value)
		case d < least:
			return fmt.Sprintf("The duration must be at least %s, not %s.", least, d)
		}
		return ""
	})
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// idProblem accepts IDs of any form, because the contract does not define one.
func idProblem(id string) string {
	switch {
	case strings.TrimSpace(id) == "":
		return "The ID is empty. Use the ID that the service returned."
	case utf8.RuneCountInString(id) > client.MaxNameLength:
		return fmt.Sprintf("The ID is longer than %d characters. Use the ID that the service returned.", client.MaxNameLength)
	case strings.ContainsFunc(id, unprintable):
		return "The ID contains an unprintable character. Use the ID that the service returned."
	}
	return ""
}

func pathProblem(value string) string {
	switch {
	case strings.TrimSpace(value) == "":
		return "The path is empty."
	case strings.ContainsRune(value, 0):
		return "The path contains a NUL character."
	case strings.HasPrefix(value, "~/"):
		return "Terraform does not expand \"~\". Use pathexpand(\"~/...\")."
	}
	return ""
}

// domainProblem rejects what is more than a domain. The service validates the rest.
func domainProblem(domain string) string {
	if domain != "" && !strings.ContainsAny(domain, " :/?#@,*\\") && !strings.ContainsFunc(domain, unprintable) {
		return ""
	}
	return fmt.Sprintf("%q is not a domain. Write only the domain, such as docs.example.com, without a scheme, port, path, wildcard, or whitespace.", domain)
}

// parseParameters parses additional_parameters, or returns what is wrong with it. An
// empty value means no parameters.
func parseParameters(text string) (parameters map[string]any, problem string) {
	if text == "" {
		return map[string]any{}, ""
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // does not round large numbers
	// A decoder alone accepts text after the object.
	if err := decoder.Decode(&parameters); err != nil || parameters == nil || !json.Valid([]byte(text)) {
		return nil, "The value is not a JSON object. Write it with jsonencode, such as jsonencode({ version = \"v1\" })."
	}
	if _, found := parameters["domain"]; found {
		return nil, "The object contains \"domain\". Remove it, and use the domain argument."
	}
	return parameters, ""
}
