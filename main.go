// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// The Terraform provider for a documentation hosting service.
package main

import (
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger: print the environment variable that makes Terraform use this process")
	flag.Parse()

	var options []tf6server.ServeOpt
	if *debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve("registry.terraform.io/docs-hosting/docs", provider.NewServer(provider.Options{Version: version}), options...)
	if err != nil {
		log.Fatal(err)
	}
}
