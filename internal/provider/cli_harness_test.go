// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

const providerAddress = "registry.terraform.io/docs-hosting/docs"

// cli runs the real Terraform in a folder of its own, with the provider of a
// harness, which stays in the test's process: for what plugin-testing cannot do,
// such as a plan that is applied later, or an interrupt.
type cli struct {
	*harness
	binary string
	folder string
	env    []string
}

// newCLI skips the test where there is no Terraform to run.
func (h *harness) newCLI(t *testing.T, config string) *cli {
	t.Helper()
	binary := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if binary == "" {
		binary = "terraform"
	}
	binary, err := exec.LookPath(binary)
	if err != nil {
		t.Skip("needs terraform on PATH")
	}
	c := &cli{harness: h, binary: binary, folder: t.TempDir()}
	c.env = append(os.Environ(),
		"TF_CLI_CONFIG_FILE="+os.DevNull,
		"CHECKPOINT_DISABLE=1",
		"TF_IN_AUTOMATION=1",
		"TF_REATTACH_PROVIDERS="+h.serve(t))
	c.write(t, config)
	return c
}

// serve offers the provider to Terraform for as long as the test runs, and
// returns how to attach to it.
func (h *harness) serve(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	configs, closed := make(chan *plugin.ReattachConfig), make(chan struct{})
	go func() {
		_ = tf6server.Serve(providerAddress,
			func() tfprotov6.ProviderServer { return providerserver.NewProtocol6(New(h.options())())() },
			tf6server.WithDebug(ctx, configs, closed), tf6server.WithLoggingSink(t), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
	}()
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	config := <-configs
	reattach, err := json.Marshal(map[string]any{providerAddress: map[string]any{
		"Protocol":        string(config.Protocol),
		"ProtocolVersion": config.ProtocolVersion,
		"Pid":             config.Pid,
		"Test":            config.Test,
		"Addr":            map[string]string{"Network": config.Addr.Network(), "String": config.Addr.String()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return string(reattach)
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
	if err := os.WriteFile(filepath.Join(c.folder, "main.tf"), []byte(requireProvider+config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command returns a Terraform command that writes all its output to one place.
func (c *cli) command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	command := exec.Command(c.binary, args...)
	command.Dir, command.Env = c.folder, c.env
	output := &bytes.Buffer{}
	command.Stdout, command.Stderr = output, output
	return command, output
}

// terraform runs a command that has to end with the exit code that is wanted,
// and returns its output.
func (c *cli) terraform(t *testing.T, wantExit int, args ...string) string {
	t.Helper()
	command, output := c.command(append(args, "-no-color")...)
	err := command.Run()
	if exit := command.ProcessState.ExitCode(); exit != wantExit {
		t.Fatalf("terraform %s ended with %d (%v), want %d:\n%s", strings.Join(args, " "), exit, err, wantExit, output)
	}
	return output.String()
}

// wantEmptyPlan checks that there is nothing to do.
func (c *cli) wantEmptyPlan(t *testing.T, flags ...string) {
	t.Helper()
	c.terraform(t, 0, append([]string{"plan", "-input=false", "-detailed-exitcode"}, flags...)...)
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
	if err := json.Unmarshal([]byte(c.terraform(t, 0, "show", "-json")), &state); err != nil {
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
	content, err := os.ReadFile(filepath.Join(c.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
