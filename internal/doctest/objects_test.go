// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestExampleOfEachObjectIsAppliedAndThenPlansNothing(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"provider/*.tf", "resources/*/resource*.tf", "data-sources/*/*.tf", "ephemeral-resources/*/*.tf", "actions/*/*.tf"} {
		files = append(files, glob(t, "examples/"+pattern)...)
	}
	for _, file := range files {
		name, err := filepath.Rel(examples, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := read(t, file)
			if strings.Contains(content, "curl ") {
				clitest.Program(t, "curl")
			}
			s := newService(t)
			s.enter(t, name)
			s.apply(t)
		})
	}
}

const exported = `resource "docs_static_export" "site" {
  domain = "docs.example.com"
}
`

func TestExportIsImportedAsShown(t *testing.T) {
	t.Parallel()
	const directory = "resources/docs_static_export/"
	for name, minimum := range map[string]string{
		"import-by-string-id.tf": `required_version = ">= 1.5"`,
		"import-by-identity.tf":  `required_version = ">= 1.12"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.needs(t, minimum)
			s.Write(t, "main.tf", exported)
			s.enter(t, directory+name)
			s.apply(t)
			if s.Count(simulator.EndpointStart) > 0 {
				t.Error("a job was started")
			}
		})
	}
	t.Run("import.sh", func(t *testing.T) {
		t.Parallel()
		imports := 0
		for line := range strings.Lines(read(t, filepath.Join(examples, directory, "import.sh"))) {
			arguments, ok := strings.CutPrefix(strings.TrimSpace(line), "terraform import ")
			if !ok {
				continue
			}
			imports++
			s := newService(t)
			s.Write(t, "main.tf", s.Require()+exported)
			s.Run(t, 0, append([]string{"import"}, strings.Fields(arguments)...)...)
			s.apply(t)
		}
		if imports != 2 {
			t.Errorf("%d forms of import, want 2", imports)
		}
	})
}
