// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"testing"
	"time"
)

func TestLinkDue(t *testing.T) {
	made := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	hour := linkAge{MadeAt: made, ExpiresAt: made.Add(time.Hour)}
	kept := hour
	kept.Kept = true
	for name, test := range map[string]struct {
		link        linkAge
		after       time.Duration
		renewBefore time.Duration
		mode        string
		want        bool
	}{
		"just made":                          {hour, 0, 0, renewOnExpiry, false},
		"a moment before the expiry":         {hour, time.Hour - 1, 0, renewOnExpiry, false},
		"at the expiry":                      {hour, time.Hour, 0, renewOnExpiry, true},
		"long after":                         {hour, 1000 * time.Hour, 0, renewOnExpiry, true},
		"never":                              {hour, 1000 * time.Hour, 0, renewNever, false},
		"before the lead":                    {hour, 39 * time.Minute, 20 * time.Minute, renewOnExpiry, false},
		"within the lead":                    {hour, 40 * time.Minute, 20 * time.Minute, renewOnExpiry, true},
		"a lead over the lifetime, at first": {hour, 29 * time.Minute, 2 * time.Hour, renewOnExpiry, false},
		"a lead over the lifetime, at half":  {hour, 30 * time.Minute, 2 * time.Hour, renewOnExpiry, true},
		"a lead of the lifetime, at first":   {hour, 0, time.Hour, renewOnExpiry, false},
		"kept, within the lead":              {kept, 50 * time.Minute, 20 * time.Minute, renewOnExpiry, false},
		"kept, at the expiry":                {kept, time.Hour, 20 * time.Minute, renewOnExpiry, true},
		"no expiry":                          {linkAge{MadeAt: made}, 1000 * time.Hour, 0, renewOnExpiry, false},
		"expired when it was made":           {linkAge{MadeAt: made, ExpiresAt: made}, time.Hour, 0, renewOnExpiry, false},
		"of unknown age, before the expiry":  {linkAge{ExpiresAt: made.Add(time.Hour)}, 0, 0, renewOnExpiry, false},
		"of unknown age, at the expiry":      {linkAge{ExpiresAt: made.Add(time.Hour)}, time.Hour, 0, renewOnExpiry, true},
		"of unknown age, within a long lead": {linkAge{ExpiresAt: made.Add(time.Hour)}, 0, 2 * time.Hour, renewOnExpiry, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := linkDue(made.Add(test.after), test.link, test.renewBefore, test.mode); got != test.want {
				t.Errorf("due: %v, want %v", got, test.want)
			}
		})
	}
}
