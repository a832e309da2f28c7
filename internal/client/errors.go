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
	"syscall"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

// Exchange describes a request and the status and headers of its response.
type Exchange struct {
	Method string
	// Path is the escaped path of the request, redacted.
	Path       string
	StatusCode int
	// RequestID is the ID that the service returned for the request, or empty.
	RequestID string
	// RetryAfter is how long the service asks to wait; zero if it does not ask.
	RetryAfter time.Duration
}

// summary describes the exchange, such as "HTTP 404 Not Found for GET /v1/a (request ID 7)".
func (e *Exchange) summary() string {
	text := fmt.Sprintf("HTTP %s for %s %s", statusLine(e.StatusCode), e.Method, e.Path)
	if e.RequestID != "" {
		text += " (request ID " + e.RequestID + ")"
	}
	return text
}

// APIError reports a response of the service that is not a success. The contract leaves
// the format of errors open, so the body may have any form. All text is redacted.
type APIError struct {
	Exchange
	// Message is the service's own message, or empty.
	Message string
	// Page means that the body is a web page, in HTML or XML.
	Page bool
	// Redirect is the URL of a redirect that was not followed.
	Redirect string
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

// UnexpectedResponseError reports a response with a successful status and an unusable
// body.
type UnexpectedResponseError struct {
	Exchange
	// Problem says what is wrong with the body, such as `the response has no field "jobId"`.
	Problem string
	// NotJSON means that the body is not JSON at all, so the service may not have sent it.
	NotJSON bool
	// Message is the error message in the body, if it has one; redacted.
	Message string
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
	Method string
	Path   string
	Host   string
	// Sent means that the service may have received the request. It is always set for the object
	// store, which a request does not change.
	Sent bool
	// Storage means that the request was to the object store.
	Storage bool
	// Untrusted means that the certificate of the server is not trusted.
	Untrusted bool
	// PlainHTTP means that the server of an https URL answered in plain http.
	PlainHTTP bool
	// ProxyStatus is the status with which a proxy refused to connect, or zero.
	ProxyStatus int
	// TooManyFiles means that this machine refused to open another file or connection.
	TooManyFiles bool
	// Progress means that a download received data that no earlier attempt had received.
	Progress bool
	Reason   string // redacted
}

func (e *ConnectionError) Error() string {
	if e.Storage { // the path may be a part of the credential
		return fmt.Sprintf("the request to the object store %s failed: %s", e.Host, e.Reason)
	}
	return fmt.Sprintf("the request %s %s to %s failed: %s", e.Method, e.Path, e.Host, e.Reason)
}

// aborted is the cause of an attempt that the client canceled. The caller's context may not have
// ended.
type aborted string

func (a aborted) Error() string { return string(a) }

// connectionError converts an error of net/http to a [*ConnectionError]. It redacts the
// text, which has the whole URL and may quote what the server sent. If the client canceled the
// attempt, the reason is the [aborted]. If the caller ended the context of the request, the
// error is the cause.
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
		TooManyFiles: errors.Is(err, syscall.EMFILE), Reason: redactor.Redact(err.Error()),
	}
}

// proxyError is the status with which a proxy refused to connect to a host.
type proxyError int

func (e proxyError) Error() string { return "the proxy returned HTTP " + statusLine(int(e)) }

// StorageError reports a response of the object store without a bundle.
type StorageError struct {
	Host       string
	StatusCode int
	// Problem says what came with a successful status, such as "text instead of the bundle".
	Problem string
	// Text means that it was text, which is never a bundle, such as a web page.
	Text bool
	// Message is the store's own message, redacted: that of the XML error format that object
	// stores share, or of a common JSON format. It is empty for any other body.
	Message    string
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

// IsNotFound reports whether err is a response that says that the job, bundle, or update does
// not exist, or no longer exists. The response must come from the API, so its body must not
// be a web page.
func IsNotFound(err error) bool {
	api, ok := errors.AsType[*APIError](err)
	return ok && (api.StatusCode == http.StatusNotFound || api.StatusCode == http.StatusGone) && !api.Page
}

// statusOf returns the HTTP status and the Retry-After of the failed response that err is
// about, or zeros.
func statusOf(err error) (status int, retryAfter time.Duration) {
	if api, ok := errors.AsType[*APIError](err); ok {
		return api.StatusCode, api.RetryAfter
	}
	if storage, ok := errors.AsType[*StorageError](err); ok {
		return storage.StatusCode, storage.RetryAfter
	}
	return 0, 0
}

// MayHaveStarted reports whether [Client.StartStaticExport] may have started a job even
// though it failed with err.
func MayHaveStarted(err error) bool {
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		return connection.Sent
	}
	if _, ok := errors.AsType[*UnexpectedResponseError](err); ok {
		return true // even a web page may come from a proxy in front of a service that has acted
	}
	api, ok := errors.AsType[*APIError](err)
	if !ok {
		return false
	}
	switch api.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, // may follow a POST that was acted on (RFC 9110, section 15.4)
		http.StatusRequestTimeout, // some proxies return it if the service behind them is slow
		http.StatusConflict:       // a gateway may have repeated the request, and the job is the first one's
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	default:
		return api.StatusCode/100 == 1 || api.StatusCode >= 500 // a gateway may send these after the service has acted
	}
}
