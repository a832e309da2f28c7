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

func TestLinkRefusedDependsOnTheStatus(t *testing.T) {
	for status, want := range map[int]bool{400: true, 401: true, 403: true, 404: true, 410: true, 409: false, 429: false, 500: false, 503: false} {
		if got := (&StorageError{StatusCode: status}).linkRefused(); got != want {
			t.Errorf("%d: linkRefused is %t", status, got)
		}
	}
}
