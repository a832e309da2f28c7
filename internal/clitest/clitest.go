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
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// cliVariable is what terraform-plugin-testing reads, too.
const cliVariable = "TF_ACC_TERRAFORM_PATH"

// Find returns the path of the CLI that the tests use: the one that TF_ACC_TERRAFORM_PATH names, else
// terraform on PATH, else tofu. If there is none, it skips the test. In CI, or if the variable names
// one that is missing, the test fails instead.
func Find(t testing.TB) string {
	t.Helper()
	binary, err := find()
	if err != nil && os.Getenv(cliVariable) != "" {
		t.Fatalf("%s: %v", cliVariable, err)
	}
	need(t, err)
	return binary
}

// Program returns the path of another program on PATH. If there is none, it skips the test, except in
// CI, where the test fails.
func Program(t testing.TB, name string) string {
	t.Helper()
	binary, err := exec.LookPath(name)
	need(t, err)
	return binary
}

// Setenv makes terraform-plugin-testing use the same CLI. Otherwise, it would look for terraform, or
// download it. For TestMain: it changes the environment of the process.
func Setenv() {
	binary, err := find()
	if err != nil {
		return // Find reports it to each test
	}
	_ = os.Setenv(cliVariable, binary) // these names are valid
	for name, value := range settings {
		_ = os.Setenv(name, value)
	}
	if isOpenTofu(binary) {
		_ = os.Setenv("TF_ACC_PROVIDER_HOST", tofuRegistry)
	}
}

func find() (binary string, err error) {
	names := []string{"terraform", "tofu"}
	if named := os.Getenv(cliVariable); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if binary, err = exec.LookPath(name); err == nil {
			return filepath.Abs(binary)
		}
	}
	return "", fmt.Errorf("%s: %w", strings.Join(names, " or "), err)
}

// need skips the test if a program is missing. In CI, the test fails. The error names the program.
func need(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatalf("needs a program: %v", err)
	default:
		t.Skipf("needs a program: %v", err)
	}
}

// tofuRegistry is the registry that an unqualified source address means to OpenTofu.
const tofuRegistry = "registry.opentofu.org"

// isOpenTofu judges by the name of the program.
func isOpenTofu(binary string) bool { return strings.Contains(filepath.Base(binary), "tofu") }

// settings keep the developer's settings, and a check for updates, away from a command. A command ends too soon for
// garbage collection to be worth a sixth of its time.
var settings = map[string]string{
	"TF_CLI_CONFIG_FILE": os.DevNull, "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1", "GOGC": "off",
}

// environment returns that of the process, with the settings.
func environment() []string {
	all := os.Environ()
	for name, value := range settings {
		all = append(all, name+"="+value)
	}
	return all
}

// CLI runs commands in a folder of its own.
type CLI struct {
	Binary string
	// Folder has forward slashes on every system, so it can be part of a configuration.
	Folder string
	// Env is the whole environment of each command.
	Env []string

	source    string
	providers map[string]any
}

// New returns a CLI that uses the server until the test ends. The source is the address of the
// provider without a host, such as "docs-hosting/docs".
func New(t *testing.T, source string, server func() tfprotov6.ProviderServer) *CLI {
	t.Helper()
	c := &CLI{Binary: Find(t), Folder: filepath.ToSlash(t.TempDir()), source: source, providers: map[string]any{}}
	// The race detector would make each provider that the CLI starts end a second later.
	c.Env = append(environment(), "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0")
	c.Serve(t, source, server)
	return c
}

// OwnProcess makes the CLI start the test's own program as the provider, with more variables in its environment.
func (c *CLI) OwnProcess(t *testing.T, env ...string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(c.Folder, "terraform-provider-"+path.Base(c.source)))
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Write(t, "cli.tfrc", fmt.Sprintf("provider_installation {\n  dev_overrides {\n    %q = %q\n  }\n  direct {}\n}\n", c.source, c.Folder))
	c.Env = append(c.Env, append(env, "TF_REATTACH_PROVIDERS=", "TF_CLI_CONFIG_FILE="+c.Folder+"/cli.tfrc")...)
}

// Serve makes the CLI use one more server until the test ends.
func (c *CLI) Serve(t *testing.T, source string, server func() tfprotov6.ProviderServer) {
	t.Helper()
	address := "registry.terraform.io/" + source
	if c.IsOpenTofu() {
		address = tofuRegistry + "/" + source
	}
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
	c.providers[address] = map[string]any{
		"Protocol":        string(config.Protocol),
		"ProtocolVersion": config.ProtocolVersion,
		"Pid":             config.Pid,
		"Test":            config.Test,
		"Addr":            map[string]string{"Network": config.Addr.Network(), "String": config.Addr.String()},
	}
	reattach, err := json.Marshal(c.providers)
	if err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "TF_REATTACH_PROVIDERS="+string(reattach))
}

// IsOpenTofu reports whether the CLI is OpenTofu.
func (c *CLI) IsOpenTofu() bool { return isOpenTofu(c.Binary) }

// Require returns a block that takes the provider from its source.
func (c *CLI) Require() string {
	return fmt.Sprintf("terraform {\n  required_providers {\n    %s = { source = %q }\n  }\n}\n", path.Base(c.source), c.source)
}

// Write writes a file in the folder.
func (c *CLI) Write(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(c.Folder, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// version returns what the CLI says of its version, which is the same in each test.
var version = sync.OnceValues(func() (string, error) {
	binary, err := find()
	if err != nil {
		return "", err
	}
	command := exec.Command(binary, "version") //nolint:noctx // it returns at once
	command.Env = environment()
	said, err := command.Output()
	return string(said), err
})

// SkipBelow skips the test if the CLI is older than Terraform 1.x, where x is the argument terraform,
// or than OpenTofu 1.x, where x is tofu. Older versions lack what the test needs.
func (c *CLI) SkipBelow(t *testing.T, terraform, tofu int, need string) {
	t.Helper()
	oldest := terraform
	if c.IsOpenTofu() {
		oldest = tofu
	}
	var name string
	var minor int
	said, err := version()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(said, "%s v1.%d.", &name, &minor); err == nil && minor < oldest {
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

// Run runs a command, fails the test if its exit code is not the expected one, and returns the output.
func (c *CLI) Run(t *testing.T, wantExit int, args ...string) string {
	t.Helper()
	command, output := c.Command(append(args, "-no-color")...)
	err := command.Run()
	if exit := command.ProcessState.ExitCode(); exit != wantExit {
		t.Fatalf("%s %s ended with %d (%v), want %d:\n%s", filepath.Base(c.Binary), strings.Join(args, " "), exit, err, wantExit, output)
	}
	return output.String()
}
