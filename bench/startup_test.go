// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package bench

import (
	"os"
	"path/filepath"
	"testing"
)

const startRounds = 11

// BenchmarkStart has Terraform start a provider and ask for its schema.
func BenchmarkStart(b *testing.B) {
	c := newCLI(b)
	providers := []struct{ name, source string }{
		{"ours", ownSource},
		{"scaffolding", "registry.terraform.io/hashicorp/scaffolding"},
		{"none", ""}, // the floor: Terraform itself
	}
	workspaces, measured := map[string]*workspace{}, map[string]medians{}
	for _, p := range providers {
		measured[p.name] = medians{}
		w := c.workspace(b, p.source, "")
		if w == nil {
			continue
		}
		workspaces[p.name] = w
		programs, _ := filepath.Glob(filepath.Join(w.folder, ".terraform/providers/*/*/*/*/*/terraform-provider-*"))
		for _, program := range programs {
			info, err := os.Stat(program)
			if err != nil {
				b.Fatal(err)
			}
			measured[p.name].add("MiB", float64(info.Size())/(1<<20))
		}
	}
	for range startRounds {
		for _, p := range providers {
			if w := workspaces[p.name]; w != nil {
				wall, cpu, err := w.run("providers", "schema", "-json")
				if err != nil {
					b.Fatal(err)
				}
				measured[p.name].add("wall-ms", wall.Seconds()*1000)
				measured[p.name].add("cpu-ms", cpu.Seconds()*1000)
			}
		}
	}
	for _, p := range providers {
		measured[p.name].report(b, p.name)
	}
}
