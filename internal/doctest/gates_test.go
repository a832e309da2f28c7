// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package doctest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func TestFailedUpdateStopsEachKindOfGate(t *testing.T) {
	t.Parallel()
	for example, command := range map[string]string{
		"data-sources/docs_update_status/data-source.tf": "plan",
		"resources/docs_update_gate/resource.tf":         "apply",
		"guides/deploy-gates/gate":                       "apply",
		"actions/docs_await_update/action.tf":            "apply",
	} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			s.enter(t, example)
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
			if id := s.output(t, "status_id"); id != nil {
				t.Errorf("the output names %v, although no update succeeded", id)
			}
		})
	}
}

// The configurations of the two workspaces, each with its own state.
func TestGateOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.enter(t, "guides/deploy-gates/workspaces")
	s.AddUpdate(simulator.UpdateSpec{ID: "upd_later", Queue: -1, Run: -1})
	s.Run(t, 0, "-chdir=update", "init")
	s.Run(t, 0, "-chdir=export", "init")
	update := func(id string, wantExit int) {
		t.Helper()
		s.Run(t, wantExit, "-chdir=update", "apply", "-auto-approve", "-var=status_id="+id)
	}
	export := func(wantExit int) {
		t.Helper()
		s.Run(t, wantExit, "-chdir=export", "plan", "-detailed-exitcode")
	}
	update("upd_failure", 1)
	export(1)
	update("upd_success", 0)
	export(2)
	s.Run(t, 0, "-chdir=export", "apply", "-auto-approve")
	update("upd_failure", 1)
	export(0)
	s.Run(t, 0, "-chdir=update", "apply", "-auto-approve", "-refresh-only", "-var=status_id=upd_failure")
	export(0)
	update("upd_later", 0)
	export(2)
}

// The output that another configuration reads must not name a job without a bundle, which a create
// that timed out leaves.
func TestOutputOfAnExportNamesNoJobWithoutALink(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.enter(t, "guides/hcp-terraform/export")
	s.NextJob(simulator.JobSpec{Queue: simulator.Forever})
	s.Run(t, 1, "apply", "-auto-approve")
	s.Run(t, 0, "untaint", "docs_static_export.site")
	s.Run(t, 0, "apply", "-auto-approve", "-refresh-only")
	if id := s.output(t, "job_id"); id != nil {
		t.Errorf("the output names %v, although no export completed", id)
	}
}

// change replaces a text in a file of the folder.
func (s *service) change(t *testing.T, name, old, replacement string) {
	t.Helper()
	content := read(t, s.Folder+"/"+name)
	if !strings.Contains(content, old) {
		t.Fatalf("%s does not contain %q", name, old)
	}
	s.Write(t, name, strings.Replace(content, old, replacement, 1))
}

// output returns the value of an output: nil if the state has none.
func (s *service) output(t *testing.T, name string) any {
	t.Helper()
	var outputs map[string]struct{ Value any }
	if err := json.Unmarshal([]byte(s.Run(t, 0, "output", "-json")), &outputs); err != nil {
		t.Fatal(err)
	}
	return outputs[name].Value
}
