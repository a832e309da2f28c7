// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// writeState makes TestStateOfTheFirstVersionIsRead write its fixture. A version
// that changes a schema keeps the fixture, and adds another.
var writeState = flag.Bool("write-state", false, "write testdata/state/v0.tfstate anew")

// signature is what makes a link of the simulator a credential, and has no place
// in a fixture.
var signature = regexp.MustCompile(`\?X-Amz-[^"]*`)

func TestStateOfTheFirstVersionIsRead(t *testing.T) {
	t.Parallel()
	h := newHarness(t, simulator.Options{LinkLifetime: time.Hour})
	h.AddUpdate(simulator.UpdateSpec{ID: "upd_1", Queue: -1, Run: -1})
	config, err := os.ReadFile(filepath.Join("testdata", "state", "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	c := h.newCLI(t, string(config))
	fixture := filepath.Join("testdata", "state", "v0.tfstate")
	c.SkipBelow(t, 11, 8, "a CLI that reads the state of Terraform 1.11 without a change of its own")
	if *writeState {
		h.NextJob(simulator.JobSpec{ID: "se_0000000000000001"})
		h.NextJob(simulator.JobSpec{ID: "se_0000000000000002"})
		c.Run(t, 0, "apply", "-auto-approve", "-parallelism=1")
		state := signature.ReplaceAllString(c.read(t, "terraform.tfstate"), "")
		if err := os.WriteFile(fixture, []byte(state), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	h.AddJob(simulator.JobSpec{ID: "se_0000000000000001", Queue: -1, Run: -1})
	h.AddJob(simulator.JobSpec{ID: "se_0000000000000002", Queue: -1, Run: -1})
	state, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	if c.IsOpenTofu() {
		state = bytes.ReplaceAll(state, []byte("registry.terraform.io"), []byte("registry.opentofu.org"))
	}
	if err := os.WriteFile(filepath.Join(c.Folder, "terraform.tfstate"), state, 0o600); err != nil {
		t.Fatal(err)
	}
	c.wantEmptyPlan(t)

	h.clock.Advance(2 * time.Hour)
	c.Run(t, 0, "apply", "-auto-approve")
	h.wantCounts(t, map[string]int{simulator.EndpointStart: 0, simulator.EndpointBundle: 2})
	c.wantEmptyPlan(t)
}
