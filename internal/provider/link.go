// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import "time"

// The values of link_renewal.
const (
	renewOnExpiry = "on_expiry"
	renewNever    = "never"
)

// linkAge is what is known of a link when it has to be decided whether to make
// another one.
type linkAge struct {
	// ExpiresAt is zero where it is not known.
	ExpiresAt time.Time
	// MadeAt is when the link was received; zero where it is not known. Both are
	// by the service's clock.
	MadeAt time.Time
	// Kept tells that the service, asked for another link early, handed out
	// this one again: it keeps its links until they have expired.
	Kept bool
}

// linkDue reports whether a link has to be made anew at the time now.
//
// It is due renewBefore ahead of its expiry. A link that the service keeps is
// due at its expiry, since no earlier request changes it; one whose expiry is not
// known, or was over when the link was made, is never due: nothing would tell
// its successor from it.
func linkDue(now time.Time, link linkAge, renewBefore time.Duration, mode string) bool {
	if mode == renewNever || link.ExpiresAt.IsZero() {
		return false
	}
	if !link.MadeAt.IsZero() && !link.ExpiresAt.After(link.MadeAt) {
		return false
	}
	if link.Kept {
		return !now.Before(link.ExpiresAt)
	}
	lead, _ := clampRenewBefore(link, renewBefore)
	return !now.Before(link.ExpiresAt.Add(-lead))
}

// clampRenewBefore returns how long before its expiry a link is to be renewed.
// A lead as long as the link's whole lifetime would make every new link due at
// once; it is cut to half the lifetime then.
func clampRenewBefore(link linkAge, renewBefore time.Duration) (lead time.Duration, clamped bool) {
	if link.MadeAt.IsZero() || link.ExpiresAt.IsZero() {
		return renewBefore, false
	}
	if lifetime := link.ExpiresAt.Sub(link.MadeAt); renewBefore >= lifetime {
		return max(0, lifetime/2), true
	}
	return renewBefore, false
}
