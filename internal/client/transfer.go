// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The buffers are all of a bundle that is ever in memory. Smaller or fewer ones
// keep reading and hashing waiting for each other.
const (
	downloadBuffers = 4
	downloadBuffer  = 256 << 10
)

// sink is what of an [os.File] a transfer needs.
type sink interface {
	io.WriteSeeker
	Truncate(size int64) error
}

// transfer is a bundle on its way, over one connection or several.
type transfer struct {
	client *Client
	bundle *Bundle
	file   sink
	hash   hash.Hash
	free   chan []byte // buffers to read into
	size   int64       // bytes written and hashed
	// etag is the strong validator of the object that those bytes are of, or
	// empty.
	etag string
}

func newTransfer(c *Client, file sink) *transfer {
	t := &transfer{client: c, file: file, hash: sha256.New(), free: make(chan []byte, downloadBuffers)}
	for range downloadBuffers {
		t.free <- make([]byte, downloadBuffer)
	}
	return t
}

// run makes attempts until the bundle is whole.
func (t *transfer) run(ctx context.Context, link func(context.Context, bool) (*Bundle, error)) (err error) {
	if t.bundle, err = link(ctx, false); err != nil {
		return err
	}
	renewed := false
	furthest := int64(0)
	for failures := 0; ; failures++ {
		err := t.attempt(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ended(ctx, err)
		case isLinkRefused(err) && !renewed:
			if t.bundle, err = link(ctx, true); err != nil {
				return err
			}
			renewed = true
			failures--
			continue
		case !isTransientDownload(err):
			return err
		}
		// Not any byte counts: of an object store that knows no ranges the first
		// half would come for ever.
		if t.size > furthest {
			furthest, failures = t.size, 0
		}
		if failures >= t.client.maxRetries {
			return err
		}
		if err := t.pause(ctx, err, failures); err != nil {
			return err
		}
	}
}

// pause waits before the next attempt, unless that would come too late.
func (t *transfer) pause(ctx context.Context, last error, failures int) error {
	c := t.client
	wait := backoff(failures, c.random())
	var storageError *StorageError
	asked := errors.As(last, &storageError) && storageError.Answer.RetryAfter > 0
	if asked {
		wait = storageError.Answer.RetryAfter
	}
	at := c.clock.Now().Add(wait)
	if deadline := deadlineOf(ctx); !deadline.IsZero() && at.After(deadline) {
		if asked {
			return because(&BusyError{RetryAt: at}, last)
		}
		return tooLate(at, last)
	}
	if err := c.clock.Sleep(ctx, wait); err != nil {
		return ended(ctx, last)
	}
	return nil
}

// attempt makes one request and takes in as much of the bundle as it brings.
func (t *transfer) attempt(ctx context.Context) error {
	c := t.client
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := func() (stop func() bool) {
		return c.clock.AfterFunc(c.requestTimeout, func() { cancel(fmt.Errorf("no data for %s", c.requestTimeout)) })
	}

	if t.etag == "" {
		if err := t.restart(); err != nil {
			return err
		}
	}
	began, offset := c.clock.Now(), t.size
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.bundle.URL, nil)
	if err != nil {
		return errors.New("the bundle's link is not a URL") // err quotes it
	}
	req.URL.User = nil // net/http would make an Authorization header of it
	req.Header.Set("User-Agent", c.userAgent)
	// The object as it is stored: its size and checksum are of that.
	req.Header.Set("Accept-Encoding", "identity")
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		req.Header.Set("If-Range", t.etag)
	}
	status, err := t.exchange(ctx, req, watch)
	fields := map[string]any{
		"host":        req.URL.Host,
		"path":        req.URL.EscapedPath(),
		"status":      status,
		"offset":      offset,
		"size":        t.size,
		"duration_ms": c.clock.Now().Sub(began).Milliseconds(),
	}
	if err != nil {
		fields["error"] = c.Redact(err.Error())
	}
	c.log.Debug(ctx, "Bundle download", fields)
	return err
}

// exchange sends the request and reads the answer. The status is zero if there
// was none.
func (t *transfer) exchange(ctx context.Context, req *http.Request, watch func() (stop func() bool)) (status int, err error) {
	stop := watch()
	resp, err := t.client.storage.Do(req)
	stop()
	if err != nil {
		return 0, t.cut(ctx, req, err)
	}
	defer func() { _ = resp.Body.Close() }()
	whole := false
	switch resp.StatusCode {
	case http.StatusOK:
		if err = t.restart(); err == nil {
			t.etag = strongETag(resp.Header)
		}
	case http.StatusPartialContent:
		err = t.checkContinues(ctx, req, resp)
	case http.StatusRequestedRangeNotSatisfiable:
		whole, err = t.checkWhole(ctx, req, resp)
	default:
		defer watch()()
		err = t.refused(resp)
	}
	if err == nil && !whole {
		err = t.receive(ctx, req, resp, watch)
	}
	return resp.StatusCode, err
}

// checkContinues makes sure that a 206 brings the bytes after those that are
// here, of the same object. Otherwise the next attempt starts anew.
func (t *transfer) checkContinues(ctx context.Context, req *http.Request, resp *http.Response) error {
	first, _, ok := strings.Cut(strings.TrimPrefix(resp.Header.Get("Content-Range"), "bytes "), "-")
	etag := resp.Header.Get("ETag")
	if t.size > 0 && ok && first == strconv.FormatInt(t.size, 10) && (etag == "" || etag == t.etag) {
		return nil
	}
	t.etag = ""
	return t.cut(ctx, req, errors.New("it sent another part of the bundle than was asked for"))
}

// checkWhole tells whether a 416, which says that there is nothing after the
// bytes that are here, means that all of them are. Otherwise the next attempt
// starts anew.
func (t *transfer) checkWhole(ctx context.Context, req *http.Request, resp *http.Response) (bool, error) {
	if t.size > 0 && resp.Header.Get("Content-Range") == fmt.Sprintf("bytes */%d", t.size) {
		return true, t.checkSize(t.size)
	}
	t.etag = ""
	return false, t.cut(ctx, req, errors.New("it has no such part of the bundle as was asked for"))
}

// receive writes and hashes the body until its end.
func (t *transfer) receive(ctx context.Context, req *http.Request, resp *http.Response, watch func() (stop func() bool)) error {
	if resp.ContentLength >= 0 {
		if err := t.checkSize(t.size + resp.ContentLength); err != nil {
			return err
		}
	}
	hash, finish := t.hashBeside()
	defer finish()
	for {
		buffer := <-t.free
		stop := watch()
		n, err := resp.Body.Read(buffer)
		stop()
		if _, err := t.file.Write(buffer[:n]); err != nil {
			return err
		}
		hash <- buffer[:n]
		t.size += int64(n)
		switch want := t.bundle.SizeBytes; {
		case want != nil && t.size > *want:
			return &SizeError{Want: *want, Got: t.size}
		case err == io.EOF && want != nil && t.size < *want:
			return t.cut(ctx, req, fmt.Errorf("the bundle was cut off after %d of %d bytes", t.size, *want))
		case err == io.EOF:
			return nil
		case err != nil:
			return t.cut(ctx, req, fmt.Errorf("the bundle was cut off after %d bytes: %w", t.size, err))
		}
	}
}

// hashBeside hashes what it is sent and then frees it, while the next is being
// read and written: one after the other takes half as long again. finish waits
// until all is hashed.
func (t *transfer) hashBeside() (queue chan<- []byte, finish func()) {
	full, done := make(chan []byte, cap(t.free)), make(chan struct{})
	go func() {
		defer close(done)
		for data := range full {
			t.hash.Write(data)
			t.free <- data[:cap(data)]
		}
	}()
	return full, func() {
		close(full)
		<-done
	}
}

func (t *transfer) checkSize(got int64) error {
	if want := t.bundle.SizeBytes; want != nil && got != *want {
		return &SizeError{Want: *want, Got: got}
	}
	return nil
}

// restart forgets what was received.
func (t *transfer) restart() error {
	t.size, t.etag = 0, ""
	t.hash.Reset()
	if err := t.file.Truncate(0); err != nil {
		return err
	}
	_, err := t.file.Seek(0, io.SeekStart)
	return err
}

// cut makes the error of a connection that ended before the bundle did.
func (t *transfer) cut(ctx context.Context, req *http.Request, err error) error {
	return t.client.connectionError(ctx, req, true, err)
}

func (t *transfer) refused(resp *http.Response) error {
	const enough = 64 << 10
	x := exchange{status: resp.StatusCode, header: resp.Header, requestID: t.client.requestID(resp.Header)}
	x.body, _ = io.ReadAll(io.LimitReader(resp.Body, enough)) // what came of it will do
	if message := storageMessage(x.body); message != "" {
		x.body = []byte(message)
	}
	var answer *APIError
	errors.As(t.client.apiError(resp.Request, resp, x), &answer)
	return &StorageError{Host: resp.Request.URL.Host, Answer: *answer}
}

// storageMessage reads the XML error that the common object stores share. Its
// other elements repeat the signature and what was signed.
func storageMessage(body []byte) string {
	var e struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	if xml.Unmarshal(body, &e) != nil || e.Code == "" && e.Message == "" {
		return ""
	}
	return strings.Trim(e.Code+": "+e.Message, ": ")
}

// isLinkRefused reports whether a new link may help: object stores answer an
// expired one with 403, and with 400 where the credential that signed it has
// expired; an archive that was cleaned away is made again with a new link.
func isLinkRefused(err error) bool {
	var storageError *StorageError
	if !errors.As(err, &storageError) {
		return false
	}
	switch storageError.Answer.StatusCode {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}

func isTransientDownload(err error) bool {
	var storageError *StorageError
	if errors.As(err, &storageError) {
		return isTransient(&storageError.Answer)
	}
	return isTransient(err)
}

// strongETag returns the entity tag that a range may be conditional on, or
// empty (RFC 9110, section 13.1.5).
func strongETag(header http.Header) string {
	if etag := header.Get("ETag"); strings.HasPrefix(etag, `"`) {
		return etag
	}
	return ""
}
