package client

import (
	"context"
	"crypto/tls"
	"fmt"
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

func statusLine(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprint(code)
}
