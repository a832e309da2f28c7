// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// service is what the provider's configuration gives to every object.
type service struct {
	client *client.Client
	// unknown names the provider arguments whose values are not known yet; there
	// is no client then.
	unknown []string
	clock   client.Clock
}

// ready returns the client, or says why there is none.
func (s *service) ready(diags *diag.Diagnostics) (*client.Client, bool) {
	if s != nil && s.client != nil {
		return s.client, true
	}
	var names string
	if s != nil {
		names = strings.Join(s.unknown, ", ")
	}
	diags.AddError("The provider's configuration is not known yet",
		"This object must call the service's API now, but the value of the provider's "+names+
			" is known only after apply, since it comes from something that is still to be created.\n\n"+
			"Apply that first, for example with \"terraform apply -target=...\", or give the provider a value that is known at plan time.")
	return nil, false
}

// now is the time by the service's clock, as far as its answers have told it,
// or by the local clock corrected with what was learned before.
func (s *service) now(learned time.Duration) time.Time {
	if s.client != nil {
		if ahead, ok := s.client.Skew(); ok {
			learned = ahead
		}
		return s.client.Now().Add(learned)
	}
	if s.clock != nil {
		return s.clock.Now().Add(learned)
	}
	return time.Now().Add(learned)
}

// resourceBase, dataSourceBase, ephemeralBase and actionBase are embedded in
// the objects, so that Configure is written once for each kind.
type resourceBase struct{ service *service }

func (b *resourceBase) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	b.service, _ = req.ProviderData.(*service)
}

type dataSourceBase struct{ service *service }

func (b *dataSourceBase) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	b.service, _ = req.ProviderData.(*service)
}

type ephemeralBase struct{ service *service }

func (b *ephemeralBase) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	b.service, _ = req.ProviderData.(*service)
}

type actionBase struct{ service *service }

func (b *actionBase) Configure(_ context.Context, req action.ConfigureRequest, _ *action.ConfigureResponse) {
	b.service, _ = req.ProviderData.(*service)
}

// logger passes what the client says on to Terraform's log.
type logger struct{}

func (logger) Debug(ctx context.Context, message string, fields map[string]any) {
	tflog.Debug(ctx, message, fields)
}

func (logger) Info(ctx context.Context, message string, fields map[string]any) {
	tflog.Info(ctx, message, fields)
}

func (logger) Warn(ctx context.Context, message string, fields map[string]any) {
	tflog.Warn(ctx, message, fields)
}
