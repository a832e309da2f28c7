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

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

const (
	idleConnections = 128 // more than any usual -parallelism, so that each request in flight can keep its connection
	maxRedirects    = 5
)

// newTransport returns a transport that uses the proxy of the usual environment variables, TLS 1.2 or later, and the
// given root certificates in addition to the system's. Plain http never goes through a proxy, because it is meant for
// loopback hosts.
//
// It speaks HTTP/1.1 only. Over HTTP/2, net/http sends a request again if the server resets its stream, even a POST
// that the server has acted on, and all requests share one connection.
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

// connectionError returns the error of a request, to the API or the object store, that received no complete response,
// from the error of net/http. It redacts the text, which has the whole URL and may quote what the server sent. If the
// client canceled the attempt, the text is the [aborted]. sent means that the server may have received the request.
func connectionError(redactor display.Redactor, req *http.Request, toStore, sent bool, err error) *Error {
	if cause := context.Cause(req.Context()); cause != nil {
		if _, ok := errors.AsType[aborted](cause); !ok {
			failure := wrap(cause, ended)
			failure.MayHaveActed = sent
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
	means, what := meaning{ReasonNoResponse, unconnected, false}, req.Method+" "+req.URL.EscapedPath()+" to "
	switch {
	case toStore: // the path may be a part of the credential
		means, what = meaning{ReasonStoreNoResponse, temporary, false}, "to the object store "
	case sent:
		means = meaning{ReasonNoResponse, temporary, true}
	}
	_, late := errors.AsType[aborted](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	status, byProxy := errors.AsType[proxyError](err)
	switch {
	case late && !toStore:
		means.reason = ReasonTooSlow
	case untrusted:
		means.reason, means.kind = ReasonUntrusted, refused
	case status == http.StatusProxyAuthRequired:
		means.reason, means.kind = ReasonProxyCredentials, refused
	case byProxy:
		means.reason = ReasonProxyRefused
	case errors.Is(err, http.ErrSchemeMismatch):
		means.reason, means.kind = ReasonPlainHTTP, refused
		if toStore {
			means.reason = ReasonNotTheStore
		}
	case strings.HasSuffix(err.Error(), "tls: certificate required"):
		// With TLS 1.3, the server refuses the handshake after the client has sent the request, but reads no request.
		means = meaning{ReasonClientCertificate, refused, false}
	}
	text := "the request " + redactor.Redact(what+req.URL.Host) + " failed: " + redactor.Redact(err.Error())
	return newError(text, means)
}

func statusLine(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprint(code)
}
