// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// keptConfig is the configuration that the kept state comes from.
//
//go:embed testdata/state/main.tf
var keptConfig string

// keptState returns a CLI in a folder with the state that the first version wrote,
// and a service that knows its jobs. Notes, unless empty, replace those of each
// export.
func keptState(t *testing.T, config, notes string) *cli {
	t.Helper()
	state, err := os.ReadFile(filepath.Join("testdata", "state", "v0.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: -1, Run: -1})
	h.AddJob(simulator.JobSpec{ID: "se_0000000000000001", Queue: -1, Run: -1})
	h.AddJob(simulator.JobSpec{ID: "se_0000000000000002", Queue: -1, Run: -1})
	c := h.cli(t, config)
	if notes != "" {
		private, err := json.Marshal(map[string][]byte{notesKey: []byte(notes)})
		if err != nil {
			t.Fatal(err)
		}
		state = privateState.ReplaceAll(state, []byte(`"private": "`+base64.StdEncoding.EncodeToString(private)+`"`))
	}
	if c.IsOpenTofu() {
		state = bytes.ReplaceAll(state, []byte("registry.terraform.io"), []byte("registry.opentofu.org"))
	}
	if err := os.WriteFile(filepath.Join(c.Folder, "terraform.tfstate"), state, 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

var privateState = regexp.MustCompile(`"private": "[^"]*"`)

func TestStateOfTheFirstVersionLoads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ notes, warning string }{
		"with its notes":                     {},
		"without notes":                      {notes: `{}`},
		"with fields that no longer exist":   {notes: `{"link_made_at":"2030-01-31T12:00:20Z","skew":3600000000000}`},
		"with fields that are not known yet": {notes: `{"link_made_at":"2030-01-31T12:00:20Z","later":{"a":[1]}}`},
		"with damaged notes":                 {notes: `{"link_made_at":7}`, warning: "Private state of the export is unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := keptState(t, keptConfig, test.notes)
			c.SkipBelow(t, 11, 8, "a CLI that reads the state of Terraform 1.11")
			wantTexts(t, unwrapped(c.Run(t, 0, "plan", "-detailed-exitcode")), "No changes.", test.warning)
			c.clock.Advance(2 * time.Hour)
			wantTexts(t, c.apply(t, 0), "0 added, 2 changed, 0 destroyed")
			c.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 2})
			if output := unwrapped(c.Run(t, 0, "plan", "-detailed-exitcode")); strings.Contains(output, "Warning") {
				t.Errorf("the next plan still warns:\n%s", output)
			}
		})
	}
}

func TestPendingJobOfTheFirstVersionIsResumed(t *testing.T) {
	t.Parallel()
	config := strings.Replace(keptConfig, `revision = "1"`, `revision = "2"`, 1)
	c := keptState(t, config, `{"pending":{"job_id":"se_0000000000000003","inputs":"208f82d2f70437c0d236d0de145e95cc8a155c44d8a761a89e5c5dc33f9e5a21"}}`)
	c.AddJob(simulator.JobSpec{ID: "se_0000000000000003", Queue: -1, Run: -1})
	c.apply(t, 0)
	c.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 1})
	c.wantJob(t, 2)
}
