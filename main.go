// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// The Terraform provider for a documentation hosting service.
package main

import (
	"flag"
	"log"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/docs-hosting/terraform-provider-docs/internal/provider"
)

// version is set by the release build.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger: print the environment variable that makes Terraform use this process")
	flag.Parse()

	if !*debug {
		if err := dropUnreadLogs(os.Environ(), os.Setenv); err != nil {
			log.Fatal(err)
		}
	}
	var options []tf6server.ServeOpt
	if *debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve("registry.terraform.io/docs-hosting/docs", provider.NewServer(provider.Options{Version: version}), options...)
	if err != nil {
		log.Fatal(err)
	}
}

// dropUnreadLogs switches the logs of the plugin libraries off where the
// environment asks for none. They would write every trace line all the same,
// for Terraform to read and drop: a third of the CPU of a plan of many objects.
func dropUnreadLogs(environment []string, set func(name, value string) error) error {
	for _, variable := range environment {
		if strings.HasPrefix(variable, "TF_LOG") {
			return nil
		}
	}
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER", "TF_LOG_PROVIDER_DOCS"} {
		if err := set(name, "off"); err != nil {
			return err
		}
	}
	return nil
}
