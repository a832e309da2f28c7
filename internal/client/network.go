// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"time"
)

const (
	// idleConnections exceeds any usual -parallelism, so that each request in
	// flight can keep its connection.
	idleConnections = 128
	maxRedirects    = 5
)

// newNetwork returns a network that uses the proxy of the usual environment variables,
// TLS 1.2 or later, and the given root certificates in addition to the system's. Plain
// http, which only loopback hosts use, never goes through a proxy.
func newNetwork(rootCAs []byte) (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = func(req *http.Request) (*url.URL, error) {
		if req.URL.Scheme == "http" {
			return nil, nil
		}
		return http.ProxyFromEnvironment(req)
	}
	transport.MaxIdleConns = idleConnections
	transport.MaxIdleConnsPerHost = idleConnections
	// Without pings, polls over an HTTP/2 connection that the network has dropped
	// would hang for many minutes.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second}
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(rootCAs) > 0 {
		pool, err := certPool(rootCAs)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return transport, nil
}

// withoutReuse returns a transport that opens a connection for each request. If the
// service closes an idle connection just as a request is written to it, the client
// cannot tell whether the service received the request.
func withoutReuse(network http.RoundTripper) http.RoundTripper {
	transport, ok := network.(*http.Transport)
	if !ok {
		return network // of a test
	}
	transport = transport.Clone()
	transport.DisableKeepAlives = true
	return transport
}

// apiClient returns a client that follows a redirect only to the same scheme and host,
// with the same method, because the request carries the API key. It returns any other
// redirect as the response.
func apiClient(transport http.RoundTripper, follow bool) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		first := via[0]
		if !follow || len(via) > maxRedirects || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// storageClient returns a client for the object store, which never receives the API key.
// It follows redirects, except from https to http.
func storageClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return http.ErrUseLastResponse
		}
		// The presigned link would become the Referer, and user information an
		// Authorization header.
		req.Header.Del("Referer")
		req.URL.User = nil
		return nil
	}}
}
