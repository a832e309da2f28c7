// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/retry"
)

// downloadBuffer is the size of the only part of a download that is ever in memory.
const downloadBuffer = 256 << 10

// Destination is what a download is written to.
type Destination interface {
	io.Writer
	// Restart drops what was written.
	Restart() error
}

// DownloadBundle downloads the bundle of a completed job.
// It creates a link of its own, and another one if the object store refuses it, as long as
// there is progress: the link or the credential that signed it may have expired, and the
// service may restore a deleted archive when it creates a link.
//
// The error is one of [Client.GenerateBundle], a [*StorageError] or [*ConnectionError], that
// of the destination, or, if ctx ended it, context.Cause(ctx) or an [*retry.EndedError].
func (c *Client) DownloadBundle(ctx context.Context, jobID string, to Destination) error {
	receiver := &receiver{client: c, to: to}
	for before := int64(-1); ; before = receiver.size {
		bundle, err := c.GenerateBundle(ctx, jobID, BundleOptions{})
		if err != nil {
			return err
		}
		if err = c.receive(ctx, receiver, bundle.link); err == nil {
			return nil
		}
		if status, _ := statusOf(err); status/100 != 4 || receiver.size <= before {
			return err
		}
	}
}

// receive receives an object, or the rest of it, from one link. Receiving the same bytes
// again does not count as progress: an object store without ranges may send the first half
// forever.
func (c *Client) receive(ctx context.Context, receiver *receiver, link *url.URL) error {
	loop, furthest := c.loop(plainRule), receiver.size
	loop.Progressed = func() bool {
		before := furthest
		furthest = max(furthest, receiver.size)
		return furthest > before
	}
	return loop.Run(ctx, func(ctx context.Context) (*retry.Poll, error) { return nil, receiver.receive(ctx, link) })
}

// receiver receives an object over one or more connections and links.
type receiver struct {
	client *Client
	to     Destination
	size   int64 // bytes written
	// total is the size of the object that those bytes belong to; negative if unknown.
	total int64
	// etag is the strong entity tag of that object, or "".
	etag string
}

// receive sends one request for the object that a presigned link leads to, without the API
// key, and receives the object. The request is canceled if no data arrives within the
// request timeout.
//
// If an earlier call failed, it receives only the rest if the object is still the same
// according to its strong entity tag (RFC 9110, section 13.1.5). Otherwise, it starts over.
//
// The error is a [*StorageError] or [*ConnectionError], that of the destination, or, if ctx
// ended, context.Cause(ctx).
func (r *receiver) receive(ctx context.Context, link *url.URL) error {
	if r.etag == "" {
		if err := r.restart(""); err != nil {
			return err
		}
	}
	c := r.client
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(c.config.RequestTimeout, func() { cancel(silence("no data within the request timeout")) })
	defer stalled.Stop()
	target := *link
	target.User = nil // net/http would turn it into an Authorization header
	req := (&http.Request{Method: http.MethodGet, URL: &target, Header: http.Header{}}).WithContext(ctx)
	req.Header.Set("User-Agent", c.config.UserAgent)
	// The checksum applies to the object as it is stored.
	req.Header.Set("Accept-Encoding", "identity")
	if r.size > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", r.size))
		req.Header.Set("If-Range", r.etag)
	}
	began, fields := time.Now(), map[string]any{"host": req.URL.Host, "path": req.URL.EscapedPath(), "range": req.Header.Get("Range")}
	resp, err := c.storage.Do(req)
	if err != nil {
		err = c.storageConnectionError(ctx, req, err)
	} else {
		defer func() { _ = resp.Body.Close() }()
		fields["status"] = resp.StatusCode
		err = r.read(ctx, resp, stalled)
	}
	c.logAttempt(ctx, "Download", began, err, fields)
	return err
}

// read writes the body of a response to its end.
func (r *receiver) read(ctx context.Context, resp *http.Response, stalled *time.Timer) error {
	incomplete := func(err error) error {
		return r.client.storageConnectionError(ctx, resp.Request, err)
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		if err := r.restart(resp.Header.Get("ETag")); err != nil {
			return err
		}
		r.total = resp.ContentLength
	case resp.StatusCode == http.StatusPartialContent && r.continues(resp.Header):
	case resp.StatusCode == http.StatusPartialContent, resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		r.etag = "" // start over
		return incomplete(errors.New("the object store did not send the requested part"))
	default:
		return r.client.storageError(resp)
	}
	buffer := make([]byte, downloadBuffer)
	for {
		stalled.Reset(r.client.config.RequestTimeout)
		n, err := resp.Body.Read(buffer)
		stalled.Stop() // a slow disk is not a stall
		if _, err := r.to.Write(buffer[:n]); err != nil {
			return err
		}
		r.size += int64(n)
		switch {
		case err == io.EOF && r.size < r.total:
			return incomplete(fmt.Errorf("the response ended after %d of %d bytes", r.size, r.total))
		case err == io.EOF:
			return nil
		case err != nil:
			return incomplete(err)
		}
	}
}

// continues reports whether a partial response has the next bytes of the same object. It
// notes the size of the object, which the first response may not have had.
func (r *receiver) continues(header http.Header) bool {
	var from, to, total int64
	// If the size is "*", nothing tells a part from the rest.
	n, _ := fmt.Sscanf(header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &total)
	known := r.total
	r.total = total
	etag := header.Get("ETag")
	return n == 3 && from == r.size && (known < 0 || known == total) && (etag == "" || etag == r.etag)
}

// restart drops the received bytes. The bytes that follow belong to the object with the
// given entity tag. Only a strong one can be used to resume.
func (r *receiver) restart(etag string) error {
	if !strings.HasPrefix(etag, `"`) {
		etag = ""
	}
	r.size, r.etag = 0, etag
	return r.to.Restart()
}

// storageConnectionError is [Client.connectionError] for the object store.
func (c *Client) storageConnectionError(ctx context.Context, req *http.Request, err error) error {
	err = c.connectionError(ctx, req, true, err)
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		connection.Storage = true
	}
	return err
}

// storageError returns the error of a response without data. It shows only the code and
// the message of the XML error format that object stores share: its other elements
// repeat the signature and what was signed.
func (c *Client) storageError(resp *http.Response) error {
	storageError := &StorageError{Host: c.Redact(resp.Request.URL.Host), StatusCode: resp.StatusCode, RetryAfter: parseRetryAfter(resp.Header, c.config.Clock.Now())}
	var body struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	if xml.NewDecoder(io.LimitReader(resp.Body, maxError)).Decode(&body) == nil {
		storageError.Message = c.Redact(strings.Trim(body.Code+": "+body.Message, ": "))
	}
	return storageError
}
