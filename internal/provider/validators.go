// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
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
	baseURLRules     = rules(summaryInvalidArgument, "an absolute URL", baseURLProblem)
	apiKeyRules      = rules(summaryInvalidArgument, "an API key", apiKeyProblem)
	certificateRules = rules(summaryInvalidArgument, "PEM certificates", certificateProblem)
	idRules          = rules(summaryInvalidID, "an ID", idProblem)
	domainRules      = rules(summaryInvalidDomain, "a domain without scheme, port, or path", domainProblem)
	pathRules        = rules(summaryInvalidPath, "a path", pathProblem)
	parametersRules  = rules(summaryInvalidParameters, "a JSON object without a field \"domain\"", func(value string) string { _, problem := parseParameters(value); return problem })
	anyDuration      = durationAtLeast(0)
	timeoutRules     = durationAtLeast(time.Millisecond)
	atLeastOneSecond = durationAtLeast(time.Second)
)

func baseURLProblem(value string) string {
	if value == "" {
		return "base_url is empty. Remove it to use " + baseURLVariable + ", or set it."
	}
	if _, err := client.ParseBaseURL(value); err != nil {
		return "The base URL cannot be used: " + err.Error() + "."
	}
	return ""
}

// apiKeyProblem shows no part of the key.
func apiKeyProblem(value string) string {
	if value == "" {
		return "api_key is empty. Remove it to use " + apiKeyVariable + ", or set it."
	}
	if _, err := client.ParseAPIKey(value); err != nil {
		return "The API key cannot be used: " + err.Error() + ". Copy it again from the service's dashboard."
	}
	return ""
}

func certificateProblem(value string) string {
	if client.CheckCertificates([]byte(value)) == nil {
		return ""
	}
	problem := "The value must be one or more PEM blocks that begin with -----BEGIN CERTIFICATE-----."
	if !strings.Contains(value, "\n") {
		problem += " To read them from a file, use file(\"...\")."
	}
	return problem
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
