// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Command report runs the benchmarks of this module and prints one table: each
// goal, what was measured of this provider and of its peer, and whether the goal
// is met. It exits with 1 if one is missed.
//
//	go run ./cmd/report [-cli path] [-peers directory] [-write file] [pattern of benchmarks to run]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

type options struct {
	pattern, cli, peers, write string
}

func main() {
	var o options
	flag.StringVar(&o.cli, "cli", "", "the Terraform or OpenTofu to measure with; terraform on PATH if empty")
	flag.StringVar(&o.peers, "peers", "", "`directory` to take the providers to compare with from, as `terraform providers mirror` fills it; the registry if empty")
	flag.StringVar(&o.write, "write", "", "`file` to write the table to, too, if no goal is left out")
	flag.Parse()
	o.pattern = "."
	if flag.NArg() > 0 {
		o.pattern = flag.Arg(0)
	}
	met, err := run(o, os.Stdout, os.Stderr)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "report:", err)
	}
	if err != nil || !met {
		os.Exit(1)
	}
}

// run measures what the pattern selects and reports the goals it has figures of.
func run(o options, stdout, stderr io.Writer) (met bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	arguments := []string{"test", "-run", "^$", "-bench", o.pattern, "-benchtime", "1x", "-timeout", "30m", ".", "-cli", o.cli}
	if o.peers != "" {
		peers, err := filepath.Abs(o.peers)
		if err != nil {
			return false, err
		}
		arguments = append(arguments, "-peers", peers)
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", arguments...) //nolint:gosec // the pattern is an argument, and no shell reads it
	cmd.Stdout = io.MultiWriter(&output, stderr)
	cmd.Stderr = stderr
	if err := cmd.Run(); err != nil {
		return false, fmt.Errorf("the benchmarks failed: %w", err)
	}
	var table bytes.Buffer
	v, err := report(&table, parse(&output))
	if err != nil {
		return false, err
	}
	if _, err := stdout.Write(table.Bytes()); err != nil {
		return false, err
	}
	if o.write != "" {
		if !v.complete {
			return v.met, errors.New("the table is not written, as goals are left out: see above what was not found")
		}
		err = os.WriteFile(o.write, table.Bytes(), 0o644)
	}
	return v.met, err
}
