// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// pollIntervalDescription is that of whatever waits for an update.
const pollIntervalDescription = "Time between two looks while waiting, as a duration of at least `1s`. " +
	"If it is not set it adapts: one second at first, longer the longer the wait, at most 15 seconds."

// updateWait is the wait of docs_update_gate and docs_await_update.
type updateWait struct {
	client       *client.Client
	statusID     string
	pollInterval types.String
	// onUpdate is called for each new status; it may be nil.
	onUpdate func(*client.UpdateStatus)
	// again tells the user how to go on with a wait that was cut off.
	again string
}

// waitAgain is that of whatever waits again in the next run.
const waitAgain = "Run Terraform again to go on waiting."

// success waits until the update has ended, and fails closed: whatever is not a
// success (a failure, a timeout, an interrupt, an update that cannot be read)
// becomes an error and false.
func (w updateWait) success(ctx context.Context, diags *diag.Diagnostics) (*client.UpdateStatus, bool) {
	interval := durationOf(w.pollInterval)
	update, err := w.client.WaitForUpdate(ctx, w.statusID, client.WaitOptions{Poll: client.PollOptions{Interval: interval}}, w.onUpdate)
	switch {
	case err != nil:
		addWaitError(diags, w.statusID, update, err, w.again)
	case !update.Succeeded():
		addUpdateFailure(diags, w.client, w.statusID, update)
	default:
		return update, true
	}
	return nil, false
}
