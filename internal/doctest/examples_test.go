package doctest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestEachExampleIsAppliedAndThenPlansNothing(t *testing.T) {
	t.Parallel()
	var names []string
	for _, pattern := range []string{
		"provider/*.tf", "resources/*/resource.tf", "data-sources/*/*.tf", "ephemeral-resources/*/*.tf", "actions/*/*.tf",
		"quickstart/main.tf", "modules/*/main.tf", "guides/*/main.tf", "guides/*/*/main.tf", "guides/*/*/*/main.tf",
	} {
		for _, file := range glob(t, "examples/"+pattern) {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), examples+"/"), "/main.tf"))
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, 2130)
			configuration := s.enter(t, name)
			if strings.Contains(configuration, "terraform_remote_state") {
				t.Skip("needs the state of another configuration, as in TestExamplesDoWhatTheirPagesSay")
			}
			s.Run(t, 0, "apply", "-auto-approve")
			if !strings.Contains(configuration, "set_wo_revision") { // each plan hands over a new link
				s.Run(t, 0, "plan", "-detailed-exitcode")
			}
		})
	}
}

func TestExamplesDoWhatTheirPagesSay(t *testing.T) {
	t.Parallel()
	type step struct {
		exit   int
		args   string
		output string // part of it
	}
	update := func(exit int, id string) step {
		return step{exit, "-chdir=update apply -auto-approve -var=status_id=" + id, ""}
	}
	const planExport, failing = "-chdir=export plan -detailed-exitcode", "upd_failure"
	const static = "resources/docs_static_export/"
	command := strings.TrimPrefix(read(t, filepath.Join(examples, static, "import.sh")), "terraform ")
	imported := []step{{0, "apply -auto-approve", "0 added, 1 changed"}, {0, "plan -detailed-exitcode", ""}}
	stopped := []step{{0, "plan -out=saved", ""}, {1, "apply saved", "Update failed"}, {0, "output -json", "{}\n"}} // no update has succeeded
	for name, test := range map[string]struct {
		examples []string
		year     int // of the provider's clock
		minor    int // the oldest Terraform 1.x
		status   string
		starts   int
		steps    []step
	}{
		"a failed update stops a saved plan with the gate":    {[]string{"resources/docs_update_gate/resource.tf"}, 2130, 0, failing, 0, stopped},
		"a failed update stops a saved plan with the action":  {[]string{"actions/docs_await_update/action.tf"}, 2130, 14, failing, 0, stopped},
		"a failed update stops a saved plan of the pipelines": {[]string{pipelines + "main.tf"}, 2130, 0, failing, 0, stopped},
		"a failed update stops a plan with the data source": {[]string{"data-sources/docs_update_status/data-source.tf"}, 2130, 0, failing, 0, []step{
			{1, "plan", "Update failed"},
		}},
		"an export follows the gate of another configuration": {[]string{"guides/deploy-gates/workspaces"}, 2130, 0, "", 1, []step{
			update(1, failing),
			{1, planExport, ""},
			update(0, "upd_success"),
			{2, planExport, ""},
			{0, "-chdir=export apply -auto-approve", "1 added"},
			update(1, failing),
			{0, planExport, ""},
		}},
		"a chart gets no link that has expired by the clock of the CLI": {[]string{"guides/self-hosting/link-in-state"}, 2020, 0, "", 1, []step{
			{0, "apply -auto-approve -target=docs_static_export.site", ""},
			{0, "plan -out=saved", ""},
			{1, "apply saved", "The bundle link expired at 2020-01-31T12:15:"},
		}},
		"an import":             {[]string{static + "resource.tf", static + "import-by-string-id.tf"}, 2130, 5, "", 0, imported},
		"an import by identity": {[]string{static + "resource.tf", static + "import-by-identity.tf"}, 2130, 12, "", 0, imported},
		"an import with a command": {[]string{static + "resource.tf"}, 2130, 0, "", 0, append([]step{
			{0, command, "Import successful!"},
		}, imported...)},
		"a postcondition that is expected to fail": {[]string{"guides/testing"}, 2130, 7, "", 0, []step{{0, "test", "1 passed, 0 failed"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, test.year)
			s.needs(t, test.minor)
			s.enter(t, test.examples...)
			if test.status != "" {
				s.Env = append(s.Env, "TF_VAR_status_id="+test.status) // a flag would have to be that of the plan with OpenTofu
			}
			for _, step := range test.steps {
				if output := s.Run(t, step.exit, strings.Fields(step.args)...); !strings.Contains(output, step.output) {
					t.Fatalf("%q is missing in the output of %s:\n%s", step.output, step.args, output)
				}
			}
			if starts := s.Count(simulator.EndpointStart); starts != test.starts {
				t.Errorf("%d starts, want %d", starts, test.starts)
			}
		})
	}
}

func TestModulePassesItsOwnTests(t *testing.T) {
	t.Parallel()
	s := newService(t, 2130)
	s.needs(t, 7)
	s.enter(t, "modules/chart-handover")
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "TF_VAR_") })
	s.Run(t, 0, "test")
	if requests := len(s.Requests()); requests > 0 {
		t.Errorf("mocked tests made %d requests", requests)
	}
	s.SkipBelow(t, 7, 12, "references to earlier runs")
	s.Run(t, 0, "init", "-test-directory=tests/simulator")
	s.Run(t, 0, "test", "-test-directory=tests/simulator")
}
