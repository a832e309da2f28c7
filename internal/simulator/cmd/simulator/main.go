// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Command simulator serves a simulated documentation hosting service on
// loopback until it is interrupted.
//
// The first two lines of its output are the settings a client needs:
//
//	base_url=http://127.0.0.1:PORT/v1
//	api_key=KEY
package main

import (
	"context"
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

// run serves until ctx is done, which is no error.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	options, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	server, err := simulator.Listen(options)
	if err != nil {
		return err
	}
	if err := announce(server, options, stdout, stderr); err != nil {
		return errors.Join(err, server.Close())
	}
	<-ctx.Done()
	return server.Close()
}

func parse(args []string, stderr io.Writer) (simulator.Options, error) {
	var options simulator.Options
	flags := flag.NewFlagSet("simulator", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&options.ListenAddr, "address", "127.0.0.1:0", "loopback `address` of the API; port 0 takes a free one")
	flags.StringVar(&options.APIKey, "key", simulator.DefaultAPIKey, "the API `key` that is accepted")
	flags.DurationVar(&options.Run, "job-duration", 18*time.Second, "how long a job runs")
	flags.DurationVar(&options.Queue, "queue", 2*time.Second, "how long a job is queued before it runs")
	flags.DurationVar(&options.LinkLifetime, "link-lifetime", 15*time.Minute, "how long a bundle's link is good, in whole seconds")
	flags.BoolVar(&options.KeepLink, "keep-link", false, "hand out the same link until it has expired")
	if err := flags.Parse(args); err != nil {
		return options, err
	}
	switch {
	case flags.NArg() > 0:
		return options, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case options.APIKey == "":
		return options, errors.New("-key must not be empty")
	case options.Run < 0 || options.Queue < 0:
		return options, errors.New("-job-duration and -queue must not be negative")
	case options.LinkLifetime < time.Second:
		return options, errors.New("-link-lifetime must be at least one second")
	}
	options.Run, options.Queue = noneIfZero(options.Run), noneIfZero(options.Queue)
	return options, nil
}

// noneIfZero turns a flag's zero, which is meant, into what Options takes for
// none: zero is the default there.
func noneIfZero(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// announce seeds an update in each state and then prints what there is:
// who has read the settings may use it all.
func announce(server *simulator.Server, options simulator.Options, stdout, stderr io.Writer) error {
	const none = -1
	ids := []string{
		server.AddUpdate(simulator.UpdateSpec{ID: "upd_success", Queue: none, Run: none}),
		server.AddUpdate(simulator.UpdateSpec{ID: "upd_failure", Queue: none, Run: none, Fail: "Page guides/links.mdx does not parse"}),
		server.AddUpdate(simulator.UpdateSpec{ID: "upd_in_progress", Queue: none, Run: simulator.Forever}),
		server.AddUpdate(simulator.UpdateSpec{ID: "upd_queued", Queue: simulator.Forever}),
	}
	_, err := fmt.Fprintf(stdout, "base_url=%s\napi_key=%s\n", server.BaseURL, options.APIKey)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stderr, "updates, one in each state:", ids)
	return err
}
