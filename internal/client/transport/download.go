// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"
)

// downloadBuffer is the size of the only part of a download that is ever in memory.
const downloadBuffer = 256 << 10

// Link is a presigned link to an object.
type Link struct {
	URL       string
	SizeBytes *int64 // nil if unknown
}

// Download describes a downloaded object.
type Download struct {
	SHA256    string // lowercase hex
	SizeBytes int64
}

// download is a download over one or more connections.
type download struct {
	*Transport
	link Link
	file *os.File
	hash hash.Hash
	size int64 // bytes written and hashed
	// total is the size of the object that those bytes belong to; negative if unknown.
	total int64
	// etag is the strong entity tag of that object, or "".
	etag string
}

// Download downloads an object into an empty file. If the object store refuses the first
// link, it asks newLink for another one. No request carries the API key.
//
// If the connection is lost, it resumes the download if the object is still the same
// according to its strong entity tag (RFC 9110, section 13.1.5). Otherwise, it starts
// over. An attempt that receives more than every earlier one resets the count of
// failures.
//
// The error is that of newLink, a [*StorageError] or [*ConnectionError], the
// [*os.PathError] of the file, context.Cause(ctx), or says that the size is wrong.
func (t *Transport) Download(ctx context.Context, file *os.File, newLink func(context.Context) (Link, error)) (Download, error) {
	link, err := newLink(ctx)
	if err != nil {
		return Download{}, err
	}
	d := &download{Transport: t, link: link, file: file, hash: sha256.New()}
	renewed, furthest := false, int64(0)
	for failures := 0; ; {
		err := d.attempt(ctx)
		if err == nil {
			return Download{hex.EncodeToString(d.hash.Sum(nil)), d.size}, nil
		}
		if refusal, refused := errors.AsType[*StorageError](err); refused && !renewed && refusal.linkRefused() {
			renewed = true
			if d.link, err = newLink(ctx); err != nil {
				return Download{}, err
			}
			continue
		}
		// Receiving the same bytes again is not progress: an object store that does
		// not support ranges may send the first half again and again.
		if d.size > furthest {
			furthest, failures = d.size, 0
		}
		if err := t.retry(ctx, failures, err); err != nil {
			return Download{}, err
		}
		failures++
	}
}

// attempt sends one request, and receives the object or the rest of it. The request is
// canceled if no data arrives within the request timeout.
func (d *download) attempt(ctx context.Context) error {
	if d.etag == "" {
		if err := d.restart(""); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(d.config.RequestTimeout, func() { cancel(fmt.Errorf("no data for %s", d.config.RequestTimeout)) })
	defer stalled.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.link.URL, nil)
	if err != nil {
		return errors.New("the bundle's link is not a URL") // err quotes the link
	}
	req.URL.User = nil // net/http would turn it into an Authorization header
	req.Header.Set("User-Agent", d.config.UserAgent)
	// The checksum applies to the object as it is stored.
	req.Header.Set("Accept-Encoding", "identity")
	if d.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.size))
		req.Header.Set("If-Range", d.etag)
	}
	began, fields := d.config.Clock.Now(), map[string]any{"host": req.URL.Host, "path": req.URL.EscapedPath(), "range": req.Header.Get("Range")}
	resp, err := d.storage.Do(req)
	if err != nil {
		err = d.connectionError(ctx, req, true, err)
	} else {
		defer func() { _ = resp.Body.Close() }()
		fields["status"] = resp.StatusCode
		err = d.receive(ctx, resp, stalled)
	}
	fields["duration_ms"] = d.config.Clock.Now().Sub(began).Milliseconds()
	if err != nil {
		fields["error"] = err.Error()
	}
	d.Log(ctx, slog.LevelDebug, "Bundle download", fields)
	return err
}

// receive writes and hashes the body of a response to its end.
func (d *download) receive(ctx context.Context, resp *http.Response, stalled *time.Timer) error {
	incomplete := func(format string, values ...any) error {
		return d.connectionError(ctx, resp.Request, true, fmt.Errorf(format, values...))
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		if err := d.restart(resp.Header.Get("ETag")); err != nil {
			return err
		}
		d.total = resp.ContentLength
	case resp.StatusCode == http.StatusPartialContent && d.continues(resp.Header):
	case resp.StatusCode == http.StatusPartialContent, resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		d.etag = "" // start over
		return incomplete("the object store did not send the requested part of the bundle")
	default:
		return d.storageError(resp)
	}
	if want := d.link.SizeBytes; want != nil && d.total < 0 {
		d.total = *want
	} else if want != nil && d.total != *want {
		return wrongSize(d.total, *want)
	}
	buffer := make([]byte, downloadBuffer)
	for {
		stalled.Reset(d.config.RequestTimeout)
		n, err := resp.Body.Read(buffer)
		stalled.Stop() // a slow disk is not a stall
		if _, err := d.file.Write(buffer[:n]); err != nil {
			return err
		}
		_, _ = d.hash.Write(buffer[:n])
		d.size += int64(n)
		switch {
		case d.total >= 0 && d.size > d.total:
			return wrongSize(d.size, d.total)
		case err == io.EOF && d.size < d.total:
			return incomplete("the bundle was cut off after %d of %d bytes", d.size, d.total)
		case err == io.EOF:
			return nil
		case err != nil:
			return d.connectionError(ctx, resp.Request, true, err)
		}
	}
}

func wrongSize(got, want int64) error {
	return fmt.Errorf("the bundle has %d bytes, but the service announced %d", got, want)
}

// continues reports whether a partial response has the next bytes of the same object.
func (d *download) continues(header http.Header) bool {
	var from, to int64
	// The size may be "*", so two values are enough.
	n, _ := fmt.Sscanf(header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &d.total)
	etag := header.Get("ETag")
	return n >= 2 && d.size > 0 && from == d.size && (etag == "" || etag == d.etag)
}

// restart drops the received bytes. The bytes that follow belong to the object with the
// given entity tag. Only a strong one can be used to resume.
func (d *download) restart(etag string) error {
	if !strings.HasPrefix(etag, `"`) {
		etag = ""
	}
	d.size, d.etag = 0, etag
	d.hash.Reset()
	if err := d.file.Truncate(0); err != nil {
		return err
	}
	_, err := d.file.Seek(0, io.SeekStart)
	return err
}

// storageError returns the error of a response without data. It shows only the code and
// the message of the XML error format that object stores share: its other elements
// repeat the signature and what was signed.
func (t *Transport) storageError(resp *http.Response) error {
	storageError := &StorageError{Host: t.Redact(resp.Request.URL.Host), StatusCode: resp.StatusCode, RetryAfter: parseRetryAfter(resp.Header, t.config.Clock.Now())}
	var body struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	if xml.NewDecoder(io.LimitReader(resp.Body, maxError)).Decode(&body) == nil {
		storageError.Message = t.Redact(strings.Trim(body.Code+": "+body.Message, ": "))
	}
	return storageError
}
