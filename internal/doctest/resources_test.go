package doctest

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestExampleOfEachPageIsAppliedAndThenPlansNothing(t *testing.T) {
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
		s := newService(t)
		s.Write(t, "main.tf", s.Require()+exported)
		s.Run(t, 0, strings.Fields(read(t, filepath.Join(examples, directory, "import.sh")))[1:]...)
		s.apply(t)
	})
}

var (
	changeEffect  = regexp.MustCompile("A change (replaces the resource|exports the site again)")
	schemaSection = regexp.MustCompile(`(?s)\n## Schema\n(.*?)\n### Read-Only\n`)
	schemaBullet  = regexp.MustCompile("(?m)^- `(\\w+)`(.*)$")
)

// The description of an argument says what a change of the argument starts or replaces.
func TestPagesSayWhatTerraformPlansForAChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		initial map[string]string // each argument that is set, and its value
		changed map[string]string // each argument, and its new value
	}{
		"static_export": {
			map[string]string{"domain": `"docs.example.com"`, "additional_parameters": `"{\"a\":1,\"b\":2}"`},
			map[string]string{
				"domain":                "\"handbook.example.com\"",
				"triggers":              `{ revision = "2" }`,
				"additional_parameters": `"{\"a\":1}"`,
				"link_renewal":          `"never"`,
				"renew_before":          `"1s"`,
				"poll_interval":         `"5s"`,
				"timeouts":              `{ update = "1m" }`,
			},
		},
		"update_gate": {
			map[string]string{"status_id": `"upd_success"`},
			map[string]string{
				"status_id":     `"upd_failure"`,
				"triggers":      `{ revision = "2" }`,
				"poll_interval": `"5s"`,
				"timeouts":      `{ create = "20m" }`,
			},
		},
		"bundle_download": {
			map[string]string{"job_id": fmt.Sprintf("%q", exportedJob), "path": `"bundle"`},
			map[string]string{
				"job_id":   `"se_later"`,
				"path":     `"other"`,
				"unpack":   `true`,
				"sha256":   fmt.Sprintf("%q", strings.Repeat("0", 64)),
				"timeouts": `{ create = "20m" }`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := read(t, root+"/docs/resources/"+name+".md")
			said := map[string]string{}
			for _, argument := range schemaBullet.FindAllStringSubmatch(schemaSection.FindString(page), -1) {
				said[argument[1]] = "in place"
				if effect := changeEffect.FindStringSubmatch(argument[2]); effect != nil {
					said[argument[1]] = effect[1]
				}
			}

			s := newService(t)
			write := func(values map[string]string) {
				var body strings.Builder
				for argument, value := range values {
					separator := " = "
					if argument == "timeouts" { // a block
						separator = " "
					}
					fmt.Fprintf(&body, "  %s%s%s\n", argument, separator, strings.ReplaceAll(value, `"bundle"`, `"`+s.Folder+`/bundle"`))
				}
				s.Write(t, "main.tf", s.Require()+fmt.Sprintf("resource \"docs_%s\" \"site\" {\n%s}\n", name, &body))
			}
			write(test.initial)
			s.Run(t, 0, "apply", "-auto-approve")
			if got, want := slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(test.changed)); !slices.Equal(got, want) {
				t.Fatalf("the page has %q, the test %q", got, want)
			}
			for argument, value := range test.changed {
				values := maps.Clone(test.initial)
				values[argument] = value
				write(values)
				plan, planned := s.Run(t, 0, "plan"), ""
				switch {
				case strings.Contains(plan, "No changes."):
					planned = "nothing"
				case strings.Contains(plan, "must be replaced"):
					planned = "replaces the resource"
				case name == "static_export" && strings.Contains(plan, "~ job_id"):
					planned = "exports the site again"
				case strings.Contains(plan, "will be updated in-place"):
					planned = "in place"
				}
				if planned != said[argument] {
					t.Errorf("%s: the page says %q, Terraform plans %q:\n%s", argument, said[argument], planned, plan)
				}
			}
		})
	}
}

func TestReadmeShowsTheConfigurationOfTheIndex(t *testing.T) {
	t.Parallel()
	configuration, _, _ := strings.Cut(read(t, examples+"/provider/provider.tf"), "\noutput ")
	if !strings.Contains(read(t, root+"/README.md"), "```terraform\n"+configuration+"```\n") {
		t.Error("the README shows another configuration than the index")
	}
}
