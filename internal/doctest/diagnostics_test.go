// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const diagnosticsPage = root + "/templates/guides/errors.md.tmpl"

// headings of the page that name a diagnostic, which is followed by whether it is an error or a
// warning.
var diagnosticHeading = regexp.MustCompile(`(?m)^### (.+)\n\n(Error|Warning|Error or warning)\.`)

// A summary is written on the page as the code makes it, with "…" for what is filled in.
func TestPageOfErrorsHasEveryDiagnosticAndNoOther(t *testing.T) {
	t.Parallel()
	documented := map[string]string{}
	for _, heading := range diagnosticHeading.FindAllStringSubmatch(read(t, diagnosticsPage), -1) {
		if documented[heading[1]] != "" {
			t.Errorf("%q is on the page twice", heading[1])
		}
		documented[heading[1]] = heading[2]
	}
	printed := providerSummaries(t)
	maps.Copy(printed, frameworkSummaries)
	for _, summary := range slices.Sorted(maps.Keys(printed)) {
		switch documented[summary] {
		case "":
			t.Errorf("%s %q is not on the page", printed[summary], summary)
		case printed[summary]:
		default:
			t.Errorf("%q is a %s", summary, printed[summary])
		}
	}
	for _, summary := range slices.Sorted(maps.Keys(documented)) {
		if printed[summary] == "" {
			t.Errorf("%q is on the page, but no diagnostic has this summary", summary)
		}
	}
}

// providerSummaries returns what the provider's code gives to a diagnostic as its summary, and
// whether that is an error or a warning.
func providerSummaries(t *testing.T) map[string]string {
	t.Helper()
	var files []*ast.File
	positions := token.NewFileSet()
	for _, name := range glob(t, "internal/provider/*.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(positions, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}

	summaries := map[string]string{}
	for _, file := range files {
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(function, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok {
					return true
				}
				severity, argument, ok := addsDiagnostic(call)
				if !ok || function.Name.Name == "addError" {
					return true
				}
				summary, err := summaryOf(call.Args[argument], function)
				if err != nil {
					t.Errorf("%s: %v", positions.Position(call.Pos()), err)
				}
				if known := summaries[summary]; known != "" && known != severity {
					severity = "Error or warning"
				}
				summaries[summary] = severity
				return true
			})
		}
	}
	return summaries
}

// addsDiagnostic tells of a call what it adds, and which argument is the summary.
func addsDiagnostic(call *ast.CallExpr) (severity string, argument int, ok bool) {
	switch function := call.Fun.(type) {
	case *ast.SelectorExpr:
		switch function.Sel.Name {
		case "AddError":
			return "Error", 0, true
		case "AddWarning":
			return "Warning", 0, true
		case "AddAttributeError":
			return "Error", 1, true
		case "AddAttributeWarning":
			return "Warning", 1, true
		}
	case *ast.Ident:
		if function.Name == "addError" {
			return "Error", 1, true
		}
	}
	return "", 0, false
}

// summaryOf reads an expression of string literals, and of variables that the same function assigns
// once. Anything else that is added to a literal is filled in at run time.
func summaryOf(expression ast.Expr, function *ast.FuncDecl) (string, error) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		left, err := summaryOf(e.X, function)
		if err != nil {
			return "", err
		}
		if right, err := summaryOf(e.Y, function); err == nil {
			return left + right, nil
		}
		return left + "…", nil
	case *ast.Ident:
		if value := assigned(e.Name, function); value != nil {
			return summaryOf(value, function)
		}
	}
	return "", fmt.Errorf("the summary is no literal: a %T", expression)
}

// assigned returns what a function assigns to a variable, if it does so once.
func assigned(name string, function *ast.FuncDecl) ast.Expr {
	var values []ast.Expr
	ast.Inspect(function, func(node ast.Node) bool {
		if assignment, ok := node.(*ast.AssignStmt); ok && len(assignment.Lhs) == len(assignment.Rhs) {
			for i, left := range assignment.Lhs {
				if variable, ok := left.(*ast.Ident); ok && variable.Name == name {
					values = append(values, assignment.Rhs[i])
				}
			}
		}
		return true
	})
	if len(values) != 1 {
		return nil
	}
	return values[0]
}

// frameworkSummaries are of the libraries that check a value's form before the provider sees it.
// TestValuesOfTheWrongFormAreRefused makes each of them.
var frameworkSummaries = map[string]string{
	"Invalid Attribute Value":               "Error",
	"Invalid Attribute Value Match":         "Error",
	"Invalid Attribute Value Time Duration": "Error",
	"Invalid JSON String Value":             "Error",
}

func TestValuesOfTheWrongFormAreRefused(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	// The objects are not looked at where the provider's arguments are wrong.
	for _, config := range []string{`
provider "docs" {
  max_retries = 50
}

data "docs_static_export_job" "nightly" {
  job_id = "se_3f9a2c1b8e7d4a06"
}
`, `
resource "docs_static_export" "site" {
  domain                = "docs.example.com"
  link_renewal          = "sometimes"
  renew_before          = "soon"
  additional_parameters = "{"
  timeouts              = { create = "later" }
}

resource "docs_bundle_download" "site" {
  job_id = "se_3f9a2c1b8e7d4a06"
  path   = "bundle.tar.gz"
  sha256 = "A"
}
`} {
		s := newService(t)
		s.write(t, "main.tf", requireProvider+config)
		var result struct {
			Diagnostics []struct{ Summary string }
		}
		if err := json.Unmarshal([]byte(s.Run(t, 1, "validate", "-json")), &result); err != nil {
			t.Fatal(err)
		}
		for _, diagnostic := range result.Diagnostics {
			got[diagnostic.Summary] = "Error"
		}
	}
	for _, own := range []string{"Invalid additional parameters", "Invalid duration"} {
		delete(got, own)
	}
	if !maps.Equal(got, frameworkSummaries) {
		t.Errorf("the summaries are %q", slices.Sorted(maps.Keys(got)))
	}
}
