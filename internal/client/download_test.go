package client

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// content and other are two objects.
var content, other = noise(10_000, 1), noise(10_000, 2)

func noise(n int, seed uint64) []byte {
	random, bytes := rand.New(rand.NewPCG(seed, 0)), make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	return bytes
}

// sends returns a handler that sends an object, or the range that is requested.
func sends(object []byte, etag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(object))
	}
}

// cuts returns a handler that sends the beginning of an object, and closes the connection.
func cuts(n int, object []byte, etag string) http.HandlerFunc {
	return reply(200, string(object[:n]), "ETag: "+etag, fmt.Sprint("Content-Length: ", len(object)))
}

// link returns the bundle that a link leads to.
func link(t *testing.T, c *Client, url string) *Bundle {
	t.Helper()
	bundle, err := c.readBundle(&object{fields: map[string]any{"bundleUrl": url}})
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

// receive receives an object in one attempt.
func receive(t *testing.T, c *Client, url string, to *memory) *Error {
	t.Helper()
	_, failure := (&receiver{client: c, to: to}).receive(t.Context(), link(t, c, url), firstAttempt)
	return failure
}

// presigned has user information, which must not be sent.
const presigned = "http://user:" + signature + "@store.test/b?X-Amz-Signature=" + signature

// memory is a destination that takes a while or fails if the test says so.
type memory struct {
	bytes.Buffer
	takes         time.Duration
	write, create error
}

func (m *memory) Write(p []byte) (int, error) {
	<-time.After(m.takes)
	n, _ := m.Buffer.Write(p)
	return n, m.write
}

func (m *memory) Restart() error {
	m.Reset()
	return m.create
}

// offsets returns where the part begins that each request asked for, 0 for a whole object.
func (s *service) offsets() string {
	offsets := []string{}
	for _, r := range s.received() {
		offset := "0"
		if condition := r.Header.Get("If-Range"); condition != "" {
			offset = strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-")
			if condition != `"v1"` {
				offset += " if " + condition
			}
		}
		offsets = append(offsets, offset)
	}
	return strings.Join(offsets, " ")
}

func TestDownloadSucceeds(t *testing.T) {
	whole, half := sends(content, `"v1"`), cuts(4000, content, `"v1"`)
	pagelike := []byte("\x00\x00\x00\x00<b>")
	part := func(body []byte, contentRange string, headers ...string) http.HandlerFunc {
		return reply(206, string(body), append(headers, "Content-Range: bytes "+contentRange)...)
	}
	lost := func(w http.ResponseWriter, r *http.Request) { // without a length
		reply(200, string(content[:4000]), `ETag: "v1"`)(w, r)
		w.(http.Flusher).Flush()
		reset(w, r)
	}
	type handlers []http.HandlerFunc // in turn
	type row struct {
		handlers handlers
		offsets  string
		content  []byte        // of the object; nil: content
		states   int64         // sizeBytes; zero if the service does not state it
		took     time.Duration // that it takes
	}
	inBubbles(t, map[string]row{
		"of what only begins like a page":     {handlers{sends([]byte("<\x00"), `"v1"`)}, "0", []byte("<\x00"), 0, 0},
		"whose second part looks like a page": {handlers{cuts(4, pagelike, `"v1"`), sends(pagelike, `"v1"`)}, "0 4", pagelike, 0, 0},
		"that the store calls text":           {handlers{reply(200, "\x1f\x8b\x00", "Content-Type: text/plain")}, "0", []byte("\x1f\x8b\x00"), 0, 0},
		"resuming after a refusal":            {handlers{half, reply(403, ""), whole}, "0 4000 4000", nil, 0, 0},
		"after a stall":                       {handlers{drip(3, 20*second, silent), whole}, "0 0", nil, 0, 90 * second},
		"slowly but steadily": {
			handlers{drip(10, 29*second, reply(200, ""))}, "0", bytes.Repeat([]byte("\x00123456789"), 10), 0, 290 * second,
		},
		"from the start with a weak ETag":      {handlers{cuts(4000, content, `W/"v1"`), whole}, "0 0", nil, 0, 0},
		"from the start if the object changed": {handlers{half, sends(other[:1000], `"v2"`)}, "0 4000", other[:1000], 0, 0},
		"again if a part is of another object": {handlers{half, part(other[4000:], "4000-9999/10000", `ETag: "v2"`), whole}, "0 4000 0", nil, 0, 0},
		"again if another part comes":          {handlers{half, part(content[400:], "400-9999/10000"), whole}, "0 4000 0", nil, 0, 0},
		"again if there is no such part":       {handlers{half, reply(416, "", "Content-Range: bytes */1000"), whole}, "0 4000 0", nil, 0, 0},
		"again after a part of another size":   {handlers{half, part(content[4000:9000], "4000-8999/9000"), whole}, "0 4000 0", nil, 0, 0},
		"with a part that repeats no ETag":     {handlers{half, part(content[4000:], "4000-9999/10000")}, "0 4000", nil, 0, 0},
		"of another size than that":            {handlers{whole}, "0", nil, 7, 0}, // the contract does not say of what it is the size
		"up to the size that is stated":        {handlers{reply(200, string(content[:4000]), `ETag: "v1"`), whole}, "0 4000", nil, 10_000, 0},
		"again after a part that is too short": {
			handlers{lost, part(content[4000:4100], "4000-4099/10000", `ETag: "v1"`), whole}, "0 4000 4100", nil, 0, 0,
		},
		"from the start after a part that is too long": {
			handlers{half, part(append(content[4000:10000:10000], 'x'), "4000-9999/10000"), reply(416, ""), whole}, "0 4000 10001 0", nil, 0, 0,
		},
	}, func(t *testing.T, test row) {
		want := test.content
		if want == nil {
			want = content
		}
		c, s := serve(t, inTurn(test.handlers...))
		to := &memory{}
		receiver := &receiver{client: c, to: to}
		var err error
		for n := range test.handlers { // each attempt has a link of its own
			if n > 0 && err == nil {
				t.Error("an attempt that should fail succeeds")
			}
			bundle := link(t, c, presigned)
			bundle.SizeBytes = &test.states
			_, failure := receiver.receive(t.Context(), bundle, attempt{number: n + 1})
			err = asError(failure)
		}
		if err != nil || !bytes.Equal(to.Bytes(), want) || receiver.size != int64(len(want)) {
			t.Errorf("received %d bytes, which are not the object's; counted %d; error %v", to.Len(), receiver.size, err)
		}
		if took := time.Since(s.began); s.offsets() != test.offsets || took != test.took {
			t.Errorf("requests from %s in %s, want %s in %s", s.offsets(), took, test.offsets, test.took)
		}
	})
}

// drip sends chunks, each after a delay, and then does what comes next.
func drip(chunks int, delay time.Duration, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		for range chunks {
			late(delay, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("\x00123456789"))
				w.(http.Flusher).Flush()
			})(w, r)
		}
		next(w, r)
	}
}

// Any value in the query of a link may be what makes it a credential.
func TestMessageOfTheStoreShowsNoPartOfTheLink(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ query, repeated string }{
		{"token=ab%2Bcdefgh%3D", "ab+cdefgh="},
		{"token=ab%2bcdefgh%3d", "ab%2bcdefgh%3d"},
		{"token=ab+cd/efgh", "ab+cd/efgh"},
		{"token=first-one&token=second-one", "second-one"},
	} {
		c := receiving(t, 400, `{"message":"no `+row.repeated+` here"}`)
		if err := receive(t, c, "https://store.test/1?"+row.query, &memory{}); err == nil || !strings.HasSuffix(err.Error(), ": no (redacted) here") {
			t.Errorf("%s: error %v", row.query, err)
		}
	}
}

func TestDownloadFails(t *testing.T) {
	const xml = `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Expired at https://s.test/?` + signature +
		`</Message><StringToSign>` + signature + `</StringToSign></Error>`
	const refused = "the object store store.test returned HTTP 403 Forbidden"
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		err     string
	}{
		"with an XML error in a namespace": {
			reply(403, strings.Replace(xml, "<Error>", `<Error xmlns="urn:s">`, 1)),
			refused + ": AccessDenied: Expired at https://s.test/?(redacted)",
		},
		"with other XML":       {reply(403, "<html>"+signature+"</html>"), refused},
		"with XML over 64 KiB": {reply(403, strings.Replace(xml, "<Code>", strings.Repeat(" ", maxError)+"<Code>", 1)), refused},
		"with JSON":            {reply(599, `{"sig":"`+signature+`"}`), "the object store store.test returned HTTP 599"},
		"with a message in JSON": {
			reply(400, `{"error":"InvalidJWT","message":"jwt expired: `+signature+`"}`),
			"the object store store.test returned HTTP 400 Bad Request: InvalidJWT: jwt expired: (redacted)",
		},
		"with the reason of a redirect": {
			reply(301, strings.Replace(xml, "AccessDenied", "PermanentRedirect", 1)),
			"the object store store.test returned HTTP 301 Moved Permanently, a redirect that is not followed: " +
				"PermanentRedirect: Expired at https://s.test/?(redacted)",
		},
		"with JSON instead of the bundle": {
			reply(200, `{"error":"back at noon"}`),
			"the object store store.test returned HTTP 200 OK with text instead of the bundle: back at noon",
		},
		"with a compressed page": {
			reply(200, zipped("<title>Sign in</title>"), "Content-Encoding: gzip", "Content-Type: Text/HTML; charset=utf-8"),
			"the object store store.test returned HTTP 200 OK with a web page instead of the bundle",
		},
		"with a page in UTF-16": {
			reply(200, "<\x00h\x00t\x00m\x00l\x00", "Content-Type: application/xhtml+xml"),
			"the object store store.test returned HTTP 200 OK with a web page instead of the bundle",
		},
		"with a wait": {
			reply(503, "", "Retry-After: 90"),
			"the object store store.test returned HTTP 503 Service Unavailable; it asks clients to wait until 2000-01-01T00:01:30Z",
		},
		"with text instead of the bundle": {
			reply(200, "Back at noon: "+signature),
			"the object store store.test returned HTTP 200 OK with text instead of the bundle",
		},
		"if the response is empty": {reply(200, ""), "the request to the object store store.test failed: the response is empty"},
		"if a page stalls": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			for _, part := range []string{"\r\n", "<html>", strings.Repeat("x", 600)} {
				_, _ = w.Write([]byte(part))
				w.(http.Flusher).Flush()
			}
			silent(w, r)
		}, "the object store store.test returned HTTP 200 OK with a web page instead of the bundle"},
		"if a tar that begins with text is cut": {
			reply(200, "index.html", "Content-Type: application/x-tar", "Content-Length: 10000"),
			"the request to the object store store.test failed: unexpected EOF",
		},
		"if the store is silent": {silent, "the request to the object store store.test failed: no data within the request timeout"},
		"if the response is cut": {cuts(4000, content, ""), "the request to the object store store.test failed: unexpected EOF"},
		"if it is cut at once":   {cuts(0, content, ""), "the request to the object store store.test failed: unexpected EOF"},
		"if the part is wrong":   {reply(206, "x"), "the request to the object store store.test failed: the response is not the requested part"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, s := serve(t, test.handler)
				err := receive(t, c, presigned, &memory{})
				if took := time.Since(s.began); err == nil || err.Error() != test.err || len(s.received()) != 1 || took > defaultRequestTimeout {
					t.Errorf("error %v after %d requests in %s, want %q after 1", err, len(s.received()), took, test.err)
				}
			})
		})
	}
}

func TestDownloadWaitsForItsDestinationAndEndsWithItsError(t *testing.T) {
	full := errors.New("the disk is full")
	for _, test := range []struct {
		to   memory
		want error
	}{
		{memory{takes: time.Minute}, nil}, // a slow disk is not a stall
		{memory{write: full}, full},
		{memory{create: full}, full},
	} {
		bubble(t, func(t *testing.T) {
			c, _ := serve(t, sends(content, ""))
			failure := receive(t, c, presigned, &test.to)
			if err := asError(failure); !errors.Is(err, test.want) || failure != nil && failure.kind != permanent {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

func TestDownloadSendsNoCredential(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, s := serve(t, inTurn(reply(302, "", "Location: http://other.test/b?"+signature), reply(200, "\x00content")))
		if err := receive(t, c, presigned, &memory{}); err != nil {
			t.Fatal(err)
		}
		hosts := []string{}
		for _, r := range s.received() {
			hosts = append(hosts, r.Host)
			for name, want := range map[string]string{
				"Authorization": "", "Cookie": "", "Referer": "",
				"Accept-Encoding": "identity", "Cache-Control": "no-cache", "User-Agent": "test/1",
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s got %s %q, want %q", r.Host, name, got, want)
				}
			}
		}
		if want := []string{"store.test", "other.test"}; !slices.Equal(hosts, want) {
			t.Errorf("requests to %q, want %q", hosts, want)
		}
		if want := "DEBUG Download map[attempt:1 duration_ms:0 host:store.test range: status:200]"; s.logged.lines[0] != want {
			t.Errorf("logged %q, want %q", s.logged.lines[0], want)
		}
	})
}

// What signed a link may have signed its bytes.
func TestLinkIsSentAsItIsButForSpaces(t *testing.T) {
	for path, want := range map[string]string{
		"//a%2Fb//c+d;e=f,g/%C3%A9.tar?x=+%2B;y=z&&a=//é&b=%zz&sig=a/b%2Fc==": "",
		"/a b%2Fc?filename=a b.tar": "/a%20b%2Fc?filename=a%20b.tar",
		"/a?filename=a%20b&x=":      "",
		"/a?":                       "",
	} {
		bubble(t, func(t *testing.T) {
			c, s := serve(t, reply(200, "\x00"))
			err := receive(t, c, "http://store.test"+path, &memory{})
			if got := s.received(); err != nil || len(got) != 1 || got[0].RequestURI != cmp.Or(want, path) {
				t.Errorf("%s is requested as %v: %v", path, got, err)
			}
		})
	}
}
