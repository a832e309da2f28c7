// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
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

func TestErrorDecidesWhatMayFollow(t *testing.T) {
	api := func(status int) error { return &APIError{Exchange: Exchange{StatusCode: status}} }
	sent := &ConnectionError{Sent: true, Err: errors.New("EOF")}
	certificate := &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	busy := withLast(&BusyError{}, &APIError{Exchange: Exchange{StatusCode: 503, RetryAfter: second}})
	for name, test := range map[string]struct {
		err                          error
		mayPass, mayHaveActed, never bool
	}{
		"no error":                        {},
		"another error":                   {err: errors.New("x")},
		"499":                             {err: api(499)},
		"303":                             {err: api(303), mayHaveActed: true},
		"505":                             {err: api(505), mayHaveActed: true},
		"503 of the store":                {err: &StorageError{StatusCode: 503}, mayPass: true, mayHaveActed: true},
		"403 of the store":                {err: &StorageError{StatusCode: 403}},
		"no connection":                   {err: &ConnectionError{Err: errRefused}, mayPass: true, never: true},
		"no answer":                       {err: sent, mayPass: true, mayHaveActed: true},
		"an untrusted certificate":        {err: &ConnectionError{Err: fmt.Errorf("x: %w", certificate)}, never: true},
		"too busy":                        {err: &BusyError{}},
		"too busy after a 503":            {err: busy, mayPass: true, never: true},
		"an interrupt after no answer":    {err: withLast(errInterrupt, sent), mayPass: true, mayHaveActed: true},
		"an interrupt of the last answer": {err: withLast(errInterrupt, &ConnectionError{Err: errInterrupt}), mayPass: false},
	} {
		if got := MayPass(test.err); got != test.mayPass {
			t.Errorf("%s: MayPass is %t", name, got)
		}
		if got := MayHaveActed(test.err); got != test.mayHaveActed {
			t.Errorf("%s: MayHaveActed is %t", name, got)
		}
		if got := neverActed(test.err); got != test.never {
			t.Errorf("%s: neverActed is %t", name, got)
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
