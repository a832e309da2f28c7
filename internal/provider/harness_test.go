// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// harness is a simulated service and a provider that talks to it, both on one
// virtual clock: jobs and links take their time, tests take none. Every exchange is
// checked against the contract. A test runs either steps of plugin-testing (run) or,
// for what those cannot do, commands of the CLI (cli).
type harness struct {
	*simulator.Server
	clock *clock.Virtual
	env   map[string]string
}

// startOfTime is when every test begins.
var startOfTime = time.Date(2030, time.January, 31, 12, 0, 0, 0, time.UTC)

// newHarness starts a service. The harness sets the clock and the observer.
func newHarness(t *testing.T, options simulator.Options) *harness {
	t.Helper()
	h := &harness{clock: clock.NewVirtual(startOfTime)}
	options.Now = h.clock.Now
	options.Observe = contract.New(t).Check
	server, err := simulator.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	h.Server = server
	h.env = map[string]string{baseURLVariable: server.BaseURL, apiKeyVariable: simulator.DefaultAPIKey}
	return h
}

// server constructs the provider under test, configured by the harness's environment.
func (h *harness) server() func() tfprotov6.ProviderServer {
	return NewServer(Options{Version: "test", Getenv: func(name string) string { return h.env[name] }, Clock: h.clock})
}

// run runs the steps of an acceptance test in parallel with other tests.
func (h *harness) run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	h.runSince(t, tfversion.Version1_0_0, steps...)
}

// runSince is run for steps that need a Terraform of at least the given version.
func (h *harness) runSince(t *testing.T, oldest *version.Version, steps ...resource.TestStep) {
	t.Helper()
	resource.ParallelTest(t, resource.TestCase{
		IsUnitTest: true,
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"docs": func() (tfprotov6.ProviderServer, error) { return h.server()(), nil },
			"echo": echoprovider.NewProviderServer(),
		},
		TerraformVersionChecks: []tfversion.TerraformVersionCheck{tfversion.SkipBelow(oldest)},
		Steps:                  steps,
	})
}

// wantCounts checks how often each endpoint was called since the last reset of the
// request log.
func (h *harness) wantCounts(t *testing.T, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for endpoint := range want {
		got[endpoint] = h.Count(endpoint)
	}
	if !maps.Equal(got, want) {
		t.Errorf("requests: got %v, want %v", got, want)
	}
}

// cli runs commands of the real CLI with the provider of a harness.
type cli struct {
	*harness
	*clitest.CLI
}

const requireProvider = `terraform {
  required_providers {
    docs = { source = "docs-hosting/docs" }
  }
}
`

// cli returns a CLI with a configuration. It skips the test if there is no CLI.
func (h *harness) cli(t *testing.T, config string) *cli {
	t.Helper()
	c := &cli{h, clitest.New(t, "docs-hosting/docs", h.server())}
	c.write(t, config)
	return c
}

// write replaces the configuration.
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

// state returns the attributes of a resource in the state, nil if it is not there.
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
	for _, r := range state.Values.RootModule.Resources {
		if r.Address == address {
			return r.Values
		}
	}
	return nil
}
