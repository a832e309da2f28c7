// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// The Terraform provider for a documentation hosting service.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger: print the environment variable that makes Terraform use this process")
	flag.Parse()

	err := providerserver.Serve(context.Background(), provider.New(provider.Options{Version: version}), providerserver.ServeOpts{
		Address: "registry.terraform.io/docs-hosting/docs",
		Debug:   *debug,
	})
	if err != nil {
		log.Fatal(err)
	}
}
