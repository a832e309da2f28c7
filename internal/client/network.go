package client

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
)

const (
	idleConnections = 128 // more than any usual -parallelism, so that each request in flight can keep its connection
	maxRedirects    = 5
)

// network is a way to the API and to the object store.
type network struct{ api, storage *http.Client }

func newNetwork(transport http.RoundTripper) network {
	return network{api: apiClient(transport), storage: storageClient(transport)}
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

// networkOf returns the network for an attempt.
func (c *Client) networkOf(a attempt) network {
	if a.alone {
		return c.separate
	}
	return c.shared
}

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

// storageClient returns a client for the object store, which never receives the API key. It follows redirects, except
// from https to http.
func storageClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return http.ErrUseLastResponse
		}
		// The presigned link would become the Referer, and user information an Authorization header.
		req.Header.Del("Referer")
		req.URL.User = nil
		req.URL.RawQuery = escapeSpaces(req.URL.RawQuery)
		return nil
	}}
}
