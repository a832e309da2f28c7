package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/clock"
)

// Config configures a Client. BaseURL and APIKey are required; everything else has a default.
type Config struct {
	BaseURL   string // see [ParseBaseURL]
	APIKey    string // see [ParseAPIKey]
	UserAgent string // sent with each request; must not contain control characters
	RootCAs   []byte // PEM certificates to trust in addition to the system's
	// RequestTimeout limits each attempt of a request, of which a POST has at least [answerTimeout], and how long a
	// download may receive no data; 30 s if zero.
	RequestTimeout time.Duration
	// Log writes a log record. No message or field contains the API key or the query of a URL.
	Log          func(ctx context.Context, level slog.Level, message string, fields map[string]any)
	Clock        clock.Clock       // times pauses and deadlines; a request takes the time of the machine
	Random       func() float64    // returns numbers in [0, 1) for jitter
	RoundTripper http.RoundTripper // replaces the network in tests
}

// The errors of the following functions are clauses that say what is wrong, such as "it is empty". They do not show
// the value, which may be a secret.

var byteOrderMark = []byte("\uFEFF")

// ParseRootCAs returns the system's root certificates and the given PEM certificates. It ignores byte order marks, and
// text around the certificates.
func ParseRootCAs(text []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	text = bytes.ReplaceAll(text, byteOrderMark, nil)
	if pool.AppendCertsFromPEM(text) {
		return pool, nil
	}
	const problem = "no certificate could be read from the PEM text"
	if block, _ := pem.Decode(text); block != nil {
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return nil, fmt.Errorf("%s: %w", problem, err)
		}
	}
	return nil, errors.New(problem)
}

// ParseBaseURL checks a base URL and returns it without leading or trailing whitespace, trailing slashes, or an empty
// port. The URL must be absolute, without a query, fragment, or user information. Plain http is allowed only for
// loopback hosts, because the API key would travel unencrypted.
func ParseBaseURL(raw string) (*url.URL, error) {
	raw = strings.TrimRight(strings.TrimSpace(raw), "/")
	u, err := url.Parse(raw)
	if err != nil {
		// The parser's own error quotes the input, which may hold a password.
		return nil, errors.New("it cannot be parsed as a URL, such as https://host.example/v1")
	}
	switch {
	case u.Scheme == "" || u.Hostname() == "":
		return nil, errors.New("it must be absolute, such as https://host.example/v1")
	case u.User != nil:
		return nil, errors.New("it must not contain a user name or password; the API key has its own argument")
	case strings.ContainsAny(raw, "?#"):
		return nil, errors.New("it must not have a query or a fragment (the part after \"?\" or \"#\")")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, errors.New("plain http is allowed only for localhost and loopback addresses, " +
			"because the API key would travel unencrypted; use https")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("its scheme is %q; use https", u.Scheme)
	}
	if number, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16); err != nil || number == 0 {
		return nil, errors.New("its port is not a number from 1 to 65535")
	}
	u.Host = strings.TrimSuffix(u.Host, ":") // net/http drops the colon too
	return u, nil
}

// isLoopback reports whether a host is a loopback address or localhost, in any case and with at most one trailing
// dot. Names below .localhost are not loopback, because many systems look them up in DNS.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost")
}

// ParseAPIKey checks that a key can be sent in an Authorization header, and returns it without leading or trailing
// whitespace.
func ParseAPIKey(raw string) (string, error) {
	key := strings.TrimSpace(raw)
	if key == "" {
		return "", errors.New("it is empty")
	}
	// Messages in JSON would escape quotation marks and backslashes.
	unusual := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`\\", r) }
	if strings.ContainsFunc(key, unusual) {
		return "", errors.New("it contains whitespace, a quotation mark, or another character that keys do not have")
	}
	return key, nil
}
