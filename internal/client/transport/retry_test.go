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

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
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
	api := func(status int) error { return &APIError{StatusCode: status} }
	sent := &ConnectionError{Sent: true, Err: errors.New("EOF")}
	certificate := &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	busy := after(&BusyError{}, &APIError{StatusCode: 503, RetryAfter: second})
	for name, test := range map[string]struct {
		err                          error
		mayPass, mayHaveActed, never bool
	}{
		"no error":                        {},
		"another error":                   {err: errors.New("x")},
		"400":                             {err: api(400)},
		"499":                             {err: api(499)},
		"404 in another error":            {err: fmt.Errorf("x: %w", api(404))},
		"408":                             {err: api(408), mayPass: true, mayHaveActed: true},
		"425":                             {err: api(425), mayPass: true},
		"429":                             {err: api(429), mayPass: true, never: true},
		"302":                             {err: api(302)},
		"303":                             {err: api(303), mayHaveActed: true},
		"500":                             {err: api(500), mayPass: true, mayHaveActed: true},
		"501":                             {err: api(501), mayHaveActed: true},
		"505":                             {err: api(505), mayHaveActed: true},
		"503":                             {err: api(503), mayPass: true, mayHaveActed: true},
		"503 with Retry-After":            {err: &APIError{StatusCode: 503, RetryAfter: 1}, mayPass: true, never: true},
		"502 with Retry-After":            {err: &APIError{StatusCode: 502, RetryAfter: 1}, mayPass: true, mayHaveActed: true},
		"503 of the store":                {err: &StorageError{StatusCode: 503}, mayPass: true, mayHaveActed: true},
		"403 of the store":                {err: &StorageError{StatusCode: 403}},
		"an unusable success":             {err: &UnexpectedAnswerError{StatusCode: 200}, mayPass: true, mayHaveActed: true},
		"a web page with 200":             {err: &UnexpectedAnswerError{StatusCode: 200, Page: true}, mayPass: true},
		"a web page with 202":             {err: &UnexpectedAnswerError{StatusCode: 202, Page: true}, mayPass: true, mayHaveActed: true},
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

func TestRetryWaitsUnlessItIsInVain(t *testing.T) {
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
		virtual := clock.NewVirtual(time.Now())
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

func TestErrorSaysWhatFailed(t *testing.T) {
	for want, err := range map[string]error{
		"GET /v1/x: HTTP 404 Not Found: no such job":                                                                        &APIError{Method: "GET", Path: "/v1/x", StatusCode: 404, Message: "no such job"},
		"GET /v1/x: HTTP 520":                                                                                               &APIError{Method: "GET", Path: "/v1/x", StatusCode: 520},
		"GET /v1/x: HTTP 302 Found to https://h/login: Found":                                                               &APIError{Method: "GET", Path: "/v1/x", StatusCode: 302, Redirect: "https://h/login", Message: "Found"},
		"GET /v1/x: HTTP 200 OK, but the body is empty":                                                                     &UnexpectedAnswerError{Method: "GET", Path: "/v1/x", StatusCode: 200, Problem: "the body is empty"},
		"GET /v1/x: HTTP 200 OK, but it has no status: try later":                                                           &UnexpectedAnswerError{Method: "GET", Path: "/v1/x", StatusCode: 200, Problem: "it has no status", Message: "try later"},
		"GET /v1/x: no answer from h: EOF":                                                                                  &ConnectionError{Method: "GET", Path: "/v1/x", Host: "h", Err: errors.New("EOF")},
		"the object store h answered HTTP 403 Forbidden":                                                                    &StorageError{Host: "h", StatusCode: 403},
		"the object store h answered HTTP 403 Forbidden, AccessDenied: Expired":                                             &StorageError{Host: "h", StatusCode: 403, Code: "AccessDenied", Message: "Expired"},
		"the service asks to wait until 2026-03-01T11:00:00Z, which is after this operation's timeout":                      &BusyError{RetryAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))},
		"the service asks to wait until 0001-01-01T00:00:00Z, which is after this operation's timeout; the last attempt: x": after(&BusyError{}, errors.New("x")),
	} {
		if got := err.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestLinkThatWasRefusedIsToldFromAStoreInTrouble(t *testing.T) {
	for status, want := range map[int]bool{400: true, 401: true, 403: true, 404: true, 410: true, 409: false, 429: false, 500: false, 503: false} {
		if got := (&StorageError{StatusCode: status}).LinkRefused(); got != want {
			t.Errorf("%d: LinkRefused is %t", status, got)
		}
	}
}
