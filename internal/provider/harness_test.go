// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// harness is a simulated service and a provider that talks to it, both on one
// virtual clock: jobs and links take their time, tests take none.
type harness struct {
	*simulator.Server
	clock *simulator.VirtualClock
	env   map[string]string
}

// startOfTime is when every test begins.
var startOfTime = time.Date(2030, time.January, 31, 12, 0, 0, 0, time.UTC)

// newHarness starts a service. Its clock is the harness's, whatever the options
// say.
func newHarness(t *testing.T, options simulator.Options) *harness {
	t.Helper()
	h := &harness{clock: simulator.NewVirtualClock(startOfTime)}
	options.Clock = h.clock
	server, err := simulator.Listen(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	h.Server = server
	h.env = map[string]string{"DOCS_BASE_URL": server.BaseURL, "DOCS_API_KEY": simulator.DefaultAPIKey}
	return h
}

// factories are the provider under test, configured by the harness's own
// environment, and the echo provider for ephemeral values.
func (h *harness) factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"docs": func() (tfprotov6.ProviderServer, error) { return NewServer(h.options())(), nil },
		"echo": echoprovider.NewProviderServer(),
	}
}

func (h *harness) options() Options {
	return Options{
		Version:    "test",
		Getenv:     func(name string) string { return h.env[name] },
		HTTPClient: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()},
		Clock:      h.clock,
	}
}

// run runs the steps of an acceptance test, in parallel with other tests.
func (h *harness) run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	h.runSince(t, tfversion.Version1_0_0, steps...)
}

// runSince is run for steps that an older Terraform lacks something for.
func (h *harness) runSince(t *testing.T, oldest *version.Version, steps ...resource.TestStep) {
	t.Helper()
	resource.ParallelTest(t, resource.TestCase{
		IsUnitTest:               true,
		ProtoV6ProviderFactories: h.factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(oldest)},
		Steps:                    steps,
	})
}

// wantCounts checks how often each endpoint was called, since the last reset of
// the log.
func (h *harness) wantCounts(t *testing.T, want map[string]int) {
	t.Helper()
	if err := h.checkCounts(want); err != nil {
		t.Error(err)
	}
}

func (h *harness) checkCounts(want map[string]int) error {
	for endpoint, count := range want {
		if got := h.Count(endpoint); got != count {
			return fmt.Errorf("%d requests to %q, want %d", got, endpoint, count)
		}
	}
	return nil
}
