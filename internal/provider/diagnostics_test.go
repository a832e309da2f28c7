// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

func TestInterruptIsNotBlamedOnTheService(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"while an answer was awaited":  &client.ConnectionError{Method: "GET", Path: "/v1/a", Host: "host.example", Err: context.Canceled},
		"between two requests":         context.Canceled,
		"before the link was given up": fmt.Errorf("link: %w", errors.Join(context.Canceled, errors.New("connection lost"))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, want := detail(err), "Terraform was interrupted before this was done."; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
