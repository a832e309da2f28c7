// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"testing"
	"time"
)

func TestBackoffDoublesUpToItsCap(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		0: second, 1: 2 * second, 2: 4 * second, 4: 16 * second, 5: 30 * second, 63: 30 * second, 1000: 30 * second,
	} {
		if got := backoff(failures); got != want {
			t.Errorf("backoff(%d) is %s, want %s", failures, got, want)
		}
	}
}
