// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"regexp"
	"strings"
	"testing"
)

var (
	// diagnosticInCode matches the summary of each diagnostic in the provider's code.
	diagnosticInCode = regexp.MustCompile(`\b(addError|AddError|AddWarning|AddAttributeError|AddAttributeWarning|rules)\((?:&?[\w.]+, )?(?:path\.Root\([^)]*\), |at, |req\.Path, )?"([^"]+)"`)
	// diagnosticCall matches each call that adds one.
	diagnosticCall = regexp.MustCompile(`\b(?:\w+\.)?(addError|AddError|AddWarning|AddAttributeError|AddAttributeWarning|rules)\(`)
	// diagnosticOnPage matches the headings of the page that are summaries.
	diagnosticOnPage = regexp.MustCompile(`(?m)^### (.+)\n\n(Error|Warning|Error or warning)\.`)
)

// ofLibraries are the summaries of the validators that the provider takes from
// libraries.
var ofLibraries = map[string]string{"Invalid Attribute Value": "Error", "Invalid Attribute Value Match": "Error"}

func TestErrorsPageListsEveryDiagnosticAndNoOther(t *testing.T) {
	t.Parallel()
	printed := map[string]string{}
	for summary, severity := range ofLibraries {
		printed[summary] = severity
	}
	for _, name := range glob(t, "internal/provider/*.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		code := read(t, name)
		found := diagnosticInCode.FindAllStringSubmatch(code, -1)
		for _, match := range found {
			severity := "Error"
			if strings.HasSuffix(match[1], "Warning") {
				severity = "Warning"
			}
			if known := printed[match[2]]; known != "" && known != severity {
				severity = "Error or warning"
			}
			printed[match[2]] = severity
		}
		// Definitions and what passes a summary on are not in quotes.
		if calls := len(diagnosticCall.FindAllString(code, -1)) - strings.Count(code, "(diags *diag.Diagnostics, summary") - strings.Count(code, "AddError(summary") -
			strings.Count(code, "req.Path, r.summary") - strings.Count(code, "func rules("); calls != len(found) {
			t.Errorf("%s: %d diagnostics, but the summaries of %d are known", name, calls, len(found))
		}
	}
	documented := map[string]string{}
	for _, heading := range diagnosticOnPage.FindAllStringSubmatch(read(t, root+"/templates/guides/errors.md.tmpl"), -1) {
		documented[heading[1]] = heading[2]
	}
	for summary, severity := range printed {
		if documented[summary] != severity {
			t.Errorf("%q is %q in the code and %q on the page", summary, severity, documented[summary])
		}
	}
	for summary := range documented {
		if printed[summary] == "" {
			t.Errorf("%q is on the page, but in no code", summary)
		}
	}
}
