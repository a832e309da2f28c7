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

var (
	changeEffect  = regexp.MustCompile("A change (replaces the resource|exports the site again)")
	onlySpacing   = regexp.MustCompile("Changing only the spacing or field order of `additional_parameters` has no effect")
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
				"additional_parameters (only spacing or field order)": `"{ \"b\": 2, \"a\": 1 }"`,
				"link_renewal":  `"never"`,
				"renew_before":  `"1s"`,
				"poll_interval": `"5s"`,
				"timeouts":      `{ read = "1m" }`,
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
				"job_id":     `"se_later"`,
				"path":       `"other"`,
				"extract_to": `"site"`,
				"sha256":     fmt.Sprintf("%q", strings.Repeat("0", 64)),
				"timeouts":   `{ create = "20m" }`,
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
			if onlySpacing.MatchString(page) {
				said["additional_parameters (only spacing or field order)"] = "nothing"
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
			for entry, value := range test.changed {
				values := maps.Clone(test.initial)
				argument, _, _ := strings.Cut(entry, " ")
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
				if planned != said[entry] {
					t.Errorf("%s: the page says %q, Terraform plans %q:\n%s", entry, said[entry], planned, plan)
				}
			}
		})
	}
}

func TestConfigurationOfTheReadmeIsAppliedAndThenPlansNothing(t *testing.T) {
	t.Parallel()
	_, configuration, _ := strings.Cut(read(t, root+"/README.md"), "```terraform\n")
	configuration, _, _ = strings.Cut(configuration, "```")
	s := newService(t)
	s.Write(t, "main.tf", configuration)
	s.Run(t, 0, "init")
	s.apply(t)
	if s.Count(simulator.EndpointStart) != 1 {
		t.Error("the site was not exported once")
	}
}
