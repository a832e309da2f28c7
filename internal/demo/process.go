// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// gracePeriod is how long an interrupted child may take to end by itself.
const gracePeriod = 20 * time.Second

// command is a child process in a process group of its own. A terminal's interrupt so reaches only
// the demo, which passes it on once: Terraform takes a second one as the order to drop everything.
type command struct{ *exec.Cmd }

func (d *demo) command(ctx context.Context, name string, args ...string) *command {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = d.out, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = gracePeriod
	return &command{cmd}
}

// run waits for the child, and ends whatever it left in its process group (a plugin, a compiler).
func (c *command) run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.wait()
}

func (c *command) wait() error {
	err := c.Wait()
	if kill := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); kill != nil && !errors.Is(kill, syscall.ESRCH) {
		err = errors.Join(err, kill)
	}
	return err
}

// output runs the child and returns what it printed.
func (c *command) output() (string, error) {
	var printed bytes.Buffer
	c.Stdout = &printed
	err := c.run()
	return printed.String(), err
}

// environment is the caller's, less what would reach into the demo, and with extra.
func environment(extra ...string) []string {
	var env []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "TF_") && !strings.HasPrefix(variable, "DOCS_") {
			env = append(env, variable)
		}
	}
	return append(env, extra...)
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// simulator is the running simulator. The zero value is one that was not started.
type simulator struct {
	baseURL string
	apiKey  string
	cmd     *command
	cancel  context.CancelFunc
}

// startSimulator starts the program and reads where it listens. It outlives ctx, so that an
// interrupted Terraform can end in peace; stop ends it.
func (d *demo) startSimulator(ctx context.Context) error {
	simCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.sim.cancel = cancel
	defer context.AfterFunc(ctx, cancel)()

	cmd := d.command(simCtx, d.simulatorPath(), "-address", "127.0.0.1:0", "-job-duration", jobDuration.String())
	cmd.Stdout = nil
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	d.sim.cmd = cmd

	lines := bufio.NewScanner(stdout)
	for _, value := range []struct {
		name string
		to   *string
	}{{"base_url", &d.sim.baseURL}, {"api_key", &d.sim.apiKey}} {
		lines.Scan()
		found := false
		if *value.to, found = strings.CutPrefix(lines.Text(), value.name+"="); !found {
			return fmt.Errorf("the simulator did not print its %s", value.name)
		}
	}

	d.env = environment(
		"TF_CLI_CONFIG_FILE="+d.cliConfig(),
		"DOCS_BASE_URL="+d.sim.baseURL,
		"DOCS_API_KEY="+d.sim.apiKey,
	)
	fmt.Fprintf(d.out, "DOCS_BASE_URL=%s\nDOCS_API_KEY=%s\n", d.sim.baseURL, d.sim.apiKey)
	return nil
}

// stop interrupts the simulator and waits for its end, which must be a clean one.
func (s *simulator) stop() error {
	if s.cancel == nil {
		return nil
	}
	s.cancel()
	if s.cmd == nil {
		return nil
	}
	if err := s.cmd.wait(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("stopping the simulator: %w", err)
	}
	return nil
}
