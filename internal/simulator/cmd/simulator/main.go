// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Command simulator serves a simulated documentation hosting service on a
// loopback address until it is interrupted.
//
// It prints the settings of a client as shell commands:
//
//	export DOCS_BASE_URL=http://127.0.0.1:PORT/v1
//	export DOCS_API_KEY=KEY
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulator:", err)
		os.Exit(1)
	}
}

// flags are the settings that are not Options.
type flags struct {
	simulator.Options
	log bool
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.log {
		f.Observe = func(x simulator.Exchange) { fmt.Fprintln(stderr, describe(x)) }
	}
	server, err := simulator.Listen(f.Options)
	if err != nil {
		return err
	}
	if err := announce(server, f.APIKey, stdout, stderr); err != nil {
		return errors.Join(err, server.Close())
	}
	<-ctx.Done()
	return server.Close()
}

func parse(args []string, stderr io.Writer) (f flags, err error) {
	set := flag.NewFlagSet("simulator", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.ListenAddr, "address", "127.0.0.1:0", "loopback `address` of the API; port 0 picks a free port")
	set.StringVar(&f.APIKey, "key", simulator.DefaultAPIKey, "API `key` that the service accepts")
	set.DurationVar(&f.Queue, "queue", 2*time.Second, "how long a job is queued")
	set.DurationVar(&f.Run, "job-duration", 18*time.Second, "how long a job runs")
	set.DurationVar(&f.LinkLifetime, "link-lifetime", 15*time.Minute, "how long a bundle link works, in whole seconds")
	set.BoolVar(&f.KeepLink, "keep-link", false, "return the same link until it expires")
	set.BoolVar(&f.log, "log", false, "log each API request")
	set.StringVar(&f.Fail, "fail-exports", "", "make every export fail with this `message`")
	if err := set.Parse(args); err != nil {
		return f, err
	}
	switch {
	case set.NArg() > 0:
		return f, fmt.Errorf("unexpected argument %q", set.Arg(0))
	case f.APIKey == "":
		return f, errors.New("-key must not be empty")
	case f.Run < 0 || f.Queue < 0:
		return f, errors.New("-queue and -job-duration must not be negative")
	case f.LinkLifetime < time.Second:
		return f, errors.New("-link-lifetime must be at least 1s")
	}
	f.Queue, f.Run = cmp.Or(f.Queue, -1), cmp.Or(f.Run, -1) // in Options, zero means the default
	return f, nil
}

// announce adds an update in each state and prints the settings.
func announce(server *simulator.Server, key string, stdout, stderr io.Writer) error {
	const noTime = -1
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_success", Queue: noTime, Run: noTime})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_failure", Queue: noTime, Run: noTime, Fail: "Page guides/links.mdx cannot be parsed"})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_in_progress", Queue: noTime, Run: simulator.Forever})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_queued", Queue: simulator.Forever})
	if _, err := fmt.Fprintf(stdout, "export DOCS_BASE_URL=%s\nexport DOCS_API_KEY=%s\n", server.BaseURL, key); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stderr, "service: try the updates upd_success, upd_failure, upd_in_progress, and upd_queued")
	return err
}

// describe returns a line about an exchange, without links.
func describe(x simulator.Exchange) string {
	line := fmt.Sprintf("service: %s %s", x.Request.Method, x.Request.Path)
	var record struct {
		Status    string
		Progress  any
		PageCount any
	}
	switch err := json.Unmarshal(x.Body, &record); {
	case err != nil || record.Status == "":
		return fmt.Sprintf("%s: %d", line, x.Status)
	case record.Progress == nil:
		return fmt.Sprintf("%s: %d, %s", line, x.Status, record.Status)
	default:
		return fmt.Sprintf("%s: %d, %s, %v %%, %v pages", line, x.Status, record.Status, record.Progress, record.PageCount)
	}
}
