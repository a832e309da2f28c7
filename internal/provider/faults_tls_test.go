// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package provider

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// authority is a certificate authority that no system trusts.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Private Root"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newKey(t)
	certificate := sign(t, template, template, key, key)
	return &authority{certificate, key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}))}
}

// issue makes a certificate for a host, an IP address or a name.
func (a *authority) issue(t *testing.T, host string, notAfter time.Time) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	key := newKey(t)
	return tls.Certificate{Certificate: [][]byte{sign(t, template, a.certificate, key, a.key).Raw}, PrivateKey: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// serveTLS offers the harness's service behind TLS, and makes that its base URL.
func (h *harness) serveTLS(t *testing.T, config *tls.Config, handler http.Handler) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.TLS = config
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	h.env["DOCS_BASE_URL"] = server.URL + "/v1"
}

// ownTransport are the options of a provider with the transport that it makes
// for itself.
func (h *harness) ownTransport() Options {
	options := h.options()
	options.HTTPClient = nil
	return options
}

// testTLSFaults meets servers that a client must not talk to.
func testTLSFaults(t *testing.T, table *outcomes) {
	root := newAuthority(t)
	inADay := time.Now().Add(24 * time.Hour)
	good := root.issue(t, "127.0.0.1", inADay)
	for _, test := range []struct {
		name   string
		config *tls.Config
		trust  bool
		says   []string // nothing: it succeeds
	}{
		{name: "certificate of an unknown root, given in ca_cert_pem", config: &tls.Config{Certificates: []tls.Certificate{good}}, trust: true},
		{
			name: "certificate of an unknown root", config: &tls.Config{Certificates: []tls.Certificate{good}},
			says: []string{"certificate signed by unknown authority", "give that in ca_cert_pem"},
		},
		{
			name: "certificate that has expired", config: &tls.Config{Certificates: []tls.Certificate{root.issue(t, "127.0.0.1", time.Now().Add(-time.Hour))}}, trust: true,
			says: []string{"certificate has expired or is not yet valid", "this machine's clock is wrong"},
		},
		{
			name: "certificate of another host", config: &tls.Config{Certificates: []tls.Certificate{root.issue(t, "other.example", inADay)}}, trust: true,
			says: []string{"cannot validate certificate for 127.0.0.1", "not trusted"},
		},
		{
			name: "TLS 1.1", config: &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, trust: true,
			says: []string{"protocol version"},
		},
	} {
		table.announce(test.name)
		for _, place := range []string{simulator.EndpointStart, simulator.EndpointUpdate} {
			t.Run(test.name+"/"+place, func(t *testing.T) {
				t.Parallel()
				h := newHarness(t, simulator.Options{})
				h.serveTLS(t, test.config, h.Service)
				var arguments map[string]any
				if test.trust {
					arguments = map[string]any{"ca_cert_pem": root.pem}
				}
				run := &faultRun{fault: fault{name: test.name}, place: place, lasts: true, protocol: h.newProtocolWith(t, h.ownTransport(), arguments)}
				run.operate(t)
				run.wantRefused(t, test.says)
				table.addRun(run)
			})
		}
	}
	testPlainAnswers(t, table, root, good)
}

// wantRefused checks that nothing was sent, and what was said of it. Without
// words to be said the operation has to succeed.
func (run *faultRun) wantRefused(t *testing.T, says []string) {
	t.Helper()
	run.wantCommon(t)
	if run.succeeded != (len(says) == 0) {
		t.Fatalf("succeeded: %t, and it said:\n%s", run.succeeded, run.said)
	}
	if run.succeeded {
		return
	}
	if run.place == simulator.EndpointStart {
		says = append(says, "No job was started.")
	}
	for _, want := range says {
		if !strings.Contains(run.said, want) {
			t.Errorf("the diagnostics do not say %q:\n%s", want, run.said)
		}
	}
	if run.requests > 0 || len(run.protocol.JobIDs()) > 0 {
		t.Errorf("%d requests arrived", run.requests)
	}
}

// testPlainAnswers meets a server that would have the key sent in clear, and
// one that does not speak TLS where it should.
func testPlainAnswers(t *testing.T, table *outcomes, root *authority, good tls.Certificate) {
	const toPlain, noTLS = "redirect from https to http", "https to a server that speaks http"
	table.announce(toPlain)
	table.announce(noTLS)
	for _, place := range []string{simulator.EndpointStart, simulator.EndpointUpdate} {
		t.Run(toPlain+"/"+place, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			plain := h.BaseURL
			h.serveTLS(t, &tls.Config{Certificates: []tls.Certificate{good}}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, plain+strings.TrimPrefix(r.URL.Path, "/v1"), http.StatusTemporaryRedirect)
			}))
			run := &faultRun{fault: fault{name: toPlain}, place: place, lasts: true, protocol: h.newProtocolWith(t, h.ownTransport(), map[string]any{"ca_cert_pem": root.pem})}
			run.operate(t)
			run.wantRefused(t, []string{"a redirect to " + plain, "the API key must not go anywhere else"})
			table.addRun(run)
		})
		t.Run(noTLS+"/"+place, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, simulator.Options{})
			h.env["DOCS_BASE_URL"] = strings.Replace(h.BaseURL, "http:", "https:", 1)
			run := &faultRun{fault: fault{name: noTLS}, place: place, lasts: true, protocol: h.newProtocolWith(t, h.ownTransport(), nil)}
			run.operate(t)
			run.wantRefused(t, []string{"server gave HTTP response to HTTPS client"})
			table.addRun(run)
		})
	}
}

// testProxyFaults meets proxies that do not let the requests through. Their
// URLs hold a password.
func testProxyFaults(t *testing.T, table *outcomes) {
	const password = "proxy-" + linkMark
	for _, test := range []struct {
		name   string
		scheme string
		dead   bool
		says   string
	}{
		{name: "proxy that answers 407", scheme: "http", says: "A proxy on the way wants credentials."},
		{name: "proxy that answers 407 to CONNECT", scheme: "https", says: "Proxy Authentication Required"},
		{name: "proxy that cannot be reached", scheme: "https", dead: true, says: "connection refused"},
	} {
		table.announce(test.name)
		for _, place := range []string{simulator.EndpointStart, simulator.EndpointUpdate} {
			t.Run(test.name+"/"+place, func(t *testing.T) {
				t.Parallel()
				h := newHarness(t, simulator.Options{})
				h.env["DOCS_BASE_URL"] = strings.Replace(h.BaseURL, "http:", test.scheme+":", 1)
				proxy := newProxy(t)
				if test.dead {
					proxy.server.Close()
				}
				options := h.options()
				options.HTTPClient.Transport = &http.Transport{Proxy: http.ProxyURL(&url.URL{
					Scheme: "http", Host: proxy.server.Listener.Addr().String(), User: url.UserPassword("someone", password),
				})}
				run := &faultRun{fault: fault{name: test.name}, place: place, lasts: true, protocol: h.newProtocolWith(t, options, nil)}
				run.operate(t)
				run.wantRefused(t, []string{test.says})
				if strings.Contains(run.said+run.protocol.logs.String(), password) {
					t.Errorf("the proxy's password is told:\n%s", run.said)
				}
				if test.dead != (proxy.asked.Load() == 0) {
					t.Errorf("the proxy was asked %d times", proxy.asked.Load())
				}
				if test.scheme == "https" && proxy.sawKey.Load() {
					t.Error("the proxy was told the API key")
				}
				table.addRun(run)
			})
		}
	}
}

// proxy refuses whoever asks.
type proxy struct {
	server *httptest.Server
	asked  atomic.Int64
	sawKey atomic.Bool
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		var head bytes.Buffer
		_ = r.Header.Write(&head) // a bytes.Buffer takes everything
		if strings.Contains(head.String(), simulator.DefaultAPIKey) {
			p.sawKey.Store(true)
		}
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(p.server.Close)
	return p
}
