// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Command report runs the benchmarks of this module and prints one table: each
// goal, what was measured of this provider and of its peer, and whether the goal
// is met. It exits with 1 if one is missed.
//
//	go run ./cmd/report [pattern of benchmarks to run]
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

func main() {
	pattern := "."
	if len(os.Args) > 1 {
		pattern = os.Args[1]
	}
	met, err := run(pattern, os.Stdout, os.Stderr)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "report:", err)
	}
	if err != nil || !met {
		os.Exit(1)
	}
}

// run measures what the pattern selects and reports the goals it has figures of.
func run(pattern string, stdout, stderr io.Writer) (met bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", pattern, "-benchtime", "1x", ".") //nolint:gosec // the pattern is an argument, and no shell reads it
	cmd.Stdout = io.MultiWriter(&output, stderr)
	cmd.Stderr = stderr
	if err := cmd.Run(); err != nil {
		return false, fmt.Errorf("the benchmarks failed: %w", err)
	}
	return report(stdout, parse(&output))
}
