package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// lostRequest returns the error of a request to the API that received no complete response. sent means that the service
// may have received the request.
func (c *Client) lostRequest(req *http.Request, sent bool, err error) *Error {
	means := meaning{ReasonNoResponse, unconnected, false}
	if sent {
		means = meaning{ReasonNoResponse, temporary, true}
	}
	return c.lost(req, req.Method+" "+req.URL.EscapedPath()+" to ", means, err)
}

// lostDownload returns the error of a request to the object store that received no complete response. It does not show
// the path, which may be a part of the credential.
func (c *Client) lostDownload(req *http.Request, err error) *Error {
	failure := c.lost(req, "to the object store ", meaning{ReasonStoreNoResponse, temporary, false}, err)
	switch failure.Reason { // neither base_url nor the service is at fault
	case ReasonPlainHTTP:
		failure.Reason = ReasonNotTheStore
	case ReasonTooSlow:
		failure.Reason = ReasonStoreNoResponse
	}
	return failure
}

// lost returns the error of a request, from the error of net/http. It redacts the text, which has the whole URL and may
// quote what the server sent. If the client canceled the attempt, the text is the [aborted]. means is what the error
// means unless its cause is known.
func (c *Client) lost(req *http.Request, what string, means meaning, err error) *Error {
	if cause := context.Cause(req.Context()); cause != nil {
		if _, ok := errors.AsType[aborted](cause); !ok {
			failure := wrap(cause, ended)
			failure.MayHaveActed = means.acted
			return failure
		}
		err = cause
	}
	if urlError, ok := errors.AsType[*url.Error](err); ok {
		err = urlError.Err
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection was closed before a response arrived")
	}
	text := "the request " + c.Redact(what+req.URL.Host) + " failed: " + c.Redact(err.Error())
	return newError(text, meaningOfError(err, means))
}

// meaningOfError returns what the error of a connection means, or the default if its cause is not known.
func meaningOfError(err error, byDefault meaning) meaning {
	_, late := errors.AsType[aborted](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	status, byProxy := errors.AsType[proxyError](err)
	switch {
	case late:
		return meaning{ReasonTooSlow, byDefault.kind, byDefault.acted}
	case untrusted:
		return meaning{ReasonUntrusted, refused, false}
	case status == http.StatusProxyAuthRequired:
		return meaning{ReasonProxyCredentials, refused, false}
	case byProxy:
		return meaning{ReasonProxyRefused, unconnected, false}
	case errors.Is(err, http.ErrSchemeMismatch):
		return meaning{ReasonPlainHTTP, refused, false}
	case strings.HasSuffix(err.Error(), "tls: certificate required"):
		// With TLS 1.3, the server refuses the handshake after the client has sent the request, but reads no request.
		return meaning{ReasonClientCertificate, refused, false}
	}
	return byDefault
}
