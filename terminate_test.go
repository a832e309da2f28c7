//go:build unix

package main

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clitest"
	"github.com/docs-hosting/terraform-provider-docs/internal/contract"
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

// newRun returns a service, and a CLI that starts the provider as a process of its own.
func newRun(t *testing.T) (*simulator.Server, *clitest.CLI) {
	t.Helper()
	service := contract.Listen(t, simulator.Options{Queue: -1, Run: time.Second})
	c := clitest.New(t, "docs-hosting/docs", provider.NewServer(provider.Options{}))
	c.OwnProcess(t, serveVariable+"=1", "DOCS_BASE_URL="+service.BaseURL, "DOCS_API_KEY="+simulator.DefaultAPIKey)
	return service, c
}

// Service managers and job wrappers end a run with a signal to its whole process group.
func TestTerminationOfTheProcessGroupKeepsTheJob(t *testing.T) {
	t.Parallel()
	service, c := newRun(t)
	remove := service.AddFault(simulator.Fault{Endpoint: simulator.EndpointStart, Delay: time.Second}) // the response comes after the signal
	output := apply(t, service, c, func(terraform int) error { return syscall.Kill(-terraform, syscall.SIGTERM) })
	remove()
	if !strings.Contains(output, "Static export interrupted") {
		t.Errorf("the terminated apply says:\n%s", output)
	}
	c.Run(t, 0, "apply", "-auto-approve")
	if starts := service.Count(simulator.EndpointStart); starts != 1 {
		t.Errorf("%d start requests in all, want 1; the terminated apply says:\n%s", starts, output)
	}
}

func TestProviderEndsSoonAfterTerraformWasKilled(t *testing.T) {
	t.Parallel()
	service, c := newRun(t)
	service.AddFault(simulator.Fault{Endpoint: simulator.EndpointStart, Delay: simulator.Forever})
	apply(t, service, c, func(terraform int) error { return syscall.Kill(terraform, syscall.SIGKILL) })
}

// apply runs an apply in a process group of its own, and ends it while it starts a job. It returns the output when no
// process of the group is left.
func apply(t *testing.T, service *simulator.Server, c *clitest.CLI, end func(terraform int) error) string {
	t.Helper()
	c.Write(t, "main.tf", c.Require()+"resource \"docs_static_export\" \"site\" {\n  domain = \"docs.example.com\"\n}\n")
	command, output := c.Command("apply", "-auto-approve", "-no-color")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	terraform := command.Process.Pid
	await(t, time.Minute, func() bool { return service.Count(simulator.EndpointStart) > 0 })
	if err := end(terraform); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	await(t, 5*time.Second, func() bool { return errors.Is(syscall.Kill(-terraform, 0), syscall.ESRCH) })
	return output.String()
}

// await waits until a condition holds.
func await(t *testing.T, limit time.Duration, condition func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(limit); !condition(); <-look.C {
		if time.Now().After(end) {
			t.Fatalf("not within %v", limit)
		}
	}
}
