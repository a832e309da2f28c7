// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package simulator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// objectStore is an object store in the manner of S3: everything is private,
// and a presigned link opens one object to GET until it expires.
type objectStore struct {
	mu      sync.Mutex
	base    string // URL of the listener; empty: where the API is
	objects map[string]object
	keys    int // signing keys used so far
	signed  int // links signed so far
}

type object struct {
	content []byte
	etag    string
}

const amzDate = "20060102T150405Z"

func newObjectStore() *objectStore {
	return &objectStore{objects: map[string]object{}}
}

// Put stores an object.
func (o *objectStore) Put(_ context.Context, name string, content []byte) error {
	sum := sha256.Sum256(content)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.objects[name] = object{content, `"` + hex.EncodeToString(sum[:16]) + `"`}
	return nil
}

func (o *objectStore) remove(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.objects, name)
}

func (o *objectStore) rotateKey() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys++
}

// link signs a GET of an object, good from now, a whole second, for lifetime.
// Each link differs from all earlier ones.
func (o *objectStore) link(name string, now time.Time, lifetime time.Duration) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.signed++
	now = now.UTC()
	query := url.Values{
		"X-Amz-Algorithm":      {"AWS4-HMAC-SHA256"},
		"X-Amz-Credential":     {"SIMULATOR/" + now.Format("20060102") + "/us-east-1/s3/aws4_request"},
		"X-Amz-Date":           {now.Format(amzDate)},
		"X-Amz-Expires":        {strconv.Itoa(int(lifetime / time.Second))},
		"X-Amz-Security-Token": {digits(fmt.Sprint("token", o.signed), 32)},
		"X-Amz-SignedHeaders":  {"host"},
	}
	path := storageBase + name
	query.Set("X-Amz-Signature", o.sign(path, query))
	return o.base + path + "?" + query.Encode()
}

// sign returns the signature of a link: of its path and of all its parameters
// but the signature. Call with o.mu held.
func (o *objectStore) sign(path string, query url.Values) string {
	signed := url.Values{}
	for name, values := range query {
		if name != "X-Amz-Signature" {
			signed[name] = values
		}
	}
	mac := hmac.New(sha256.New, fmt.Append(nil, "signing key ", o.keys))
	fmt.Fprintf(mac, "GET\n%s\n%s", path, signed.Encode())
	return hex.EncodeToString(mac.Sum(nil))
}

// serve answers a request for an object at now.
func (o *objectStore) serve(w http.ResponseWriter, r *http.Request, name string, now time.Time) {
	query := r.URL.Query()
	o.mu.Lock()
	want := o.sign(r.URL.EscapedPath(), query)
	stored, found := o.objects[name]
	o.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "":
		refuse(w, http.StatusBadRequest, "InvalidArgument", "a presigned link and an Authorization header exclude each other")
	case query.Get("X-Amz-Signature") == "":
		refuse(w, http.StatusForbidden, "AccessDenied", "the object is private")
	case r.Method != http.MethodGet || !hmac.Equal([]byte(want), []byte(query.Get("X-Amz-Signature"))):
		refuse(w, http.StatusForbidden, "SignatureDoesNotMatch", "the link was not signed for this request")
	case expired(query, now):
		refuse(w, http.StatusForbidden, "AccessDenied", "the link has expired")
	case !found:
		refuse(w, http.StatusNotFound, "NoSuchKey", "there is no object of this name")
	default:
		w.Header().Set("Content-Type", "application/gzip")
		w.Header().Set("ETag", stored.etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(stored.content))
	}
}

// expired tells whether a link, whose signature is good, is over at now.
func expired(query url.Values, now time.Time) bool {
	signed, err := time.Parse(amzDate, query.Get("X-Amz-Date"))
	seconds, notANumber := strconv.Atoi(query.Get("X-Amz-Expires"))
	if err != nil || notANumber != nil {
		return true
	}
	return !now.Before(signed.Add(time.Duration(seconds) * time.Second))
}

// refuse answers with an error in the XML of S3.
func refuse(w http.ResponseWriter, status int, code, message string) {
	var text strings.Builder
	_ = xml.EscapeText(&text, []byte(message)) // a strings.Builder takes everything
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "%s<Error><Code>%s</Code><Message>%s</Message><RequestId>%s</RequestId></Error>\n",
		xml.Header, code, text.String(), w.Header().Get("X-Request-Id"))
}
