package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
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

// checkFound refuses the words that a script writes in place of a value that it did not find.
func checkFound(what, value string) error {
	if value == "null" || value == "undefined" {
		return fmt.Errorf("%s is %q, which a script writes if it finds none", what, value)
	}
	return nil
}

// checkID accepts IDs of any other form, because the contract does not define one.
func checkID(id string) error {
	if err := cmp.Or(checkFound("the ID", id), client.CheckName("the ID", id)); err != nil {
		return invalidValue(sentence(err.Error()) + " Use the ID that the service returned.")
	}
	return nil
}

func checkPath(value string) error {
	switch {
	case strings.TrimSpace(value) == "":
		return invalidValue("The path is empty. Write a relative or absolute path.")
	case strings.HasPrefix(value, "~/"):
		return invalidValue("Terraform does not expand \"~\". Use pathexpand(\"~/...\").")
	case slices.Contains([]string{".", "..", string(filepath.Separator)}, filepath.Base(filepath.Clean(value))):
		return invalidValue("The path has no name of its own. Add one, such as site.")
	}
	return nil
}

func checkDomain(domain string) error {
	if err := cmp.Or(checkFound("the domain", domain), checkForm(domain)); err != nil {
		return invalidValue(sentence(err.Error()) + " Write only the domain, such as docs.example.com.")
	}
	return nil
}

// badLabel matches a label that is empty, is too long, or begins or ends with a hyphen.
var badLabel = regexp.MustCompile(`(^|\.)([.-]|$)|-(\.|$)|[^.]{64}`)

// checkForm rejects what is no domain in any alphabet. The service validates the rest. The error does not repeat the
// value, which may be a URL with credentials.
func checkForm(domain string) error {
	at := strings.IndexFunc(domain, func(r rune) bool {
		return !unicode.IsPrint(r) || strings.ContainsRune(" :/?#@,*\\", r)
	})
	switch {
	case domain == "":
		return errors.New("the domain is empty")
	case at >= 0:
		found, _ := utf8.DecodeRuneInString(domain[at:])
		return fmt.Errorf("the domain contains %q", string(found))
	case badLabel.MatchString(domain):
		return errors.New("the domain has a label that is empty, is longer than 63 characters, " +
			"or begins or ends with a hyphen")
	}
	return nil
}

// leastTimeout is longer than [client.NotFoundLimit], so that what is missing is reported as such.
const leastTimeout = time.Minute

var (
	anyDuration      = durationAtLeast(0)
	timeoutRules     = durationAtLeast(leastTimeout)
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

// shortDuration formats a duration without zeros, such as "1h30m".
func shortDuration(d time.Duration) string {
	return strings.Replace(strings.Replace(d.String(), "m0s", "m", 1), "h0m", "h", 1)
}
