// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Config configures a Client. BaseURL and APIKey are required; everything else has a
// default.
type Config struct {
	BaseURL string // see [ParseBaseURL]
	APIKey  string // see [ParseAPIKey]
	// UserAgent is sent with each request.
	UserAgent string
	// RootCAs are PEM certificates to trust in addition to the system's.
	RootCAs []byte
	// RequestTimeout limits each attempt of a request, and how long a download may
	// receive no data; 30 s if zero.
	RequestTimeout time.Duration
	// MaxRetries limits the retries of a request; 4 if nil. If the context has a deadline,
	// that alone limits the retries after a 429.
	MaxRetries *int
	// Log writes a log record. No message or field contains the API key or the query of
	// a URL.
	Log   func(ctx context.Context, level slog.Level, message string, fields map[string]any)
	Clock clock.Clock
	// Random returns numbers in [0, 1) for jitter.
	Random func() float64
	// RoundTripper replaces the network in tests.
	RoundTripper http.RoundTripper
}

// The errors of an invalid configuration say what is wrong with one setting.
type (
	// BaseURLError is about [Config.BaseURL].
	BaseURLError string
	// APIKeyError is about [Config.APIKey]. It never shows the key.
	APIKeyError string
	// CertificatesError is about [Config.RootCAs].
	CertificatesError string
)

func (e BaseURLError) Error() string      { return string(e) }
func (e APIKeyError) Error() string       { return string(e) }
func (e CertificatesError) Error() string { return string(e) }

// CheckCertificates checks that [Config.RootCAs] can use the PEM text.
func CheckCertificates(pem []byte) error {
	if _, err := transport.CertPool(pem); err != nil {
		return CertificatesError(err.Error())
	}
	return nil
}

// ParseBaseURL checks a base URL and returns it without surrounding whitespace, trailing
// slashes, or an empty port. The URL must be absolute, without a query, fragment, or user
// information. Plain http is allowed only for loopback hosts, because the API key would
// travel unencrypted. The error is a [BaseURLError].
func ParseBaseURL(raw string) (*url.URL, error) {
	raw = strings.TrimRight(strings.TrimSpace(raw), "/")
	u, err := url.Parse(raw)
	if err != nil {
		// The parser's own error quotes the input, which may hold a password.
		return nil, BaseURLError("it is not a URL")
	}
	switch {
	case u.Scheme == "" || u.Hostname() == "":
		return nil, BaseURLError("it must be absolute, such as https://host.example/v1")
	case u.User != nil:
		return nil, BaseURLError("it must not contain a user name or password; the API key has its own argument")
	case strings.Contains(raw, "#"):
		return nil, BaseURLError("it must not have a fragment (the part after \"#\")")
	case strings.Contains(raw, "?"):
		return nil, BaseURLError("it must not have a query (the part after \"?\")")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, BaseURLError("plain http is allowed for loopback hosts only, because the API key would travel unencrypted; use https")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, BaseURLError(fmt.Sprintf("its scheme is %q; use https", u.Scheme))
	}
	u.Host = strings.TrimSuffix(u.Host, ":") // net/http drops the colon too
	return u, nil
}

// isLoopback reports whether a host is a loopback address or localhost, in any
// case and with at most one trailing dot. Names below .localhost are not loopback,
// because many systems look them up in DNS.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
}

// ParseAPIKey checks that a key can be sent in an Authorization header, and returns it
// without surrounding whitespace. The error is an [APIKeyError].
func ParseAPIKey(raw string) (string, error) {
	key := strings.TrimSpace(raw)
	if key == "" {
		return "", APIKeyError("it is empty")
	}
	if strings.ContainsAny(key[:1]+key[len(key)-1:], "\"'`") {
		return "", APIKeyError("it has quotation marks around it")
	}
	for _, r := range key {
		switch {
		case unicode.IsSpace(r):
			return "", APIKeyError("it contains whitespace")
		case unicode.IsControl(r):
			return "", APIKeyError("it contains a control character")
		case r > unicode.MaxASCII:
			return "", APIKeyError("it contains a character outside ASCII")
		}
	}
	return key, nil
}
