// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestErrorSaysWhatFailed(t *testing.T) {
	tests := map[string]struct {
		err  error
		want string
	}{
		"an answer with a message":    {&APIError{Method: "GET", Path: "/v1/x", StatusCode: 404, Message: "no such job"}, "GET /v1/x: HTTP 404 Not Found: no such job"},
		"an answer without a message": {&APIError{Method: "GET", Path: "/v1/x", StatusCode: 404}, "GET /v1/x: HTTP 404 Not Found"},
		"a status that has no name":   {&APIError{Method: "GET", Path: "/v1/x", StatusCode: 520}, "GET /v1/x: HTTP 520"},
		"a redirect":                  {&APIError{Method: "GET", Path: "/v1/x", StatusCode: 302, Redirect: "https://h/login", Message: "Found"}, "GET /v1/x: HTTP 302 Found to https://h/login: Found"},
		"a body of no use":            {&UnexpectedAnswerError{Method: "GET", Path: "/v1/x", StatusCode: 200, Problem: "the body is empty"}, "GET /v1/x: HTTP 200 OK, but the body is empty"},
		"a body that says something":  {&UnexpectedAnswerError{Method: "GET", Path: "/v1/x", StatusCode: 200, Problem: "the answer has no status", Message: "try later"}, "GET /v1/x: HTTP 200 OK, but the answer has no status: try later"},
		"no answer":                   {&ConnectionError{Method: "GET", Path: "/v1/x", Host: "h", Err: errors.New("EOF")}, "GET /v1/x: no answer from h: EOF"},
		"a failed job":                {&JobFailedError{Job: &StaticExportJob{ID: "se_1", Error: "page /a is broken"}}, "static export job se_1 failed: page /a is broken"},
		"a failed job with no reason": {&JobFailedError{Job: &StaticExportJob{ID: "se_1"}}, "static export job se_1 failed; the service gave no reason"},
	}
	for name, test := range tests {
		if got := test.err.Error(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestErrorIsTold(t *testing.T) {
	status := func(code int) error { return &APIError{StatusCode: code} }
	certificate := &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	busy := &BusyError{RetryAt: time.Now()}
	tests := map[string]struct {
		err                    error
		gone, maybe, transient bool
	}{
		"no error":                          {nil, false, false, false},
		"some other error":                  {errors.New("x"), false, false, false},
		"400":                               {status(400), false, false, false},
		"401":                               {status(401), false, false, false},
		"404":                               {status(404), true, false, false},
		"404 in another error":              {fmt.Errorf("x: %w", status(404)), true, false, false},
		"410":                               {status(410), true, false, false},
		"408":                               {status(408), false, true, true},
		"425":                               {status(425), false, false, true},
		"429":                               {status(429), false, false, true},
		"302":                               {status(302), false, false, false},
		"303":                               {status(303), false, true, false},
		"500":                               {status(500), false, true, true},
		"501":                               {status(501), false, true, false},
		"505":                               {status(505), false, true, false},
		"503":                               {status(503), false, true, true},
		"503 with Retry-After":              {&APIError{StatusCode: 503, RetryAfter: 1}, false, false, true},
		"502 with Retry-After":              {&APIError{StatusCode: 502, RetryAfter: 1}, false, true, true},
		"a body of no use":                  {&UnexpectedAnswerError{}, false, true, true},
		"no connection":                     {&ConnectionError{Err: errors.New("x")}, false, false, true},
		"no answer":                         {&ConnectionError{Sent: true, Err: errors.New("x")}, false, true, true},
		"a certificate that is not trusted": {&ConnectionError{Err: fmt.Errorf("x: %w", certificate)}, false, false, false},
		"too busy":                          {busy, false, false, false},
		"too busy after a 503":              {because(busy, &APIError{StatusCode: 503, RetryAfter: 1}), false, false, false},
		"a timeout after no answer":         {because(ErrTimeout, &ConnectionError{Sent: true, Err: errors.New("x")}), false, true, true},
	}
	for name, test := range tests {
		if got := IsGone(test.err); got != test.gone {
			t.Errorf("%s: IsGone is %v", name, got)
		}
		if got := MayHaveStarted(test.err); got != test.maybe {
			t.Errorf("%s: MayHaveStarted is %v", name, got)
		}
		if got := isTransient(test.err); got != test.transient {
			t.Errorf("%s: isTransient is %v", name, got)
		}
	}
}

func TestIsStatusKnowsTheCodesItIsAskedFor(t *testing.T) {
	err := fmt.Errorf("x: %w", &APIError{StatusCode: 402})
	if !IsStatus(err, 401, 402) || IsStatus(err, 401, 403) || IsStatus(err) || IsStatus(nil, 402) {
		t.Error("IsStatus is wrong")
	}
}

func TestReasonOfAConnectionErrorIsKeptBehindItsText(t *testing.T) {
	err := error(&ConnectionError{Err: &redactedError{errRefused, "refused"}})
	if !errors.Is(err, errRefused) || err.Error() != " : no answer from : refused" {
		t.Errorf("got %q", err)
	}
}
