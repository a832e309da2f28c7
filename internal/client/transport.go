// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"time"
)

// idleConnections is over any parallelism that Terraform is run with, so that
// a connection is kept for each request in flight.
const idleConnections = 128

// newTransport returns the one transport of a client: the proxy of the usual
// environment variables, TLS 1.2 or later, the system's roots and the given
// ones.
func newTransport(rootCAs []byte) (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = idleConnections
	transport.MaxIdleConnsPerHost = idleConnections
	transport.IdleConnTimeout = 90 * time.Second
	// Without this a connection of HTTP/2 that a network on the way has dropped is
	// found dead only after many minutes, with every poll sent into it.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second}
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(rootCAs) > 0 {
		pool, err := CertPool(rootCAs)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return transport, nil
}

// withoutReuse returns a transport that makes a connection for each request. One
// that was idle may be closed by the service just as a request is written to
// it, and nobody can tell then whether the service got the request.
func withoutReuse(transport http.RoundTripper) http.RoundTripper {
	shared, ok := transport.(*http.Transport)
	if !ok {
		return transport
	}
	fresh := shared.Clone()
	fresh.DisableKeepAlives = true
	return fresh
}

// CertPool returns the system's roots and the given PEM certificates.
func CertPool(pem []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate could be read from the PEM text")
	}
	return pool, nil
}

const maxRedirects = 5

// sameHostOnly follows a redirect of the API only where the key may go: to the
// same scheme and host, with the same method. Otherwise the redirect itself is
// the answer, and becomes an error that says where it pointed.
func sameHostOnly(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
		return http.ErrUseLastResponse
	}
	return nil
}

// storageRedirect follows a redirect of the object store, which gets no key,
// as long as it does not fall back from https to http.
func storageRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return http.ErrUseLastResponse
	}
	// The link itself would go along as the Referer, and user information of the
	// redirect as an Authorization header.
	req.Header.Del("Referer")
	req.URL.User = nil
	return nil
}
