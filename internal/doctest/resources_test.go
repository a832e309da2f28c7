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
	for resource, test := range map[string]struct {
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
			map[string]string{"job_id": fmt.Sprintf("%q", exportedJob), "path": `"FOLDER/bundle"`},
			map[string]string{
				"job_id":   `"se_later"`,
				"path":     `"FOLDER/other"`,
				"unpack":   `true`,
				"sha256":   fmt.Sprintf("%q", strings.Repeat("0", 64)),
				"timeouts": `{ create = "20m" }`,
			},
		},
	} {
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			page := read(t, root+"/docs/resources/"+resource+".md")
			said := map[string]string{}
			for _, argument := range schemaBullet.FindAllStringSubmatch(schemaSection.FindString(page), -1) {
				said[argument[1]] = "in place"
				if effect := changeEffect.FindStringSubmatch(argument[2]); effect != nil {
					said[argument[1]] = effect[1]
				}
			}

			if got, want := slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(test.changed)); !slices.Equal(got, want) {
				t.Fatalf("the page has %q, the test %q", got, want)
			}
			// Each argument changes in a resource of its own, which has the argument's name.
			s := newService(t)
			write := func(change bool) {
				var config strings.Builder
				for name := range test.changed {
					fmt.Fprintf(&config, "resource \"docs_%s\" %q {\n", resource, name)
					values := maps.Clone(test.initial)
					if change {
						values[name] = test.changed[name]
					}
					for argument, value := range values {
						separator := " = "
						if argument == "timeouts" { // a block
							separator = " "
						}
						value = strings.ReplaceAll(value, "FOLDER", s.Folder+"/"+name)
						fmt.Fprintf(&config, "  %s%s%s\n", argument, separator, value)
					}
					config.WriteString("}\n")
				}
				s.Write(t, "main.tf", s.Require()+config.String())
			}
			write(false)
			s.Run(t, 0, "apply", "-auto-approve")
			write(true)
			_, plan, _ := strings.Cut(s.Run(t, 0, "plan"), "will perform the following actions:")
			for argument := range test.changed {
				_, changes, _ := strings.Cut(plan, "\n  # docs_"+resource+"."+argument+" ")
				changes, _, _ = strings.Cut(changes, "\n  # ")
				planned := "nothing"
				switch {
				case strings.HasPrefix(changes, "must be replaced"):
					planned = "replaces the resource"
				case resource == "static_export" && strings.Contains(changes, "~ job_id"):
					planned = "exports the site again"
				case strings.HasPrefix(changes, "will be updated in-place"):
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
