// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
)

// cli runs the real Terraform with the provider of a harness.
type cli struct {
	*harness
	*clitest.CLI
}

// newCLI skips the test where there is no Terraform to run.
func (h *harness) newCLI(t *testing.T, config string) *cli {
	t.Helper()
	c := &cli{h, clitest.New(t, "docs-hosting/docs", NewServer(h.options()))}
	c.write(t, config)
	return c
}

const requireProvider = `terraform {
  required_providers {
    docs = { source = "docs-hosting/docs" }
  }
}
`

// write replaces the folder's configuration.
func (c *cli) write(t *testing.T, config string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.Folder, "main.tf"), []byte(requireProvider+config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantEmptyPlan checks that there is nothing to do.
func (c *cli) wantEmptyPlan(t *testing.T, flags ...string) {
	t.Helper()
	c.Run(t, 0, append([]string{"plan", "-input=false", "-detailed-exitcode"}, flags...)...)
}

// state returns the attributes of a resource in the state.
func (c *cli) state(t *testing.T, address string) map[string]any {
	t.Helper()
	var state struct {
		Values struct {
			RootModule struct {
				Resources []struct {
					Address string
					Values  map[string]any
				}
			} `json:"root_module"`
		}
	}
	if err := json.Unmarshal([]byte(c.Run(t, 0, "show", "-json")), &state); err != nil {
		t.Fatal(err)
	}
	for _, resource := range state.Values.RootModule.Resources {
		if resource.Address == address {
			return resource.Values
		}
	}
	return nil
}

// read returns the content of a file in the folder.
func (c *cli) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.Folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
