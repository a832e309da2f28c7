//go:build linux

package bench

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	ownSource  = "registry.terraform.io/docs-hosting/docs"
	ownVersion = "0.0.1"
)

// cli is a Terraform or OpenTofu that takes the provider, built as a release is, from one mirror
// and its peers from another, the directory in PEERS.
type cli struct {
	binary string
	env    []string
}

func newCLI(b *testing.B) *cli {
	b.Helper()
	binary, err := exec.LookPath(cmp.Or(os.Getenv("TF_ACC_TERRAFORM_PATH"), "terraform"))
	if err != nil {
		b.Fatal(err)
	}
	mirror := filepath.Join(b.TempDir(), "mirror")
	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o",
		filepath.Join(mirror, ownSource, ownVersion, runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-docs_v"+ownVersion), ".")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building the provider: %v\n%s", err, output)
	}
	config := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path    = %q\n    include = [%q]\n  }\n", mirror, ownSource)
	if peers := os.Getenv("PEERS"); peers != "" {
		config += fmt.Sprintf("  filesystem_mirror {\n    path    = %q\n    exclude = [%q]\n  }\n", peers, ownSource)
	}
	file := filepath.Join(b.TempDir(), "cli.tfrc")
	write(b, file, config+"}\n")
	c := &cli{binary, []string{"TF_CLI_CONFIG_FILE=" + file, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1"}}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "TF_") && !strings.HasPrefix(variable, "DOCS_") {
			c.env = append(c.env, variable)
		}
	}
	return c
}

// workspace is a folder with an initialized configuration.
type workspace struct {
	*cli
	folder string
}

// workspace returns nil if the provider is a peer that cannot be had.
func (c *cli) workspace(b *testing.B, source, config string) *workspace {
	b.Helper()
	w := &workspace{c, b.TempDir()}
	if source != "" {
		config = fmt.Sprintf("terraform {\n  required_providers {\n    %s = { source = %q }\n  }\n}\n\n%s", path.Base(source), source, config)
	}
	write(b, filepath.Join(w.folder, "main.tf"), config)
	if _, _, err := w.run("init", "-input=false"); err != nil {
		if source == ownSource || source == "" {
			b.Fatal(err)
		}
		b.Logf("left out: %v", err)
		return nil
	}
	return w
}

func (w *workspace) run(args ...string) (wall, cpu time.Duration, err error) {
	command := exec.Command(w.binary, args...)
	command.Dir, command.Env = w.folder, w.env
	return measure(command)
}

// measure runs a command and returns its wall time and the CPU time of it and its
// children.
func measure(command *exec.Cmd) (wall, cpu time.Duration, err error) {
	began := time.Now()
	if output, err := command.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, output)
	}
	return time.Since(began), command.ProcessState.UserTime() + command.ProcessState.SystemTime(), nil
}

func write(b *testing.B, name, content string) {
	b.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		b.Fatal(err)
	}
}

// medians are the figures of several runs, by unit.
type medians map[string][]float64

func (m medians) add(unit string, value float64) { m[unit] = append(m[unit], value) }

// report reports earlier measurements, which alternated with the peers', as a benchmark.
func (m medians) report(b *testing.B, name string) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() { //nolint:revive // it was measured before
		}
		for unit, values := range m {
			slices.Sort(values)
			b.ReportMetric(values[len(values)/2], unit)
		}
		b.ReportMetric(0, "ns/op")
	})
}
