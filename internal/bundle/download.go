// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/transport"
)

// Fetcher sends requests to the object store. [*transport.Transport] is one.
type Fetcher interface {
	// Fetch sends a GET request for a presigned link, without the API key. It
	// returns responses with status 200, 206, and 416.
	Fetch(ctx context.Context, link string, header http.Header) (*http.Response, error)
	// Retry waits and returns nil if a failed attempt is worth repeating. Otherwise it
	// returns the final error. failures counts the consecutive failures before err.
	Retry(ctx context.Context, failures int, err error) error
}

// Link is a presigned link to a bundle.
type Link struct {
	URL       string
	SizeBytes *int64 // nil if unknown
}

// downloadBuffer is the size of the only part of a bundle that is ever in memory.
const downloadBuffer = 256 << 10

// transfer is a download over one or more connections.
type transfer struct {
	fetcher Fetcher
	link    Link
	file    *os.File
	hash    hash.Hash
	size    int64 // bytes written and hashed
	total   int64 // size of the object; zero or less if the object store does not say
	// etag is the strong entity tag of the object those bytes belong to, or "".
	etag string
}

// download fetches a bundle to the file and returns its checksum and size.
//
// If the connection is lost, it resumes the download if the object is still the same
// according to its strong entity tag (RFC 9110, section 13.1.5). Otherwise, it starts
// over. An attempt that receives more than every earlier one resets the count of
// failures.
func download(ctx context.Context, fetcher Fetcher, file *os.File, link func(context.Context) (Link, error)) (checksum string, size int64, err error) {
	first, err := link(ctx)
	if err != nil {
		return "", 0, err
	}
	t := &transfer{fetcher: fetcher, link: first, file: file, hash: sha256.New()}
	renewed, furthest := false, int64(0)
	for failures := 0; ; {
		err := t.attempt(ctx)
		if err == nil {
			return hex.EncodeToString(t.hash.Sum(nil)), t.size, nil
		}
		if refusal, refused := errors.AsType[*transport.StorageError](err); refused && !renewed && refusal.LinkRefused() {
			renewed = true
			if t.link, err = link(ctx); err != nil {
				return "", 0, err
			}
			continue
		}
		// Receiving the same bytes again is not progress: an object store that does
		// not support ranges may send the first half again and again.
		if t.size > furthest {
			furthest, failures = t.size, 0
		}
		if err := fetcher.Retry(ctx, failures, err); err != nil {
			return "", 0, err
		}
		failures++
	}
}

// attempt sends one request, and receives the bundle or the rest of it.
func (t *transfer) attempt(ctx context.Context) error {
	if t.etag == "" {
		if err := t.restart(""); err != nil {
			return err
		}
	}
	header := http.Header{}
	if t.size > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", t.size))
		header.Set("If-Range", t.etag)
	}
	answer, err := t.fetcher.Fetch(ctx, t.link.URL, header)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	switch {
	case answer.StatusCode == http.StatusOK:
		if err := t.restart(strongETag(answer.Header)); err != nil {
			return err
		}
		t.total = answer.ContentLength
	case answer.StatusCode != http.StatusPartialContent || !t.continues(answer.Header):
		t.etag = "" // start over
		return incomplete(answer, "the object store did not send the requested part of the bundle")
	}
	if _, total, found := strings.Cut(answer.Header.Get("Content-Range"), "/"); found {
		if n, err := strconv.ParseInt(total, 10, 64); err == nil {
			t.total = n
		}
	}
	return t.receive(answer)
}

// continues reports whether a partial response has the next bytes of the same object.
func (t *transfer) continues(header http.Header) bool {
	etag := header.Get("ETag")
	return t.size > 0 && (etag == "" || etag == t.etag) &&
		strings.HasPrefix(header.Get("Content-Range"), fmt.Sprintf("bytes %d-", t.size))
}

// receive writes and hashes the body to its end.
func (t *transfer) receive(answer *http.Response) error {
	want, announced := t.link.SizeBytes, t.size+answer.ContentLength
	if want != nil && answer.ContentLength >= 0 && announced != *want {
		return &SizeError{Want: *want, Got: announced}
	}
	buffer := make([]byte, downloadBuffer)
	for {
		n, err := answer.Body.Read(buffer)
		if _, err := t.file.Write(buffer[:n]); err != nil {
			return err
		}
		_, _ = t.hash.Write(buffer[:n])
		t.size += int64(n)
		switch {
		case want != nil && t.size > *want:
			return &SizeError{Want: *want, Got: t.size}
		case err == io.EOF && want != nil && t.size < *want:
			return incomplete(answer, "the bundle was cut off after %d of %d bytes", t.size, *want)
		case err == io.EOF && t.size < t.total:
			return incomplete(answer, "the bundle was cut off after %d of %d bytes", t.size, t.total)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// incomplete returns the error of a response that ends too early or has other bytes
// than requested. It is retried like a lost connection.
func incomplete(answer *http.Response, format string, values ...any) error {
	from := answer.Request.URL
	return &transport.ConnectionError{Method: http.MethodGet, Path: from.EscapedPath(), Host: from.Host, Sent: true, Err: fmt.Errorf(format, values...)}
}

// restart drops the received bytes. The bytes that follow belong to the object with the
// given entity tag.
func (t *transfer) restart(etag string) error {
	t.size, t.etag = 0, etag
	t.hash.Reset()
	if err := t.file.Truncate(0); err != nil {
		return err
	}
	_, err := t.file.Seek(0, io.SeekStart)
	return err
}

// strongETag returns the entity tag if it is strong, as If-Range requires, or "".
func strongETag(header http.Header) string {
	if etag := header.Get("ETag"); strings.HasPrefix(etag, `"`) {
		return etag
	}
	return ""
}
