// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// documented matches the headings of the errors page that are summaries.
var documented = regexp.MustCompile(`(?m)^### (.+)\n\n(Error|Warning|Error or warning)\.`)

func TestErrorsPageListsEverySummaryAndNoOther(t *testing.T) {
	t.Parallel()
	const template = "templates/guides/errors.md.tmpl"
	page, err := os.ReadFile("../../" + template)
	if err != nil {
		t.Fatal(err)
	}
	code, err := parser.ParseFile(token.NewFileSet(), "summaries.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	// The validators of libraries have summaries of their own.
	severities := map[string]string{"Invalid Attribute Value": "Error", "Invalid Attribute Value Match": "Error"}
	for _, declaration := range code.Decls {
		block := declaration.(*ast.GenDecl)
		severity := map[string]string{"Errors.": "Error", "Warnings.": "Warning", "Errors or warnings.": "Error or warning"}[strings.TrimSpace(block.Doc.Text())]
		for _, constant := range block.Specs {
			summary, err := strconv.Unquote(constant.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			severities[summary] = severity
		}
	}
	const remedy = "; edit " + template + ", and run \"make docs\""
	for _, heading := range documented.FindAllStringSubmatch(string(page), -1) {
		if severities[heading[1]] != heading[2] {
			t.Errorf("%q is %q on the page and %q in summaries.go%s", heading[1], heading[2], severities[heading[1]], remedy)
		}
		delete(severities, heading[1])
	}
	for summary := range severities {
		t.Errorf("%q is not on the page%s", summary, remedy)
	}
}
