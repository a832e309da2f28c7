// Command terraform-provider-docs is the Terraform provider for a documentation hosting service.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false,
		"wait for a debugger: print the environment variable that makes Terraform use this process")
	flag.Parse()
	if err := serve(*debug); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(debug bool) error {
	// net/http logs unsolicited data from a server, which may be part of a link.
	log.SetOutput(io.Discard)
	var options []tf6server.ServeOpt
	if debug {
		options = append(options, tf6server.WithManagedDebug())
	} else {
		liveAsLongAsTerraform()
	}
	server := provider.NewServer(provider.Options{Version: version})
	return tf6server.Serve("registry.terraform.io/docs-hosting/docs", server, options...)
}

// liveAsLongAsTerraform makes the process ignore SIGTERM, and end soon after its parent.
//
// Service managers send SIGTERM to the whole process group, and some tools to any process. A provider that ended with
// it would lose what Terraform could still store, such as the ID of a job that has just started. Terraform ends its
// providers itself, unless it was killed. Then they get another parent. If that happened before this check began, the
// provider's first write to the closed pipe ends it.
//
// On Windows, a process that lost its parent still names it, so there the provider stays until it is ended. Go turns
// the closing of a console into a SIGTERM, which signal.Ignore would not stop.
func liveAsLongAsTerraform() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	parent := os.Getppid()
	go func() {
		for range time.Tick(time.Second) {
			if os.Getppid() != parent {
				os.Exit(1)
			}
		}
	}()
}
