// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// APIError is an answer of the service that is not a success. The API
// document's section 7 leaves the format of errors open, so it is made from
// any body.
type APIError struct {
	Method string
	// Path is the request's escaped path, without a query.
	Path       string
	StatusCode int
	// Message is what the service said, redacted and at most 2 KiB long; empty
	// if its body said nothing.
	Message string
	// Page tells that the body was an HTML or XML page.
	Page bool
	// RequestID is the service's own name for the exchange, or empty.
	RequestID string
	// RetryAfter is how long the service asked to wait; zero if it did not.
	RetryAfter time.Duration
	// Redirect is where a redirect that was not followed points, redacted.
	Redirect string
}

func (e *APIError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: HTTP %s", e.Method, e.Path, statusLine(e.StatusCode))
	if e.Redirect != "" {
		fmt.Fprintf(&text, " to %s", e.Redirect)
	}
	if e.Message != "" {
		fmt.Fprintf(&text, ": %s", e.Message)
	}
	return text.String()
}

func statusLine(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprint(code)
}

// UnexpectedAnswerError is a success by its status, but with a body that could
// not be used.
type UnexpectedAnswerError struct {
	Method     string
	Path       string
	StatusCode int
	// Problem says what was expected and what came instead.
	Problem string
	// Message is what the body said, if it held an error; redacted.
	Message   string
	RequestID string
}

func (e *UnexpectedAnswerError) Error() string {
	text := fmt.Sprintf("%s %s: HTTP %s, but %s", e.Method, e.Path, statusLine(e.StatusCode), e.Problem)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// ConnectionError is a request that got no whole answer.
type ConnectionError struct {
	Method string
	Path   string
	Host   string
	// Sent tells whether a connection was made, so that the service may have
	// received the request.
	Sent bool
	// Err is the reason, redacted.
	Err error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("%s %s: no answer from %s: %s", e.Method, e.Path, e.Host, e.Err)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// redactedError is an error whose own text quotes what must not be shown, such
// as the link of a redirect.
type redactedError struct {
	error
	text string
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.error }

// errNoAnswer is the cause of an attempt that took longer than the request
// timeout.
var errNoAnswer = errors.New("no answer within the request timeout")

// JobFailedError reports that a static export job ended with status "failed".
type JobFailedError struct{ Job *StaticExportJob }

func (e *JobFailedError) Error() string {
	if e.Job.Error == "" {
		return fmt.Sprintf("static export job %s failed; the service gave no reason", e.Job.ID)
	}
	return fmt.Sprintf("static export job %s failed: %s", e.Job.ID, e.Job.Error)
}

// IsStatus reports whether err is an answer with one of the status codes.
func IsStatus(err error, codes ...int) bool {
	var apiError *APIError
	return errors.As(err, &apiError) && slices.Contains(codes, apiError.StatusCode)
}

// IsGone reports whether err says that the service does not know the object,
// or no longer does. A 404 that is a web page says nothing of the kind: it comes
// from something on the way, or from another place than the API.
func IsGone(err error) bool {
	var apiError *APIError
	return errors.As(err, &apiError) &&
		(apiError.StatusCode == http.StatusGone || apiError.StatusCode == http.StatusNotFound && !apiError.Page)
}

// MayHaveStarted reports whether a start that ended with err may have started a
// job all the same, one of which the client has no id.
func MayHaveStarted(err error) bool {
	var connection *ConnectionError
	if errors.As(err, &connection) {
		return connection.Sent
	}
	var answer *UnexpectedAnswerError
	if errors.As(err, &answer) {
		return true
	}
	var apiError *APIError
	if !errors.As(err, &apiError) {
		return false
	}
	switch apiError.StatusCode {
	case http.StatusSeeOther, // answers a POST that was acted on (RFC 9110, section 15.4.4)
		http.StatusRequestTimeout: // of some proxies it means the service behind them
		return true
	}
	return apiError.StatusCode >= 500 && !didNotAct(err)
}

// isTransient reports whether the same request may well succeed a little
// later, if it is one that may be repeated at all.
func isTransient(err error) bool {
	var certificate *tls.CertificateVerificationError
	var busy *BusyError
	if errors.As(err, &certificate) || errors.As(err, &busy) {
		return false
	}
	var connection *ConnectionError
	var answer *UnexpectedAnswerError
	if errors.As(err, &connection) || errors.As(err, &answer) {
		return true
	}
	var apiError *APIError
	if !errors.As(err, &apiError) {
		return false
	}
	switch apiError.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return apiError.StatusCode >= 500
}
