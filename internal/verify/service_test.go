// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package verify

import (
	"flag"
	"os"
	"testing"
)

var reportFile = flag.String("report", "", "file for the report of TestService")

// TestService is `make verify-service`.
func TestService(t *testing.T) {
	if *reportFile == "" {
		t.Skip("needs a real service: run make verify-service")
	}
	s, err := readSettings(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	report, success := verify(t, s, os.Stderr)
	if err := os.WriteFile(*reportFile, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	if !success {
		t.Error("not every step was ok")
	}
}
