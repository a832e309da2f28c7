package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// stringRule validates string values that are known. The error of check is an
// [invalidValue].
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

// checkDomain rejects what is more than a domain. The service validates the rest. The
// error does not repeat the value, which may be a URL with credentials.
func checkDomain(domain string) error {
	if client.CheckName(domain) == nil && !strings.ContainsAny(domain, " :/?#@,*\\") {
		return nil
	}
	return invalidValue("The value is not a domain. Write only the domain, such as docs.example.com.")
}
