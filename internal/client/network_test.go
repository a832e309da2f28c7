package client

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// A sign-in page, for example, may return JSON.
func TestNotFoundAfterARedirectIsNotThatOfTheJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := serve(t, inTurn(reply(302, "", "Location: /login?"+signature), reply(404, `{"error":"no such page"}`)))
		_, err := c.Begin().GetStaticExportJob(bounded(t, time.Hour), "se_1")
		if err == nil || IsNotFound(err) || !strings.Contains(err.Error(), ", after a redirect to http://docs.test/login?(redacted): no such page") {
			t.Errorf("error %v", err)
		}
	})
}

func TestRedirectIsFollowedOnlyWhereTheKeyMayGo(t *testing.T) {
	type row struct {
		status   int
		location string
		request  request
		target   string // in the error; empty: followed
	}
	inBubbles(t, map[string]row{
		"a read to the same host":        {302, "/v2/moved?" + signature, aRead, ""},
		"a read to the host by its name": {308, "http://docs.test/v2/moved", aRead, ""},
		"a read to another host":         {302, "http://evil.test/moved?" + signature, aRead, "http://evil.test/moved?(redacted)"},
		"a read to another port":         {302, "http://docs.test:8080/moved", aRead, "http://docs.test:8080/moved"},
		"a read to another scheme":       {302, "https://docs.test/moved#id_token=" + signature, aRead, "https://docs.test/moved#(redacted)"},
		"a start that remains one (307)": {307, "/v2/moved", aStart, "http://docs.test/v2/moved"},
		"a start that becomes a read":    {302, "/v2/moved?" + signature, aStart, "http://docs.test/v2/moved?(redacted)"},
		"a read to itself":               {302, "/v1/jobs/se_1", aRead, "http://docs.test/v1/jobs/se_1"},
		"a start to itself":              {307, "/v1/jobs", aStart, "http://docs.test/v1/jobs"},
	}, func(t *testing.T, test row) {
		c, s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v2/moved" {
				reply(200, "{}")(w, r)
				return
			}
			reply(test.status, "moved", "Location: "+test.location)(w, r)
		})
		_, err := c.send(bounded(t, time.Hour), test.request, firstAttempt)
		paths := []string{}
		for _, r := range s.received() {
			paths = append(paths, r.Host+r.URL.EscapedPath())
			if r.Header.Get("Authorization") != "Bearer "+testKey || r.Method != test.request.method || r.body != string(test.request.body) {
				t.Errorf("%s %s came with %q and %v", r.Method, r.RequestURI, r.body, r.Header)
			}
		}
		first := "docs.test/v1/" + strings.Join(test.request.path, "/")
		if test.target == "" {
			if want := []string{first, "docs.test/v2/moved"}; err != nil || !slices.Equal(paths, want) {
				t.Errorf("requests to %q, %v; want %q", paths, err, want)
			}
			return
		}
		if err == nil || !strings.HasSuffix(err.Error(), ", a redirect to "+test.target+": moved") || !slices.Equal(slices.Compact(paths), []string{first}) {
			t.Fatalf("requests to %q, %v; want one that names %s", paths, err, test.target)
		}
		want := ReasonRedirected
		if test.target == "http://"+first { // whatever answers there, base_url is right
			want = ReasonNotTheAPI
		}
		if err.Reason != want {
			t.Errorf("reason %d, want %d: %v", err.Reason, want, err)
		}
	})
}

// A link that is followed takes no credential along.
func TestStorageRedirectToALesserSchemeAndALoopEnd(t *testing.T) {
	for name, test := range map[string]struct {
		from, to string
		hops     int
		followed bool
	}{
		"to another host":         {"https://a/", "https://u:p@b/?x=a b", 1, true},
		"from http to http":       {"http://a/", "http://b/", 1, true},
		"from https to http":      {"https://a/", "http://a/", 1, false},
		"to another scheme":       {"http://a/", "ftp://a/", 1, false},
		"the fifth time":          {"https://a/", "https://b/", maxRedirects, true},
		"more than the last time": {"https://a/", "https://b/", maxRedirects + 1, false},
	} {
		first, next := httptest.NewRequest("GET", test.from, nil), httptest.NewRequest("GET", "/", nil)
		next.URL, _ = url.Parse(test.to)
		next.Header.Set("Referer", test.from)
		err := storageClient(nil).CheckRedirect(next, slices.Repeat([]*http.Request{first}, test.hops))
		if (err == nil) != test.followed {
			t.Errorf("%s: %v", name, err)
		}
		if test.followed && (next.URL.User != nil || next.Header.Get("Referer") != "" || strings.Contains(next.URL.RawQuery, " ")) {
			t.Errorf("%s: %s, Referer %q", name, next.URL, next.Header.Get("Referer"))
		}
	}
}

// Over HTTP/2, net/http sends a read again for as long as the server resets its stream.
func TestServiceIsTrustedByItsCertificateAndAskedOverHTTP1(t *testing.T) {
	for name, test := range map[string]struct {
		host    string
		roots   bool   // whether the certificate is given
		version uint16 // the latest of the server
		asks    tls.ClientAuthType
		problem string // empty: it is trusted
		reason  Reason
	}{
		"a given certificate":  {host: "127.0.0.1", roots: true, version: tls.VersionTLS12},
		"an unknown authority": {host: "127.0.0.1", problem: "certificate signed by unknown authority", reason: ReasonUntrusted},
		"another host":         {host: "localhost", roots: true, problem: "certificate is valid for", reason: ReasonUntrusted},
		"TLS older than TLS 1.2": {
			host: "127.0.0.1", roots: true, version: tls.VersionTLS11, problem: "protocol version not supported",
			reason: ReasonNoResponse,
		},
		"a client certificate": {
			host: "127.0.0.1", roots: true, asks: tls.RequireAnyClientCert, problem: "certificate required",
			reason: ReasonClientCertificate,
		},
	} {
		t.Run(name, func(t *testing.T) {
			protocol := ""
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				protocol = r.Proto
				reply(200, "{}")(w, r)
			}))
			server.EnableHTTP2, server.TLS = true, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: test.version, ClientAuth: test.asks}
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			defer server.Close()
			c := newClient(t, func(config *Config) {
				config.BaseURL = strings.Replace(server.URL, "127.0.0.1", test.host, 1)
				if test.roots {
					config.RootCAs = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
				}
			})
			for _, request := range []request{aRead, aStart} {
				switch _, err := c.send(bounded(t, time.Minute), request, firstAttempt); {
				case test.problem == "":
					if err != nil || protocol != "HTTP/1.1" {
						t.Errorf("%v after a request over %q", err, protocol)
					}
				case !strings.Contains(err.Error(), test.problem) || err.MayHaveActed || err.Reason != test.reason:
					t.Errorf("%v, may have acted: %t, reason %d; want %q", err, err.MayHaveActed, err.Reason, test.problem)
				}
			}
		})
	}
}

// Behind a load balancer, one node can be broken while the others work. Its kept connections are not used again.
func TestRetryHasAConnectionOfItsOwnExceptAfterA429(t *testing.T) {
	read := func(ctx context.Context, c *Client) error {
		_, err := c.Begin().GetStaticExportJob(ctx, "se_1")
		return err
	}
	download := func(ctx context.Context, c *Client) error { return c.Begin().DownloadBundle(ctx, "se_1", &memory{}) }
	type row struct {
		call   func(context.Context, *Client) error // three times
		fails  int                                  // which request
		status int
		want   []int // the connections that the requests use
	}
	inBubbles(t, map[string]row{
		"a read after a 503":     {read, 2, 503, []int{1, 1, 2, 3}},
		"a read after a 429":     {read, 2, 429, []int{1, 1, 1, 1}},
		"a download after a 503": {download, 4, 503, []int{1, 2, 1, 2, 3, 4, 5}},
		"a download after a 429": {download, 4, 429, []int{1, 2, 1, 2, 2, 1, 2}},
		"a link after a 503":     {download, 3, 503, []int{1, 2, 1, 3, 4, 5, 6}},
	}, func(t *testing.T, test row) {
		var used []int
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			used = append(used, r.Context().Value(connectionKey{}).(int))
			switch {
			case len(used) == test.fails:
				reply(test.status, "")(w, r)
			case r.Host == "store.test":
				reply(200, "\x00")(w, r)
			default:
				reply(200, `{"status":"running","bundleUrl":"http://store.test/b"}`)(w, r)
			}
		})
		for range 3 {
			if err := test.call(bounded(t, time.Hour), c); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(used, test.want) {
			t.Errorf("three calls used the connections %v, want %v", used, test.want)
		}
	})
}

func TestProxyIsUsedForHTTPSOnly(t *testing.T) {
	transport, err := newTransport(nil)
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int]error{200: nil, 407: proxyError(407)} {
		if err := transport.OnProxyConnectResponse(t.Context(), nil, nil, &http.Response{StatusCode: status}); !errors.Is(err, want) {
			t.Errorf("a proxy that responds with %d: %v", status, err)
		}
	}
	for raw, want := range map[string]string{"http://docs.test/": "<nil>", "https://docs.test/": proxy} {
		if got, err := transport.Proxy(httptest.NewRequest("GET", raw, nil)); err != nil || fmt.Sprint(got) != want {
			t.Errorf("the proxy for %s is %v, %v; want %s", raw, got, err, want)
		}
	}
}
