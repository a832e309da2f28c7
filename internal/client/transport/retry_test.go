// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock/clocktest"
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
	busy := after(&BusyError{}, &APIError{Exchange: Exchange{StatusCode: 503, RetryAfter: second}})
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
		"an interrupt after no answer":    {err: after(errInterrupt, sent), mayPass: true, mayHaveActed: true},
		"an interrupt of the last answer": {err: after(errInterrupt, &ConnectionError{Err: errInterrupt}), mayPass: false},
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

func TestRetryWaitsBeforeTheNextAttempt(t *testing.T) {
	gone, cancel := context.WithCancelCause(bounded(t, time.Hour))
	cancel(errInterrupt)
	for name, test := range map[string]struct {
		ctx      context.Context
		failures int
		err      error
		waits    time.Duration
		want     error // nil: the next attempt may be made
	}{
		"the first failure":            {failures: 0, err: &StorageError{StatusCode: 500}, waits: second / 2},
		"the last failure allowed":     {failures: 3, err: &StorageError{StatusCode: 500}, waits: 4 * second},
		"one failure more":             {failures: 4, err: errRefused, want: errRefused},
		"a failure that will not pass": {err: errRefused, want: errRefused},
		"a store that asks to wait":    {err: &StorageError{StatusCode: 503, RetryAfter: 20 * second}, waits: 20 * second},
		"an interrupt before":          {ctx: gone, err: &StorageError{StatusCode: 500}, want: errInterrupt},
	} {
		tr := newTransport(t)
		virtual := clocktest.NewVirtual(time.Now())
		tr.Clock = virtual
		if test.ctx == nil {
			test.ctx = bounded(t, time.Hour)
		}
		began := virtual.Now()
		err := tr.Retry(test.ctx, test.failures, test.err)
		if waited := virtual.Now().Sub(began); waited != test.waits || !errors.Is(err, test.want) {
			t.Errorf("%s: %v after %s, want %v after %s", name, err, waited, test.want, test.waits)
		}
	}
}

func TestLinkRefusedDependsOnTheStatus(t *testing.T) {
	for status, want := range map[int]bool{400: true, 401: true, 403: true, 404: true, 410: true, 409: false, 429: false, 500: false, 503: false} {
		if got := (&StorageError{StatusCode: status}).LinkRefused(); got != want {
			t.Errorf("%d: LinkRefused is %t", status, got)
		}
	}
}
