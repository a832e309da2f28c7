package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

// Exchange describes a request and the status and headers of its response.
type Exchange struct {
	Method     string
	Path       string // the escaped path of the request, redacted
	StatusCode int
	RequestID  string        // the ID that the service returned for the request, or empty
	RetryAfter time.Duration // how long the service asks to wait; zero if it does not ask
}

// summary describes the exchange, such as "HTTP 404 Not Found for GET /v1/a (request ID 7)".
func (e *Exchange) summary() string {
	text := fmt.Sprintf("HTTP %s for %s %s", statusLine(e.StatusCode), e.Method, e.Path)
	if e.RequestID == "" {
		return text
	}
	return text + " (request ID " + e.RequestID + ")"
}

// APIError reports a response of the service that is not a success. The contract leaves the format of errors open, so
// the body may have any form. All text is redacted.
type APIError struct {
	Exchange
	Message  string // the service's own message, or empty
	Page     bool   // whether the body is a web page, in HTML or XML
	Redirect string // the URL of a redirect that was not followed
}

// Error describes the response in words that can follow "the service returned".
func (e *APIError) Error() string {
	text := e.summary()
	if e.Page {
		text += ", a web page"
	}
	if e.Redirect != "" {
		text += ", a redirect to " + e.Redirect
	}
	if e.Message == "" {
		return text + ", without a message"
	}
	return text + ": " + strings.TrimSuffix(e.Message, ".")
}

// UnexpectedResponseError reports a response with a successful status and an unusable body.
type UnexpectedResponseError struct {
	Exchange
	Problem string // what is wrong with the body, such as `the response has no field "jobId"`
	NotJSON bool   // the body is not JSON at all, so the service may not have sent it
	Message string // the error message in the body, redacted, or empty
}

// Error describes the response in words that can follow "the service returned".
func (e *UnexpectedResponseError) Error() string {
	text := e.summary() + ", but " + e.Problem
	if e.Message == "" {
		return text
	}
	return text + ". The message in the body: " + strings.TrimSuffix(e.Message, ".")
}

// ConnectionError reports a request that received no complete response.
type ConnectionError struct {
	Method, Path, Host string
	// Sent means that the service may have received the request. It is always set for the object store, which a
	// request does not change.
	Sent        bool
	Storage     bool   // the request was to the object store
	Untrusted   bool   // the certificate of the server is not trusted
	PlainHTTP   bool   // the server of an https URL answered in plain http
	ProxyStatus int    // with which a proxy refused to connect, or zero
	Progress    bool   // a download received data that no earlier attempt had received
	Reason      string // redacted
}

func (e *ConnectionError) Error() string {
	if e.Storage { // the path may be a part of the credential
		return fmt.Sprintf("the request to the object store %s failed: %s", e.Host, e.Reason)
	}
	return fmt.Sprintf("the request %s %s to %s failed: %s", e.Method, e.Path, e.Host, e.Reason)
}

// aborted is the cause of an attempt that the client canceled. The caller's context may not have ended.
type aborted string

func (a aborted) Error() string { return string(a) }

// connectionError converts an error of net/http to a [*ConnectionError]. It redacts the text, which has the whole URL
// and may quote what the server sent. If the client canceled the attempt, the reason is the [aborted]. If the caller
// ended the context of the request, the error is the cause.
func connectionError(redactor display.Redactor, req *http.Request, sent bool, err error) error {
	if cause := context.Cause(req.Context()); cause != nil {
		if _, ok := errors.AsType[aborted](cause); !ok {
			return cause
		}
		err = cause
	}
	if urlError, ok := errors.AsType[*url.Error](err); ok {
		err = urlError.Err
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection was closed before a response arrived")
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	proxy, _ := errors.AsType[proxyError](err)
	return &ConnectionError{
		Method: req.Method, Path: redactor.Redact(req.URL.EscapedPath()), Host: redactor.Redact(req.URL.Host),
		Sent: sent, Untrusted: untrusted, PlainHTTP: errors.Is(err, http.ErrSchemeMismatch), ProxyStatus: int(proxy),
		Reason: redactor.Redact(err.Error()),
	}
}

// proxyError is the status with which a proxy refused to connect to a host.
type proxyError int

func (e proxyError) Error() string { return "the proxy returned HTTP " + statusLine(int(e)) }

// StorageError reports a response of the object store without a bundle.
type StorageError struct {
	Host       string
	StatusCode int
	Problem    string // what came with a successful status, such as "text instead of the bundle"
	Message    string // the store's own message, redacted, if its body has a common format
	RetryAfter time.Duration
}

func (e *StorageError) Error() string {
	text := fmt.Sprintf("the object store %s returned HTTP %s", e.Host, statusLine(e.StatusCode))
	switch {
	case e.Problem != "":
		text += " with " + e.Problem
	case e.StatusCode/100 == 2:
		text += " instead of the bundle"
	case e.StatusCode/100 == 3:
		text += ", a redirect that the provider does not follow"
	}
	return strings.TrimSuffix(text+": "+strings.TrimSuffix(e.Message, "."), ": ")
}

func statusLine(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprint(code)
}
