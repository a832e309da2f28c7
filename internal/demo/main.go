// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

// Command demo shows the provider's main job: a real Terraform or OpenTofu exports a site from the
// simulator with the configuration in examples/quickstart, and the bundle is downloaded. It needs
// no registry and no account, works in a temporary directory and leaves nothing behind, also when
// it is interrupted or a step fails. Run it from the root of the repository.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

const (
	quickstart = "examples/quickstart"
	// The version that the provider is installed under in the local mirror: the oldest that the
	// quickstart accepts.
	providerVersion = "0.1.0"
	jobDuration     = 5 * time.Second
)

const noCLI = `%[1]s is not on PATH. Install Terraform (https://developer.hashicorp.com/terraform/install)
or OpenTofu (https://opentofu.org/docs/intro/install/), or fetch Terraform into this checkout with

  go run github.com/hashicorp/hc-install/cmd/hc-install@v0.9.5 install -version 1.11.4 -path .bin terraform

and run: make demo TF=.bin/terraform`

func main() {
	// SIGPIPE too, so that `make demo | head` cleans up.
	ctx, stop := signal.NotifyContext(context.Background(),
		os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo is what the steps share.
type demo struct {
	out     io.Writer
	cli     string // absolute path of terraform or tofu
	scratch string // temporary directory of this run
	env     []string
	sim     simulator
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	tf := flags.String("tf", "terraform", "`path` or name of terraform or tofu")
	keep := flags.Bool("keep", false, "keep the simulator up at the end, to go on by hand")
	if err := flags.Parse(args); err != nil {
		return err
	}

	cli, err := exec.LookPath(*tf)
	if err != nil {
		return fmt.Errorf(noCLI, *tf)
	}
	if cli, err = filepath.Abs(cli); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "docs-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	d := &demo{out: out, cli: cli, scratch: scratch}
	defer func() { err = errors.Join(err, d.sim.stop()) }()

	started := time.Now()
	name := filepath.Base(cli)
	steps := []struct {
		title string
		do    func(context.Context) error
	}{
		{"Build the provider and the simulator", d.build},
		{"Start the simulator", d.startSimulator},
		{name + " init, from a local mirror", d.terraform("init", "-input=false")},
		{name + " apply", d.terraform("apply", "-input=false", "-auto-approve")},
		{name + " output", d.terraform("output")},
		{"Download the bundle through its link", d.listBundle},
		{name + " plan: nothing to do", d.planIsEmpty},
	}
	for _, step := range steps {
		if err := d.step(ctx, step.title, step.do); err != nil {
			return err
		}
	}
	if *keep {
		d.printEnvironment()
		<-ctx.Done()
		return nil
	}
	if err := d.step(ctx, name+" destroy", d.terraform("destroy", "-input=false", "-auto-approve")); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nDone in %.0f s.\n", time.Since(started).Seconds())
	return nil
}

// step prints the title and runs do. An interrupt is told as one, whatever do made of it.
func (d *demo) step(ctx context.Context, title string, do func(context.Context) error) error {
	fmt.Fprintf(d.out, "\n==> %s\n", title)
	err := do(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", title, context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	return nil
}

// build lays out the scratch directory: the simulator, a mirror that holds the provider, a CLI
// configuration that knows only this mirror, and a copy of the quickstart.
func (d *demo) build(ctx context.Context) error {
	provider := filepath.Join(d.scratch, "terraform-provider-docs_v"+providerVersion)
	if err := d.command(ctx, "go", "build", "-ldflags", "-X main.version="+providerVersion, "-o", provider, ".").run(); err != nil {
		return err
	}
	if err := d.command(ctx, "go", "build", "-o", d.simulatorPath(), "./internal/simulator/cmd/simulator").run(); err != nil {
		return err
	}

	// Terraform and OpenTofu read the same source address as one of a different registry.
	for _, registry := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		dir := filepath.Join(d.mirror(), registry, "docs-hosting/docs", providerVersion, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := os.Link(provider, filepath.Join(dir, filepath.Base(provider))); err != nil {
			return err
		}
	}
	config := fmt.Sprintf("disable_checkpoint = true\n\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", d.mirror())
	if err := os.WriteFile(d.cliConfig(), []byte(config), 0o600); err != nil {
		return err
	}
	return d.copyQuickstart()
}

// copyQuickstart copies the configuration only: a checkout may hold state and plugins of its user.
func (d *demo) copyQuickstart() error {
	files, err := filepath.Glob(filepath.Join(quickstart, "*.tf"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no configuration in %s: run this from the root of the repository", quickstart)
	}
	if err := os.Mkdir(d.workDir(), 0o700); err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(d.workDir(), filepath.Base(file)), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// terraform returns a step that runs the CLI in the copy of the quickstart.
func (d *demo) terraform(args ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return d.cliCommand(ctx, args...).run()
	}
}

func (d *demo) cliCommand(ctx context.Context, args ...string) *command {
	if !isTerminal(d.out) {
		args = slices.Insert(args, 1, "-no-color")
	}
	cmd := d.command(ctx, d.cli, args...)
	cmd.Dir = d.workDir()
	cmd.Env = d.env
	return cmd
}

func (d *demo) planIsEmpty(ctx context.Context) error {
	err := d.cliCommand(ctx, "plan", "-input=false", "-detailed-exitcode").run()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 2 {
		return errors.New("the second plan is not empty")
	}
	return err
}

func (d *demo) listBundle(ctx context.Context) error {
	link, err := d.cliCommand(ctx, "output", "-raw", "bundle_url").output()
	if err != nil {
		return err
	}
	return listPages(ctx, d.out, link)
}

// printEnvironment says how to go on by hand.
func (d *demo) printEnvironment() {
	fmt.Fprintf(d.out, `
The simulator runs until you interrupt this. To go on by hand, paste into another terminal:

  cd '%s'
  export TF_CLI_CONFIG_FILE='%s'
  export DOCS_BASE_URL='%s'
  export DOCS_API_KEY='%s'
  %s plan
`, d.workDir(), d.cliConfig(), d.sim.baseURL, d.sim.apiKey, d.cli)
}

func (d *demo) simulatorPath() string { return filepath.Join(d.scratch, "simulator") }
func (d *demo) mirror() string        { return filepath.Join(d.scratch, "mirror") }
func (d *demo) cliConfig() string     { return filepath.Join(d.scratch, "cli.tfrc") }
func (d *demo) workDir() string       { return filepath.Join(d.scratch, "quickstart") }
