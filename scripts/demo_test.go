//go:build unix

// Package scripts tests the scripts of this directory.
package scripts

import (
	"bufio"
	"errors"
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

func TestDemoCleansUpWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		signal syscall.Signal
		status int
	}{
		"by Ctrl-C":         {syscall.SIGINT, 130},
		"by a canceled job": {syscall.SIGTERM, 143},
		"by a closed pipe":  {syscall.SIGPIPE, 141},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range programs {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			temp := filepath.Join(dir, "temp")
			running, inherited, err := os.Pipe() // running ends when no process is left
			if err := errors.Join(err, os.Mkdir(temp, 0o700)); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = running.Close() }()
			demo := exec.CommandContext(t.Context(), "./demo.sh", "terraform")
			demo.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TMPDIR="+temp)
			demo.ExtraFiles = []*os.File{inherited}
			output, err := demo.StdoutPipe()
			demo.Stderr = demo.Stdout
			if err := errors.Join(err, demo.Start(), inherited.Close()); err != nil {
				t.Fatal(err)
			}

			lines := bufio.NewScanner(output)
			for lines.Scan() && lines.Text() != "waiting" {
			}
			if test.signal == syscall.SIGPIPE {
				_ = output.Close()
			}
			if err := demo.Process.Signal(test.signal); err != nil {
				t.Fatal(err)
			}
			interrupted := 0
			for lines.Scan() {
				if lines.Text() == "interrupted" {
					interrupted++
				}
			}
			if test.signal != syscall.SIGPIPE && interrupted != 1 {
				t.Errorf("the CLI was interrupted %d times, want 1", interrupted)
			}
			_ = demo.Wait()
			if got := demo.ProcessState.ExitCode(); got != test.status {
				t.Errorf("the exit status is %d, want %d", got, test.status)
			}
			_ = running.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.ReadAll(running); err != nil {
				t.Errorf("a process is still running: %v", err)
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("it leaves %v, %v", left, err)
			}
		})
	}
}
