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
)

const (
	idleConnections = 128 // more than any usual -parallelism, so that each request in flight can keep its connection
	maxRedirects    = 5
)

// newTransport returns a transport that uses the proxy of the usual environment variables, TLS 1.2 or later, and the
// given root certificates in addition to the system's. Plain http never goes through a proxy, because it is meant for
// loopback hosts.
//
// It speaks HTTP/1.1 only. Over HTTP/2, all requests of a run share one connection and its fate, and net/http repeats a
// read or a request for a link by itself if the server resets its stream. It cannot repeat a start, which has no
// GetBody.
func newTransport(rootCAs []byte) (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = func(req *http.Request) (*url.URL, error) {
		if req.URL.Scheme == "http" {
			return nil, nil
		}
		return http.ProxyFromEnvironment(req)
	}
	transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			return proxyError(resp.StatusCode)
		}
		return nil
	}
	transport.MaxIdleConns = idleConnections
	transport.MaxIdleConnsPerHost = idleConnections
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(true)
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(rootCAs) > 0 {
		pool, err := ParseRootCAs(rootCAs)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return transport, nil
}

// withoutIdle returns a transport that opens a connection for each request, and closes it afterwards.
func withoutIdle(keeping http.RoundTripper) http.RoundTripper {
	transport, ok := keeping.(*http.Transport)
	if !ok {
		return keeping // a test replaces the network as a whole
	}
	transport = transport.Clone()
	transport.DisableKeepAlives = true
	return transport
}

// apiClient returns a client that follows a redirect only to the same scheme and host, with the same method, because
// the request carries the API key. It returns any other redirect as the response.
func apiClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		first := via[0]
		same := req.URL.Host == first.URL.Host && req.URL.Scheme == first.URL.Scheme && req.Method == first.Method
		if len(via) > maxRedirects || !same {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// storageClient returns a client for the object store, which never receives the API key. It follows redirects to https
// and to the same scheme.
func storageClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || req.URL.Scheme != "https" && req.URL.Scheme != via[0].URL.Scheme {
			return http.ErrUseLastResponse
		}
		// The presigned link would become the Referer, and user information an Authorization header.
		req.Header.Del("Referer")
		req.URL.User = nil
		req.URL.RawQuery = escapeSpaces(req.URL.RawQuery)
		return nil
	}}
}

// escapeSpaces escapes the spaces of a URL or a query. net/url sends every other character of a query as it is.
func escapeSpaces(text string) string { return strings.ReplaceAll(text, " ", "%20") }

// aborted is the cause of an attempt that the client canceled. The caller's context may not have ended.
type aborted string

func (a aborted) Error() string { return string(a) }

// proxyError is the status with which a proxy refused to connect to a host.
type proxyError int

func (e proxyError) Error() string {
	return "the proxy did not connect to it: HTTP " + statusLine(int(e))
}

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
	_, late := errors.AsType[aborted](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	status, byProxy := errors.AsType[proxyError](err)
	switch {
	case late:
		means.reason = ReasonTooSlow
	case untrusted:
		means = meaning{ReasonUntrusted, refused, false}
	case status == http.StatusProxyAuthRequired:
		means = meaning{ReasonProxyCredentials, refused, false}
	case byProxy:
		means = meaning{ReasonProxyRefused, unconnected, false}
	case errors.Is(err, http.ErrSchemeMismatch):
		means = meaning{ReasonPlainHTTP, refused, false}
	case strings.HasSuffix(err.Error(), "tls: certificate required"):
		// With TLS 1.3, the server refuses the handshake after the client has sent the request, but reads no request.
		means = meaning{ReasonClientCertificate, refused, false}
	}
	text := "the request " + c.Redact(what+req.URL.Host) + " failed: " + c.Redact(err.Error())
	return newError(text, means)
}

func statusLine(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprint(code)
}
