// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestRedirectIsFollowedOnlyWhereTheKeyMayGo(t *testing.T) {
	get := func(c *Client, t *testing.T) error {
		_, err := c.GetUpdateStatus(t.Context(), "up_1")
		return err
	}
	start := func(c *Client, t *testing.T) error {
		_, err := c.StartStaticExport(t.Context(), "docs.example.com", nil)
		return err
	}
	const query = "?token=" + marked
	tests := map[string]struct {
		status   int
		location string
		send     func(*Client, *testing.T) error
		requests []string // that reached some service
		target   string   // that the error names; empty: followed
	}{
		"a GET to the same host":             {302, "/v2/moved" + query, get, []string{"GET localhost/v1/project/update-status/up_1", "GET localhost/v2/moved"}, ""},
		"a GET to the same host by its name": {308, "http://localhost/v2/moved", get, []string{"GET localhost/v1/project/update-status/up_1", "GET localhost/v2/moved"}, ""},
		"a GET to another host":              {302, "http://evil.example/moved" + query, get, []string{"GET localhost/v1/project/update-status/up_1"}, "http://evil.example/moved?(redacted)"},
		"a GET to a host below":              {307, "http://evil.localhost/moved" + query, get, []string{"GET localhost/v1/project/update-status/up_1"}, "http://evil.localhost/moved?(redacted)"},
		"a GET to another port":              {302, "http://localhost:8080/moved" + query, get, []string{"GET localhost/v1/project/update-status/up_1"}, "http://localhost:8080/moved?(redacted)"},
		"a GET to another scheme":            {302, "https://localhost/moved#" + marked, get, []string{"GET localhost/v1/project/update-status/up_1"}, "https://localhost/moved?(redacted)"},
		"a GET to no scheme of the web":      {302, "javascript:alert(1)", get, []string{"GET localhost/v1/project/update-status/up_1"}, "javascript:alert(1)"},
		"a GET with a password":              {302, "http://u:" + marked + "@evil.example/", get, []string{"GET localhost/v1/project/update-status/up_1"}, "http://(redacted)@evil.example/"},
		"a POST that stays one":              {307, "/v2/jobs", start, []string{"POST localhost/v1/static-export/jobs", "POST localhost/v2/jobs"}, ""},
		"a POST that stays one for good":     {308, "/v2/jobs", start, []string{"POST localhost/v1/static-export/jobs", "POST localhost/v2/jobs"}, ""},
		"a POST that becomes a GET":          {302, "/v2/jobs" + query, start, []string{"POST localhost/v1/static-export/jobs"}, "http://localhost/v2/jobs?(redacted)"},
		"a POST that becomes a GET for good": {301, "/v2/jobs", start, []string{"POST localhost/v1/static-export/jobs"}, "http://localhost/v2/jobs"},
		"a POST to another host":             {307, "http://evil.example/jobs" + query, start, []string{"POST localhost/v1/static-export/jobs"}, "http://evil.example/jobs?(redacted)"},
		"nowhere":                            {304, "", get, []string{"GET localhost/v1/project/update-status/up_1"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handler := reply(test.status, "moved")
				if test.location != "" {
					handler = reply(test.status, "moved", "Location: "+test.location)
				}
				c, s := serve(t, inTurn(handler, reply(200, `{"status":"success","jobId":"se_1"}`)), retries(0))
				err := test.send(c, t)
				var requests []string
				for _, r := range s.got() {
					requests = append(requests, r.method+" "+r.host+r.path)
					if r.header.Get("Authorization") != "Bearer "+testKey {
						t.Errorf("%s %s came without the key", r.method, r.path)
					}
					if r.method == "POST" && r.body != `{"domain":"docs.example.com"}` {
						t.Errorf("POST %s came with %q", r.path, r.body)
					}
				}
				if !slices.Equal(requests, test.requests) {
					t.Errorf("requests were %q, want %q", requests, test.requests)
				}
				if len(test.requests) == 2 {
					if err != nil {
						t.Errorf("followed to an error: %v", err)
					}
					return
				}
				var answer *APIError
				if !errors.As(err, &answer) || answer.StatusCode != test.status || answer.Redirect != test.target {
					t.Errorf("the error is %#v, want %d and %s", err, test.status, test.target)
				}
				checkShown(t, err.Error())
			})
		})
	}
}

func TestRedirectLoopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := serve(t, reply(302, "", "Location: /v1/again?token="+marked))
		_, err := c.GetUpdateStatus(t.Context(), "up_1")
		if want := "GET /v1/project/update-status/up_1: HTTP 302 Found to http://localhost/v1/again?(redacted)"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
		if got := len(s.got()); got != maxRedirects+1 {
			t.Errorf("%d requests, want %d", got, maxRedirects+1)
		}
	})
}

func TestStorageRedirectNeverFallsBackToPlainHTTP(t *testing.T) {
	request := func(raw string) *http.Request {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u}
	}
	tests := map[string]struct {
		from, to string
		hops     int
		want     error
	}{
		"to another host":        {"https://a/", "https://b/", 1, nil},
		"from http to https":     {"http://a/", "https://b/", 1, nil},
		"from http to http":      {"http://a/", "http://b/", 1, nil},
		"from https to http":     {"https://a/", "http://a/", 1, http.ErrUseLastResponse},
		"as often as is allowed": {"https://a/", "https://b/", maxRedirects, nil},
		"once more than that":    {"https://a/", "https://b/", maxRedirects + 1, http.ErrUseLastResponse},
	}
	for name, test := range tests {
		if got := storageRedirect(request(test.to), slices.Repeat([]*http.Request{request(test.from)}, test.hops)); !errors.Is(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestOneConnectionServesCallsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := "<p>" + strings.Repeat("We are sorry. ", 1000)
		answers := []http.HandlerFunc{
			reply(200, done), reply(200, ""), reply(200, "{"), reply(200, page), reply(204, ""),
			reply(404, `{"error":"unknown"}`), reply(401, ""), reply(403, page), reply(500, page), reply(503, page),
			reply(302, page, "Location: https://elsewhere.example/"), reply(200, packed([]byte(done)), "Content-Encoding: gzip"),
		}
		c, s := serve(t, inTurn(append(answers, answers...)...), retries(0))
		for range 2 * len(answers) {
			_, _ = c.GetUpdateStatus(t.Context(), "up_1")
		}
		if got := len(s.got()); got != 2*len(answers) || s.dialed() != 1 {
			t.Errorf("%d requests came by %d connections, want %d by 1", got, s.dialed(), 2*len(answers))
		}
	})
}

// authority is a certificate authority of tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *authority) issue(t *testing.T, host string, notAfter time.Time) *tls.Config {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: notAfter, DNSNames: []string{host},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: a.key}}, MinVersion: tls.VersionTLS10}
}

// secure makes the service one of https, whose client trusts the roots.
func secure(config *tls.Config, roots []byte) option {
	return func(c *Config, s *service) {
		c.BaseURL = "https://service.example/v1"
		s.tls = config
		if roots != nil {
			s.transport.TLSClientConfig.RootCAs, _ = CertPool(roots)
		}
	}
}

func TestServiceIsTrustedByItsCertificate(t *testing.T) {
	const host = "service.example"
	tests := map[string]struct {
		host    string
		expired bool
		unknown bool // the authority is not in the roots
		version uint16
		problem string // empty: it is trusted
		again   bool   // whether it may help to try again
	}{
		"of a given authority":        {host: host},
		"of an unknown authority":     {host: host, unknown: true, problem: "certificate signed by unknown authority"},
		"of another host":             {host: "other.example", problem: "certificate is valid for other.example, not service.example"},
		"that has expired":            {host: host, expired: true, problem: "certificate has expired"},
		"but not with TLS before 1.2": {host: host, version: tls.VersionTLS11, problem: "protocol version not supported", again: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ca := newAuthority(t)
				notAfter := time.Now().Add(time.Hour)
				if test.expired {
					notAfter = time.Now().Add(-time.Minute)
				}
				config := ca.issue(t, test.host, notAfter)
				config.MaxVersion = test.version
				roots := ca.pem
				if test.unknown {
					roots = newAuthority(t).pem
				}
				c, s := serve(t, reply(202, `{"jobId":"se_1"}`), secure(config, roots))
				job, err := c.StartStaticExport(t.Context(), "docs.example.com", nil)
				if test.problem == "" {
					if err != nil || job.ID != "se_1" || s.got()[0].proto != "HTTP/2.0" {
						t.Errorf("got %v, %v by %s", job, err, s.got()[0].proto)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("the error is %v, want %q", err, test.problem)
				}
				if MayHaveStarted(err) || len(s.got()) > 0 {
					t.Errorf("MayHaveStarted is %v after %d requests", MayHaveStarted(err), len(s.got()))
				}
				if again := s.dialed() > 1; again != test.again {
					t.Errorf("%d connections were tried", s.dialed())
				}
			})
		})
	}
}

// valve is a connection that a network drops without a word.
type valve struct {
	net.Conn
	shut   *atomic.Bool
	closed chan struct{}
	once   sync.Once
}

func (v *valve) Write(p []byte) (int, error) {
	if v.shut.Load() {
		return len(p), nil
	}
	return v.Conn.Write(p)
}

func (v *valve) Read(p []byte) (int, error) {
	n, err := v.Conn.Read(p)
	if v.shut.Load() {
		<-v.closed
		return 0, io.ErrClosedPipe
	}
	return n, err
}

func (v *valve) Close() error {
	v.once.Do(func() { close(v.closed) })
	return v.Conn.Close()
}

func TestConnectionThatANetworkDroppedIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		var valves []*valve
		c, s := serve(t, reply(200, done), secure(ca.issue(t, "service.example", time.Now().Add(time.Hour)), ca.pem), func(_ *Config, s *service) {
			s.wrap = func(conn net.Conn) net.Conn {
				v := &valve{Conn: conn, shut: new(atomic.Bool), closed: make(chan struct{})}
				valves = append(valves, v)
				return v
			}
		})
		if _, err := c.GetUpdateStatus(t.Context(), "up_1"); err != nil {
			t.Fatal(err)
		}
		valves[0].shut.Store(true)
		dropped := time.Now()
		if _, err := c.GetUpdateStatus(t.Context(), "up_1"); err != nil {
			t.Errorf("on a connection that was dropped: %v", err)
		}
		if took := time.Since(dropped); s.dialed() != 2 || took > time.Minute {
			t.Errorf("it took %s and %d connections", took, s.dialed())
		}
	})
}

func TestProxyThatRefusesIsAConnectionNeverMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proxy := &url.URL{Scheme: "http", Host: "proxy.example", User: url.UserPassword("user", marked)}
		c, s := serve(t, reply(407, "who are you"), retries(0), func(config *Config, s *service) {
			config.BaseURL = "https://service.example/v1"
			s.transport.Proxy = http.ProxyURL(proxy)
		})
		_, err := c.StartStaticExport(t.Context(), "docs.example.com", nil)
		want := "POST /v1/static-export/jobs: no answer from service.example: Proxy Authentication Required"
		if err == nil || err.Error() != want || MayHaveStarted(err) {
			t.Errorf("got %v, want %q", err, want)
		}
		for _, r := range s.got() {
			if r.method != "CONNECT" || r.body != "" || strings.Contains(fmt.Sprint(r.header), testKey) {
				t.Errorf("the proxy got %+v", r)
			}
		}
	})
}

func TestTransportTakesGivenCertificatesBesideTheSystems(t *testing.T) {
	ca := newAuthority(t)
	transport, err := newTransport(ca.pem)
	if err != nil {
		t.Fatal(err)
	}
	config := transport.TLSClientConfig
	if config.MinVersion != tls.VersionTLS12 || config.InsecureSkipVerify {
		t.Errorf("TLS is %+v", config)
	}
	system, err := x509.SystemCertPool()
	if err != nil {
		t.Skip("this system has no roots")
	}
	if config.RootCAs.Equal(system) {
		t.Error("the given certificate is not among the roots")
	}
	system.AddCert(ca.certificate)
	if !config.RootCAs.Equal(system) {
		t.Error("the roots are not those of the system and the given one")
	}
	plain, err := newTransport(nil)
	if err != nil || plain.TLSClientConfig.RootCAs != nil || plain.Proxy == nil {
		t.Errorf("without certificates: %v, roots %v", err, plain.TLSClientConfig.RootCAs)
	}
}

func TestCertPoolRefusesWhatIsNoCertificate(t *testing.T) {
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte(marked)})
	for name, text := range map[string][]byte{"nothing": nil, "words": []byte(marked), "a key": key, "a block of no use": []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")} {
		if _, err := CertPool(text); err == nil || err.Error() != "no certificate could be read from the PEM text" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
