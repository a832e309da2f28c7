// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package bench

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var (
	cliPath    = flag.String("cli", "", "the Terraform or OpenTofu to measure with; terraform on PATH if empty")
	peerMirror = flag.String("peers", "", "directory to take the providers to compare with from, as `terraform providers mirror` fills it; the registry if empty")
)

const (
	ownSource  = "registry.terraform.io/docs-hosting/docs"
	ownVersion = "0.0.1"
)

// cli is a Terraform or OpenTofu that finds the provider in a mirror of its own.
type cli struct {
	binary string
	env    []string
}

// newCLI builds the provider as a release does.
func newCLI(b *testing.B) *cli {
	b.Helper()
	binary, err := exec.LookPath(cmp.Or(*cliPath, "terraform"))
	if err != nil {
		b.Skip("needs terraform on PATH, or -cli")
	}
	folder := b.TempDir()
	mirror := filepath.Join(folder, "mirror")
	buildProvider(b, filepath.Join(mirror, ownSource, ownVersion, runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-docs_v"+ownVersion))
	peers := "direct {\n    exclude = [\"" + ownSource + "\"]\n  }"
	if *peerMirror != "" {
		from, err := filepath.Abs(*peerMirror)
		if err != nil {
			b.Fatal(err)
		}
		peers = fmt.Sprintf("filesystem_mirror {\n    path    = %q\n    exclude = [%q]\n  }", from, ownSource)
	}
	config := filepath.Join(folder, "cli.tfrc")
	write(b, config, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path    = %q\n    include = [%q]\n  }\n  %s\n}\n", mirror, ownSource, peers))

	c := &cli{binary: binary}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "TF_") && !strings.HasPrefix(variable, "DOCS_") {
			c.env = append(c.env, variable)
		}
	}
	c.env = append(c.env, "TF_CLI_CONFIG_FILE="+config, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1")
	version := exec.Command(binary, "version")
	version.Env = c.env
	output, err := version.Output()
	if err != nil {
		b.Fatal(err)
	}
	name, _, _ := strings.Cut(string(output), "\n")
	announce("cli", name)
	return c
}

// announce says what is measured with, in the way that benchmarks say what they
// run on.
func announce(key, value string) {
	_, _ = fmt.Fprintf(os.Stdout, "%s: %s\n", key, value)
}

func buildProvider(b *testing.B, to string) {
	b.Helper()
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", to, ".")
	build.Dir = ".." // its module has other dependencies than this one
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building the provider: %v\n%s", err, output)
	}
}

func write(b *testing.B, path, content string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.Fatal(err)
	}
}

// workspace is a folder with a configuration in it.
type workspace struct {
	*cli
	folder string
}

// workspace makes a folder of the configuration and initialises it. That fails
// where a provider is not to be had.
func (c *cli) workspace(b *testing.B, source, config string) (*workspace, error) {
	b.Helper()
	w := &workspace{c, b.TempDir()}
	if source != "" {
		config = fmt.Sprintf("terraform {\n  required_providers {\n    %s = { source = %q }\n  }\n}\n\n%s", path.Base(source), source, config)
	}
	write(b, filepath.Join(w.folder, "main.tf"), config)
	_, err := w.run("init", "-input=false")
	return w, err
}

// run runs a command of the CLI and returns what it cost.
func (w *workspace) run(args ...string) (cost, error) {
	cmd := exec.Command(w.binary, append(args, "-no-color")...)
	cmd.Dir, cmd.Env = w.folder, w.env
	return measure(cmd)
}

// leaveOut says that a peer is not measured; the log of a benchmark that has
// parts is not shown.
func leaveOut(peer string, err error) {
	_, _ = fmt.Fprintf(os.Stderr, "%s is left out: %v\n", peer, err)
}

// announceProvider says which version of a peer is measured.
func (w *workspace) announceProvider(b *testing.B, name string) {
	b.Helper()
	_, version, err := w.provider()
	if err != nil {
		b.Fatal(err)
	}
	announce("provider-"+name, version)
}

// provider returns the program of the one provider that the configuration
// requires, and its version.
func (w *workspace) provider() (program, version string, err error) {
	programs, err := filepath.Glob(filepath.Join(w.folder, ".terraform", "providers", "*", "*", "*", "*", "*", "terraform-provider-*"))
	if err != nil || len(programs) != 1 {
		return "", "", fmt.Errorf("%d programs of providers in %s", len(programs), w.folder)
	}
	return programs[0], filepath.Base(filepath.Dir(filepath.Dir(programs[0]))), nil
}
