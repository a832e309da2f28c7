// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// roots are the configurations that stand for themselves, below examples/.
var roots = []string{
	"quickstart",
	"guides/getting-started",
	"guides/link-lifetime/renewal",
	"guides/link-lifetime/ephemeral",
	"guides/deploy-gates/data-source",
	"guides/deploy-gates/gate",
	"guides/deploy-gates/action",
	"guides/self-hosting/from-state",
	"guides/self-hosting/ephemeral",
	"guides/object-storage/export",
	"guides/air-gapped",
}

var modules = []string{"modules/chart-handover", "modules/deploy-gate", "modules/publish"}

func TestConfigurationOfEachGuideIsAppliedAndThenPlansNothing(t *testing.T) {
	t.Parallel()
	for _, directory := range roots {
		t.Run(directory, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.enter(t, directory)
			s.apply(t)
		})
	}
}

// enter copies a configuration into the folder and gets its modules.
func (s *service) enter(t *testing.T, directory string) {
	t.Helper()
	s.setVariables()
	s.copyTree(t, filepath.Join(examples, directory))
	content := read(t, filepath.Join(s.Folder, "main.tf"))
	s.needs(t, content)
	if strings.Contains(content, "module \"") {
		s.Run(t, 0, "init")
	}
}

func TestFailedUpdateStopsEachKindOfGate(t *testing.T) {
	t.Parallel()
	for directory, command := range map[string]string{
		"guides/deploy-gates/data-source": "plan",
		"guides/deploy-gates/gate":        "apply",
		"guides/deploy-gates/action":      "apply",
	} {
		t.Run(directory, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.enter(t, directory)
			s.Env = append(s.Env, "TF_VAR_status_id=upd_failure")
			if command == "apply" {
				s.Run(t, 0, "plan", "-out=saved")
				s.Run(t, 1, "apply", "saved")
			} else {
				s.Run(t, 1, "plan")
			}
			if s.Count(simulator.EndpointStart) > 0 {
				t.Error("the site was exported")
			}
		})
	}
}

// The claims of the guide on the lifetime of links.
func TestExpiredLinkIsRenewedByTheNextPlanThatMayChangeThings(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.enter(t, "guides/link-lifetime/renewal")
	s.Run(t, 0, "apply", "-auto-approve")
	saved := s.Run(t, 0, "plan", "-out=saved")
	if !strings.Contains(saved, "No changes.") {
		t.Errorf("a plan right after the apply is not empty:\n%s", saved)
	}
	s.clock.Advance(time.Hour)

	s.Run(t, 0, "plan", "-refresh-only", "-out=refreshed")
	if drift := s.Run(t, 0, "show", "-json", "refreshed"); strings.Contains(drift, `"resource_drift"`) {
		t.Errorf("an expired link counts as drift:\n%s", drift)
	}
	s.Run(t, 0, "apply", "saved")
	if s.Count(simulator.EndpointBundle) != 1 {
		t.Error("a saved plan without changes made a link")
	}
	if output := s.Run(t, 2, "plan", "-detailed-exitcode", "-refresh=false"); !strings.Contains(output, "will be updated in-place") {
		t.Errorf("the link is not renewed in place:\n%s", output)
	}
	s.Run(t, 0, "apply", "-auto-approve")
	if starts, links := s.Count(simulator.EndpointStart), s.Count(simulator.EndpointBundle); starts != 1 || links != 2 {
		t.Errorf("%d jobs and %d links, want 1 and 2", starts, links)
	}
}

func TestCheckTellsThatTheLinkIsDead(t *testing.T) {
	t.Parallel()
	s := newServiceAt(t, time.Date(2020, time.January, 31, 12, 0, 0, 0, time.UTC))
	s.enter(t, "guides/link-lifetime/renewal")
	output := s.Run(t, 0, "apply", "-auto-approve")
	if want := "The bundle's link expired at 2020-01-31T12:15:"; !strings.Contains(output, want) {
		t.Errorf("%q is not said:\n%s", want, output)
	}
}

func TestLinkOfTheEphemeralResourceIsNotInTheState(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.enter(t, "guides/link-lifetime/ephemeral")
	s.Run(t, 0, "plan", "-out=saved")
	s.clock.Advance(24 * time.Hour)
	s.Run(t, 0, "apply", "saved")
	// One for the state, which is not renewed, and one for the deployment.
	if links := s.Count(simulator.EndpointBundle); links != 2 {
		t.Errorf("%d links, want 2", links)
	}
	if links := strings.Count(read(t, filepath.Join(s.Folder, "terraform.tfstate")), "X-Amz-Signature"); links != 1 {
		t.Errorf("the state holds %d links, want 1", links)
	}
}

func TestExportedSiteBecomesObjects(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"s3", "gcs"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			root := s.Folder
			s.copyTree(t, filepath.Join(examples, "guides/object-storage"))
			s.setVariables()

			s.Folder = filepath.Join(root, "publish")
			content := read(t, filepath.Join(s.Folder, "main.tf"))
			s.needs(t, content)
			s.write(t, "main.tf", strings.Replace(content, `"./s3" # or ./gcs`, `"./`+store+`"`, 1))
			s.Run(t, 0, "init")
			s.Env = append(s.Env, "TF_VAR_bucket=docs", "TF_VAR_directory="+filepath.Join(root, "out/site"))
			if output := s.Run(t, 1, "plan"); !strings.Contains(output, "Apply the export first.") {
				t.Errorf("an empty directory is not explained:\n%s", output)
			}

			s.Folder = filepath.Join(root, "export")
			s.Run(t, 0, "apply", "-auto-approve")

			s.Folder = filepath.Join(root, "publish")
			s.Run(t, 0, "apply", "-auto-approve")
			var objects []string
			if err := json.Unmarshal([]byte(s.Run(t, 0, "output", "-json", "objects")), &objects); err != nil {
				t.Fatal(err)
			}
			if want := []string{"assets/site.css", "assets/site.js", "guides/hosting.html"}; len(objects) != 8 || !slices.Equal(objects[:3], want) {
				t.Errorf("the objects are %q", objects)
			}
		})
	}
}

func TestModulesPassTheirOwnTests(t *testing.T) {
	t.Parallel()
	for _, directory := range modules {
		t.Run(directory, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.needs(t, `required_version = ">= 1.7"`)
			s.copyTree(t, filepath.Join(examples, directory))
			s.Run(t, 0, "init")
			s.Run(t, 0, "test")
			if requests := len(s.Requests()); requests > 0 {
				t.Errorf("mocked tests made %d requests", requests)
			}
			// OpenTofu's tests cannot refer to an earlier run.
			if _, err := os.Stat(filepath.Join(s.Folder, "tests/simulator")); err == nil && !s.IsOpenTofu() {
				s.Run(t, 0, "init", "-test-directory=tests/simulator")
				s.Run(t, 0, "test", "-test-directory=tests/simulator")
			}
		})
	}
}

func TestModulesAreApplied(t *testing.T) {
	t.Parallel()
	for _, directory := range modules {
		t.Run(directory, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.setVariables()
			s.copyTree(t, filepath.Join(examples, directory))
			s.apply(t)
		})
	}
}

func TestExamplesAreFormatted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	var err error
	if s.Folder, err = filepath.Abs(examples); err != nil {
		t.Fatal(err)
	}
	s.Run(t, 0, "fmt", "-check", "-diff", "-recursive")
}

func TestNoExampleIsLeftOutOfTheTests(t *testing.T) {
	t.Parallel()
	tested := append([]string{"provider", "resources/", "data-sources/", "ephemeral-resources/", "actions/"}, modules...)
	tested = append(tested, roots...)
	tested = append(tested, "guides/object-storage/publish", "guides/deploy-gates/pipelines/hcp-run-trigger")
	err := filepath.WalkDir(examples, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".tf" {
			return err
		}
		relative, err := filepath.Rel(examples, name)
		if !slices.ContainsFunc(tested, func(directory string) bool { return strings.HasPrefix(filepath.ToSlash(relative), directory) }) {
			t.Errorf("examples/%s is in no test", relative)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
