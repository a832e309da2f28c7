// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package clitest lets a test run the real Terraform or OpenTofu with a provider that stays in the
// test's own process: for what plugin-testing cannot do, such as a plan that is applied later, an
// interrupt, or a configuration of several files. It knows nothing of the provider under test.
package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// CLI runs commands in a folder of its own.
type CLI struct {
	Binary string
	Folder string
	// Env is the whole environment of each command.
	Env []string

	providers map[string]any
}

// New offers the server to the CLI that TF_ACC_TERRAFORM_PATH names, or terraform on PATH, for as
// long as the test runs. The source is that of the provider without a host, such as
// "docs-hosting/docs". The test is skipped where there is no CLI.
func New(t *testing.T, source string, server func() tfprotov6.ProviderServer) *CLI {
	t.Helper()
	binary := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if binary == "" {
		binary = "terraform"
	}
	binary, err := exec.LookPath(binary)
	if err != nil {
		t.Skip("needs terraform on PATH")
	}
	c := &CLI{Binary: binary, Folder: t.TempDir(), providers: map[string]any{}}
	c.Env = append(os.Environ(),
		"TF_CLI_CONFIG_FILE="+os.DevNull,
		"CHECKPOINT_DISABLE=1",
		"TF_IN_AUTOMATION=1")
	c.Serve(t, source, server)
	return c
}

// Serve offers one more server to the CLI for as long as the test runs.
func (c *CLI) Serve(t *testing.T, source string, server func() tfprotov6.ProviderServer) {
	t.Helper()
	host := "registry.terraform.io/"
	if c.IsOpenTofu() {
		host = "registry.opentofu.org/"
	}
	c.providers[host+source] = serve(t, host+source, server)
	reattach, err := json.Marshal(c.providers)
	if err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "TF_REATTACH_PROVIDERS="+string(reattach))
}

// IsOpenTofu tells by the name of the program, as an unqualified source address means another
// registry to it.
func (c *CLI) IsOpenTofu() bool {
	return strings.Contains(filepath.Base(c.Binary), "tofu")
}

// SkipBelow skips the test under a Terraform or an OpenTofu older than the minor versions of 1 that
// are given, which lack what the test needs.
func (c *CLI) SkipBelow(t *testing.T, terraform, tofu int, need string) {
	t.Helper()
	oldest := terraform
	if c.IsOpenTofu() {
		oldest = tofu
	}
	var name string
	var minor int
	version := c.Run(t, 0, "version")
	if _, err := fmt.Sscanf(version, "%s v1.%d.", &name, &minor); err == nil && minor < oldest {
		t.Skipf("needs %s: this is %s v1.%d", need, name, minor)
	}
}

// Command returns a command that writes all its output to one place.
func (c *CLI) Command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	command := exec.Command(c.Binary, args...) //nolint:noctx // a test waits for its commands
	command.Dir, command.Env = c.Folder, c.Env
	output := &bytes.Buffer{}
	command.Stdout, command.Stderr = output, output
	return command, output
}

// Run runs a command that has to end with the exit code that is wanted, and returns its output.
func (c *CLI) Run(t *testing.T, wantExit int, args ...string) string {
	t.Helper()
	command, output := c.Command(append(args, "-no-color")...)
	err := command.Run()
	if exit := command.ProcessState.ExitCode(); exit != wantExit {
		t.Fatalf("terraform %s ended with %d (%v), want %d:\n%s", strings.Join(args, " "), exit, err, wantExit, output)
	}
	return output.String()
}

// serve starts the server and returns its entry in TF_REATTACH_PROVIDERS.
func serve(t *testing.T, address string, server func() tfprotov6.ProviderServer) any {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	configs, closed := make(chan *plugin.ReattachConfig), make(chan struct{})
	go func() {
		_ = tf6server.Serve(address, server,
			tf6server.WithDebug(ctx, configs, closed), tf6server.WithLoggingSink(t), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
	}()
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	config := <-configs
	return map[string]any{
		"Protocol":        string(config.Protocol),
		"ProtocolVersion": config.ProtocolVersion,
		"Pid":             config.Pid,
		"Test":            config.Test,
		"Addr":            map[string]string{"Network": config.Addr.Network(), "String": config.Addr.String()},
	}
}
