// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// The values of link_renewal.
const (
	renewOnExpiry = "on_expiry"
	renewNever    = "never"
)

// Descriptions of a link's attributes.
const (
	bundleURLDescription  = "Presigned link to the bundle, a single archive. Anyone who has the link can download the site until `expires_at`."
	expiresAtDescription  = "Time when `bundle_url` expires, in RFC 3339 format (UTC), such as `2030-01-31T12:00:00Z`. Null if neither the service nor the link specifies it."
	bundleSizeDescription = "Size of the bundle in bytes. Null if the service does not return it."
)

// linkAge is what is known about a link when its renewal is decided.
type linkAge struct {
	// ExpiresAt is zero if it is not known.
	ExpiresAt time.Time
	// MadeAt is when the link was received; zero if it is not known.
	MadeAt time.Time
	// Kept means that the service returned the same link when the provider requested a
	// new one early: it returns a new link only after the old one has expired.
	Kept bool
}

// linkDue reports whether a link must be renewed at the time now.
//
// It is due renewBefore ahead of its expiry. A link that the service keeps is due at its
// expiry, because an earlier request returns the same link. A link is never due if its
// expiry is unknown, or if it had already expired when it was received, because a new
// link would have the same problem.
func linkDue(now time.Time, link linkAge, renewBefore time.Duration, mode string) bool {
	if mode == renewNever || link.ExpiresAt.IsZero() || link.expiredOnArrival() {
		return false
	}
	if link.Kept {
		return !now.Before(link.ExpiresAt)
	}
	lead, _ := clampRenewBefore(link, renewBefore)
	return !now.Before(link.ExpiresAt.Add(-lead))
}

func (l linkAge) expiredOnArrival() bool {
	return !l.MadeAt.IsZero() && !l.ExpiresAt.After(l.MadeAt)
}

// clampRenewBefore returns how long before its expiry a link is renewed. If
// renewBefore is not shorter than the link's lifetime, every new link would be due at
// once, so the result is half the lifetime.
func clampRenewBefore(link linkAge, renewBefore time.Duration) (lead time.Duration, clamped bool) {
	if link.MadeAt.IsZero() || link.ExpiresAt.IsZero() {
		return renewBefore, false
	}
	if lifetime := link.ExpiresAt.Sub(link.MadeAt); renewBefore >= lifetime {
		return max(0, lifetime/2), true
	}
	return renewBefore, false
}

// expiry returns the expires_at of a link.
func expiry(bundle *client.Bundle) types.String {
	if bundle.ExpiresAt.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(bundle.ExpiresAt.Format(time.RFC3339))
}
