// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

// Package scripts tests the scripts of this directory.
package scripts

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// programs replace those that the demo runs. What it builds is the simulator.
var programs = map[string]string{
	"go":        `while [ $# -gt 1 ] && [ "$1" != -o ]; do shift; done; [ $# = 1 ] || cp "$(dirname "$0")/simulator" "$2"`,
	"make":      `exit 0`,
	"simulator": `trap 'exit 0' INT; echo export DOCS_BASE_URL=http://127.0.0.1:1/v1; echo export DOCS_API_KEY=sim_1; sleep 60 & wait`,
	"terraform": `[ "$2" = init ] || { trap 'echo interrupted; exit 1' INT; sleep 60 & echo waiting; wait; }`,
}

// demo is a run of the script with these programs.
type demo struct {
	*exec.Cmd
	output  *os.File
	running *os.File // ends when no process is left
	temp    string
}

func startDemo(t *testing.T) *demo {
	t.Helper()
	dir := t.TempDir()
	d := &demo{Cmd: exec.CommandContext(t.Context(), "./demo.sh", "terraform"), temp: filepath.Join(dir, "temp")}
	if err := os.Mkdir(d.temp, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	pipe := func() (reader, writer *os.File) {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = reader.Close(), writer.Close() })
		return reader, writer
	}
	var output, running *os.File
	d.output, output = pipe()
	d.running, running = pipe()
	d.Stdout, d.Stderr, d.ExtraFiles = output, output, []*os.File{running}
	d.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TMPDIR="+d.temp)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = output.Close(), running.Close()
	return d
}

// wantEnd waits for the end of the script and checks that it leaves nothing
// behind.
func (d *demo) wantEnd(t *testing.T, status int) {
	t.Helper()
	_ = d.Wait()
	if got := d.ProcessState.ExitCode(); got != status {
		t.Errorf("the exit status is %d, want %d", got, status)
	}
	if err := d.running.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(d.running); err != nil {
		t.Errorf("a process is still running: %v", err)
	}
	if left, err := os.ReadDir(d.temp); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

func TestDemoCleansUpWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		signal os.Signal // nil closes the output instead
		status int
	}{
		"by Ctrl-C":         {syscall.SIGINT, 130},
		"by a canceled job": {syscall.SIGTERM, 143},
		"by a closed pipe":  {nil, 141},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDemo(t)
			lines := bufio.NewScanner(d.output)
			for lines.Scan() && lines.Text() != "waiting" {
			}
			if test.signal == nil {
				_ = d.output.Close()
				test.signal = syscall.SIGPIPE
			}
			if err := d.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			interrupted := 0
			for lines.Scan() {
				if lines.Text() == "interrupted" {
					interrupted++
				}
			}
			if test.status != 141 && interrupted != 1 {
				t.Errorf("the CLI was interrupted %d times, want 1", interrupted)
			}
			d.wantEnd(t, test.status)
		})
	}
}
