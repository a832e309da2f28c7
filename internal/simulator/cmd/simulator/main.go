// Command simulator serves a simulated documentation hosting service until it is
// interrupted. It keeps everything in memory.
//
// It prints the settings of a client as shell commands:
//
//	export DOCS_BASE_URL=http://127.0.0.1:8642/v1
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
	"slices"
	"strconv"
	"strings"
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

// flags are the settings from the command line.
type flags struct {
	simulator.Options
	log    bool
	faults []simulator.Fault
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
	for _, fault := range f.faults {
		server.AddFault(fault)
	}
	if err := announce(server, stdout, stderr); err != nil {
		return errors.Join(err, server.Close())
	}
	<-ctx.Done()
	return server.Close()
}

func parse(args []string, stderr io.Writer) (f flags, err error) {
	set := flag.NewFlagSet("simulator", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&f.ListenAddr, "address", "127.0.0.1:8642", "`address` of the API; port 0 picks a free port")
	set.DurationVar(&f.Queue, "queue", 2*time.Second, "how long a job is queued")
	set.DurationVar(&f.Run, "job-duration", 18*time.Second, "how long a job runs")
	set.DurationVar(&f.LinkLifetime, "link-lifetime", 15*time.Minute, "how long a bundle link works, rounded to seconds")
	set.BoolVar(&f.log, "log", false, "log each API request")
	set.StringVar(&f.Fail, "fail-exports", "", "make every export fail with this `message`")
	set.Func("fault", "make requests fail, as `ENDPOINT=STATUS[:TIMES]` says; can be repeated.\n"+
		"ENDPOINT is one of "+strings.Join(simulator.Endpoints(), ", ")+". STATUS is a number from 400 to 599,\n"+
		"or lost: the service acts, but the response is lost. Without TIMES, all requests fail.", f.addFault)
	if err := set.Parse(args); err != nil {
		return f, err
	}
	if set.NArg() > 0 {
		return f, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	f.Queue, f.Run = cmp.Or(f.Queue, -1), cmp.Or(f.Run, -1) // in Options, zero means the default
	f.IDSeed = time.Now().String()                          // a job of an earlier process must not be taken for a new one
	return f, nil
}

// addFault parses a value of the -fault flag.
func (f *flags) addFault(value string) error {
	endpoint, failure, _ := strings.Cut(value, "=")
	status, times, limited := strings.Cut(failure, ":")
	fault := simulator.Fault{Endpoint: endpoint}
	if endpoints := simulator.Endpoints(); !slices.Contains(endpoints, endpoint) {
		return fmt.Errorf("ENDPOINT must be one of %s", strings.Join(endpoints, ", "))
	}
	if status == "lost" {
		fault.Cut = simulator.CutAfter
	} else {
		var err error
		if fault.Status, err = strconv.Atoi(status); err != nil || fault.Status < 400 || fault.Status > 599 {
			return errors.New("STATUS must be a number from 400 to 599, or lost")
		}
		if endpoint != simulator.EndpointDownload {
			fault.Body = `{"error":"simulated fault"}`
		}
	}
	if limited {
		var err error
		if fault.Times, err = strconv.Atoi(times); err != nil || fault.Times < 1 {
			return errors.New("TIMES must be a positive number")
		}
	}
	f.faults = append(f.faults, fault)
	return nil
}

// announce adds an update in each state and prints the settings.
func announce(server *simulator.Server, stdout, stderr io.Writer) error {
	const noTime = -1
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_success", Queue: noTime, Run: noTime})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_failure", Queue: noTime, Run: noTime, Fail: "Page guides/links.mdx cannot be parsed"})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_in_progress", Queue: noTime, Run: simulator.Forever})
	server.AddUpdate(simulator.UpdateSpec{ID: "upd_queued", Queue: simulator.Forever})
	// Whoever reads the settings may send requests, whose log comes next.
	if _, err := fmt.Fprintln(stderr, "service: try the updates upd_success, upd_failure, upd_in_progress, and upd_queued"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "export DOCS_BASE_URL=%s\nexport DOCS_API_KEY=%s\n", server.BaseURL, simulator.DefaultAPIKey)
	return err
}

// describe returns a line about an exchange, without links. That of a start names the job, as the dashboard of a real
// service would.
func describe(x simulator.Exchange) string {
	var record struct {
		JobID     string
		Status    string
		Progress  any
		PageCount any
	}
	_ = json.Unmarshal(x.Body, &record) // any other body has none of these
	facts := []string{strconv.Itoa(x.Status)}
	if x.Altered {
		facts = []string{"fault"}
	}
	if x.Request.Endpoint == simulator.EndpointStart && record.JobID != "" {
		facts = append(facts, "job "+record.JobID)
	}
	if !x.Altered && record.Status != "" {
		facts = append(facts, record.Status)
		if record.Progress != nil {
			facts = append(facts, fmt.Sprintf("%v%%, page count %v", record.Progress, record.PageCount))
		}
	}
	return fmt.Sprintf("service: %s %s: %s", x.Request.Method, x.Request.Path, strings.Join(facts, ", "))
}
