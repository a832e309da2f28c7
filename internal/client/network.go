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

// networks are the two networks of a client.
type networks struct {
	shared   *network // keeps its connections for later requests
	separate *network // opens a connection for each request
}

func newNetworks(keeping http.RoundTripper) networks {
	single := keeping // a test replaces the network as a whole
	if transport, ok := keeping.(*http.Transport); ok {
		transport = transport.Clone()
		transport.DisableKeepAlives = true
		single = transport
	}
	return networks{&network{apiClient(keeping), storageClient(keeping)}, &network{apiClient(single), storageClient(single)}}
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
		if len(via) > maxRedirects || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
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
