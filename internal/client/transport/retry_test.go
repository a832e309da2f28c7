// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"testing"
	"time"
)

func TestBackoffDoublesUpToItsCap(t *testing.T) {
	for failures, most := range map[int]time.Duration{
		0: second, 1: 2 * second, 2: 4 * second, 4: 16 * second, 5: 30 * second, 63: 30 * second, 1000: 30 * second,
	} {
		if least, random := backoff(failures, 0), backoff(failures, .5); least != most/2 || random != most*3/4 {
			t.Errorf("backoff(%d) is %s to %s, want %s to %s", failures, least, random, most/2, most*3/4)
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
