package doctest

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

// For an object without a template, `make docs` writes a page of its own, and succeeds.
func TestEachObjectHasATemplateAnExampleAnAcceptanceTestAndARowInTheIndex(t *testing.T) {
	t.Parallel()
	schemas, err := provider.NewServer(provider.Options{})().GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var tests string
	for _, name := range glob(t, "internal/provider/*_test.go") {
		tests += strings.ToLower(read(t, name))
	}
	index := read(t, root+"/templates/index.md.tmpl")
	for kind, names := range map[string][]string{
		"resource":           slices.Collect(maps.Keys(schemas.ResourceSchemas)),
		"data-source":        slices.Collect(maps.Keys(schemas.DataSourceSchemas)),
		"ephemeral-resource": slices.Collect(maps.Keys(schemas.EphemeralResourceSchemas)),
		"action":             slices.Collect(maps.Keys(schemas.ActionSchemas)),
	} {
		for _, name := range names {
			short := strings.TrimPrefix(name, "docs_")
			for _, file := range []string{"templates/" + kind + "s/" + short + ".md.tmpl", "examples/" + kind + "s/" + name + "/" + kind + ".tf"} {
				if _, err := os.Stat(root + "/" + file); err != nil {
					t.Errorf("the %s %s has no %s", kind, name, file)
				}
			}
			test := "func testacc" + strings.NewReplacer("_", "", "-", "").Replace(short+kind)
			if !strings.Contains(tests, test+"(") {
				t.Errorf("the %s %s has no acceptance test, such as TestAccUpdateStatusDataSource", kind, name)
			}
			row := "| [`" + name + "`](https://github.com/docs-hosting/terraform-provider-docs/blob/main/docs/" + kind + "s/" + short + ".md)"
			if !strings.Contains(index, row) {
				t.Errorf("the %s %s has no row in templates/index.md.tmpl, such as %s", kind, name, row)
			}
		}
	}
}
