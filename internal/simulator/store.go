package simulator

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// store is an object store that behaves like S3: a presigned link allows one
// kind of request, the GET of one object, until it expires.
type store struct {
	base string // URL of its own listener; empty if it has none
	now  func() time.Time

	mu      sync.Mutex
	objects map[string]object    // by name
	links   map[string]time.Time // expiry by path and query
}

type object struct {
	content []byte
	etag    string
}

// put stores an object and returns a new link to it. It looks like a link of S3, but
// nothing is signed: the store remembers its links.
func (o *store) put(_ context.Context, name string, content []byte, lifetime time.Duration) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.objects[name] = object{content, strconv.Quote(digits(string(content), 32))}
	now := o.now().UTC().Truncate(time.Second)
	query := url.Values{
		"X-Amz-Date":      {now.Format("20060102T150405Z")},
		"X-Amz-Expires":   {strconv.Itoa(int(lifetime / time.Second))},
		"X-Amz-Signature": {digits(fmt.Sprint("signature", len(o.links)), 64)},
	}
	link := storageBase + name + "?" + query.Encode()
	o.links[link] = now.Add(lifetime)
	return o.base + link, nil
}

// download responds to a request for an object.
func (o *store) download(r *http.Request) response {
	o.mu.Lock()
	expires, signed := o.links[r.URL.RequestURI()]
	stored := o.objects[r.PathValue("name")]
	o.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "":
		return refusal(http.StatusBadRequest, "InvalidArgument", "A presigned link excludes an Authorization header.")
	case r.Method != http.MethodGet || !signed:
		return refusal(http.StatusForbidden, "AccessDenied", "The link was not made for this request.")
	case !o.now().Before(expires):
		return refusal(http.StatusForbidden, "AccessDenied", "The link has expired.")
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("ETag", stored.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(stored.content))
	return response{status: w.Code, header: w.Header(), body: w.Body.Bytes()}
}

// refusal returns an error in the XML of S3.
func refusal(status int, code, message string) response {
	body := fmt.Sprintf("%s<Error><Code>%s</Code><Message>%s</Message></Error>\n", xml.Header, code, message)
	return response{status: status, header: http.Header{"Content-Type": {"application/xml"}}, body: []byte(body)}
}
