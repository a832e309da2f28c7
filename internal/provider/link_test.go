// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"testing"
	"time"
)

func TestLinkDue(t *testing.T) {
	t.Parallel()
	made := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	hour := linkAge{MadeAt: made, ExpiresAt: made.Add(time.Hour)}
	kept := linkAge{MadeAt: made, ExpiresAt: made.Add(time.Hour), Kept: true}
	ageless := linkAge{ExpiresAt: made.Add(time.Hour)}
	for name, test := range map[string]struct {
		link        linkAge
		after       time.Duration
		renewBefore time.Duration
		mode        string
		want        bool
	}{
		"a moment before its expiry":               {hour, time.Hour - 1, 0, renewOnExpiry, false},
		"at its expiry":                            {hour, time.Hour, 0, renewOnExpiry, true},
		"long after its expiry, but never renewed": {hour, 1000 * time.Hour, 0, renewNever, false},
		"before renew_before":                      {hour, 40*time.Minute - 1, 20 * time.Minute, renewOnExpiry, false},
		"at renew_before":                          {hour, 40 * time.Minute, 20 * time.Minute, renewOnExpiry, true},
		"just made, renew_before a bit shorter":    {hour, 0, time.Hour - 1, renewOnExpiry, false},
		"just made, renew_before its lifetime":     {hour, 0, time.Hour, renewOnExpiry, false},
		"before half its lifetime, clamped":        {hour, 30*time.Minute - 1, 2 * time.Hour, renewOnExpiry, false},
		"at half its lifetime, clamped":            {hour, 30 * time.Minute, 2 * time.Hour, renewOnExpiry, true},
		"kept by the service, at renew_before":     {kept, 50 * time.Minute, 20 * time.Minute, renewOnExpiry, false},
		"kept by the service, before its expiry":   {kept, time.Hour - 1, 0, renewOnExpiry, false},
		"kept by the service, at its expiry":       {kept, time.Hour, 20 * time.Minute, renewOnExpiry, true},
		"without an expiry":                        {linkAge{MadeAt: made}, 1000 * time.Hour, 0, renewOnExpiry, false},
		"expired on arrival":                       {linkAge{MadeAt: made, ExpiresAt: made}, time.Hour, 0, renewOnExpiry, false},
		"of unknown age, before its expiry":        {ageless, time.Hour - 1, 0, renewOnExpiry, false},
		"of unknown age, at its expiry":            {ageless, time.Hour, 0, renewOnExpiry, true},
		"of unknown age, at a long renew_before":   {ageless, 0, 2 * time.Hour, renewOnExpiry, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := linkDue(made.Add(test.after), test.link, test.renewBefore, test.mode); got != test.want {
				t.Errorf("due: %t, want %t", got, test.want)
			}
		})
	}
}
