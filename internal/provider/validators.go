package provider

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// This file checks the arguments that several objects share: IDs, paths, and durations.

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
	case strings.HasPrefix(value, "~/"):
		return invalidValue("Terraform does not expand \"~\". Use pathexpand(\"~/...\").")
	}
	return nil
}

// checkDomain rejects what is more than a domain. The service validates the rest. The error does not repeat the
// value, which may be a URL with credentials.
func checkDomain(domain string) error {
	problem := "is empty"
	if domain != "" {
		at := strings.IndexFunc(domain, func(r rune) bool {
			return !unicode.IsPrint(r) || strings.ContainsRune(" :/?#@,*\\", r)
		})
		if at < 0 {
			return nil
		}
		found, _ := utf8.DecodeRuneInString(domain[at:])
		problem = fmt.Sprintf("contains %q", string(found))
	}
	return invalidValue("The domain " + problem + ". Write only the domain, such as docs.example.com.")
}

var (
	anyDuration      = durationAtLeast(0)
	timeoutRules     = durationAtLeast(time.Minute) // longer than [client.NotFoundLimit], which is reported first
	atLeastOneSecond = durationAtLeast(time.Second)
)

// durationAtLeast accepts durations that are not shorter than a minimum.
func durationAtLeast(least time.Duration) []validator.String {
	return rules(summaryInvalidDuration, "a duration of at least "+shortDuration(least), func(value string) error {
		switch d, err := time.ParseDuration(value); {
		case err != nil:
			return invalidValue(fmt.Sprintf("%q is not a valid duration. "+
				"Write numbers with units (h, m, s, or ms), such as 30s, 5m, or 1h30m.", value))
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
