// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timetypes/timetypes"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// pollIntervalDescription is that of whatever waits for an update.
const pollIntervalDescription = "Time between two looks while waiting, as a duration of at least `1s`. " +
	"If it is not set it adapts: one second at first, longer the longer the wait, at most 15 seconds."

// waitForSuccess is the gate that docs_update_gate and docs_await_update share.
// It waits until an update has ended and fails closed: whatever is not a success
// (a failure, a timeout, an interrupt, an update that cannot be read) becomes an
// error and false. onUpdate, which may be nil, is called for each new status.
func waitForSuccess(ctx context.Context, c *client.Client, statusID string, pollInterval timetypes.GoDuration, onUpdate func(*client.UpdateStatus), diags *diag.Diagnostics) (*client.UpdateStatus, bool) {
	interval, _ := pollInterval.ValueGoDuration()
	update, err := c.WaitForUpdate(ctx, statusID, client.WaitOptions{Poll: client.PollOptions{Interval: interval}}, onUpdate)
	switch {
	case err != nil:
		addUpdateError(diags, statusID, update, err)
	case !update.Succeeded():
		addUpdateFailure(diags, c, statusID, update)
	default:
		return update, true
	}
	return nil, false
}
