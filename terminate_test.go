// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// serveVariable makes the program of the tests be the provider, which the CLI starts.
const serveVariable = "DOCS_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Service managers and job wrappers end a run with a signal to its whole process group.
func TestTerminationOfTheProcessGroupKeepsTheJob(t *testing.T) {
	t.Parallel()
	service, err := simulator.Listen(simulator.Options{Queue: -1, Run: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = service.Close() })
	c := clitest.New(t, "docs-hosting/docs", provider.NewServer(provider.Options{}))
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(c.Folder, "terraform-provider-docs"))
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Write(t, "cli.tfrc", fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"docs-hosting/docs\" = %q\n  }\n  direct {}\n}\n", c.Folder))
	c.Env = append(c.Env, "TF_REATTACH_PROVIDERS=", "TF_CLI_CONFIG_FILE="+c.Folder+"/cli.tfrc", serveVariable+"=1",
		"DOCS_BASE_URL="+service.BaseURL, "DOCS_API_KEY="+simulator.DefaultAPIKey)

	for i, fault := range []simulator.Fault{
		{Endpoint: simulator.EndpointJob, Delay: simulator.Forever},
		{Endpoint: simulator.EndpointStart, Delay: time.Second}, // the response comes after the signal
	} {
		c.Write(t, "main.tf", c.Require()+fmt.Sprintf("resource \"docs_static_export\" \"site\" {\n  domain = \"docs.example.com\"\n  triggers = { revision = %d }\n}\n", i))
		service.ResetRequests()
		remove := service.AddFault(fault)
		output := terminate(t, c, func() bool { return service.Count(fault.Endpoint) > 0 })
		remove()
		if !strings.Contains(output, "Static export interrupted") {
			t.Errorf("the terminated apply says:\n%s", output)
		}
		c.Run(t, 0, "apply", "-auto-approve")
		c.Run(t, 0, "plan", "-detailed-exitcode")
		if starts := service.Count(simulator.EndpointStart); starts != 1 {
			t.Errorf("%d start requests in all, want 1; the terminated apply says:\n%s", starts, output)
		}
	}
}

// terminate runs an apply in a process group of its own, ends all its processes as soon as
// the condition holds, and returns the output.
func terminate(t *testing.T, c *clitest.CLI, condition func() bool) string {
	t.Helper()
	command, output := c.Command("apply", "-auto-approve", "-no-color")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(time.Minute); !condition() && time.Now().Before(end); {
		<-look.C
	}
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err == nil {
		t.Errorf("the terminated apply succeeded:\n%s", output)
	}
	if err := syscall.Kill(-command.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a process is left: %v", err)
	}
	return output.String()
}
