package client

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
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
//
// It creates a link of its own. If the object store refuses the link, DownloadBundle creates
// another: the link, or the credential that signed it, may have expired. Right after the job,
// the store may not have the archive yet.
//
// The error is that of [Client.GenerateBundle] or of the destination, a [*StorageError], a
// [*ConnectionError], or, if ctx ended, context.Cause(ctx). It is wrapped in a
// [*retry.EndedError] if an earlier attempt failed.
func (c *Client) DownloadBundle(ctx context.Context, jobID string, to Destination) error {
	receiver := &receiver{client: c, to: to}
	var bundle *Bundle // nil if the next attempt needs a link
	return c.loop.Do(ctx, plainRule, func(ctx context.Context, current retry.Attempt) (err error) {
		over := c.route(current, false)
		if bundle == nil {
			if bundle, _, err = attempt(ctx, c, over, c.bundleOperation(jobID), current.Number); err != nil {
				return err
			}
		}
		err = receiver.receive(ctx, over, bundle.URL, current.Number)
		if classify(err).Kind == retry.NotFound {
			bundle = nil
		}
		return err
	})
}

// receiver receives an object over one or more connections and links.
type receiver struct {
	client   *Client
	to       Destination
	size     int64 // bytes written
	furthest int64 // the largest size so far
	// total is the size of the object that those bytes belong to; negative if unknown.
	total int64
	// etag is the strong entity tag of that object, or "".
	etag string
}

// receive sends one request for the object that a presigned link leads to, without the API
// key, and receives the object. The request is canceled if no data arrives within the
// request timeout.
//
// After an earlier call that failed, it receives only the rest if the object is still the same
// according to its strong entity tag (RFC 9110, section 13.1.5). Otherwise, it starts over.
//
// The error is a [*StorageError] or [*ConnectionError], that of the destination, or, if ctx
// ended, context.Cause(ctx).
func (r *receiver) receive(ctx context.Context, over *network, link string, number int) error {
	c := r.client
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(c.config.RequestTimeout, func() { cancel(aborted("no data within the request timeout")) })
	defer stalled.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return err
	}
	req.URL.User = nil // net/http would turn it into an Authorization header
	req.Header.Set("User-Agent", c.config.UserAgent)
	req.Header.Set("Cache-Control", "no-cache")
	// The checksum applies to the object as it is stored.
	req.Header.Set("Accept-Encoding", "identity")
	if r.size > 0 && r.etag != "" {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", r.size))
		req.Header.Set("If-Range", r.etag)
	}
	before, began := r.furthest, time.Now()
	fields := map[string]any{"host": req.URL.Host, "range": req.Header.Get("Range"), "attempt": number}
	resp, err := over.storage.Do(req)
	if err == nil {
		fields["status"] = resp.StatusCode
		err = r.read(resp, stalled)
		_ = resp.Body.Close()
	} else {
		err = connectionError(c.redactor, req, true, err)
	}
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		// The same bytes again are no progress: a store without ranges may send the first half
		// of an object forever.
		connection.Storage, connection.Progress = true, r.furthest > before
	}
	c.logAttempt(ctx, "Download", began, err, fields)
	return err
}

// read writes the body of a response to its end.
func (r *receiver) read(resp *http.Response, stalled *time.Timer) error {
	incomplete := func(err error) error { return connectionError(r.client.redactor, resp.Request, true, err) }
	switch resp.StatusCode {
	case http.StatusOK:
		if err := r.restart(resp.Header.Get("ETag")); err != nil {
			return err
		}
		r.total = resp.ContentLength
	case http.StatusPartialContent:
		total, ok := r.rest(resp.Header)
		if !ok {
			r.etag = "" // start over
			return incomplete(errors.New("the response is not the requested part"))
		}
		r.total = total
	case http.StatusRequestedRangeNotSatisfiable:
		r.etag = ""
		return incomplete(errors.New("the response is not the requested part"))
	default:
		return r.client.storageError(resp)
	}
	body := bufio.NewReader(steadyReader{resp.Body, stalled, r.client.config.RequestTimeout})
	if r.size == 0 {
		if begin, _ := body.Peek(512); display.IsPage(begin) {
			return r.client.newStorageError(resp)
		}
	}
	buffer := make([]byte, downloadBuffer)
	for {
		n, err := body.Read(buffer)
		if _, err := r.to.Write(buffer[:n]); err != nil {
			return err
		}
		r.size += int64(n)
		r.furthest = max(r.furthest, r.size)
		switch {
		case err == io.EOF && r.size == 0:
			return incomplete(errors.New("the response is empty"))
		case err == io.EOF && r.total >= 0 && r.size != r.total:
			return incomplete(fmt.Errorf("the response ended after %d of %d bytes", r.size, r.total))
		case err == io.EOF:
			return nil
		case err != nil:
			return incomplete(err)
		}
	}
}

// steadyReader limits the time of each read, but not that between reads, because a slow disk is not
// a stall.
type steadyReader struct {
	io.Reader
	stalled *time.Timer
	limit   time.Duration
}

func (r steadyReader) Read(p []byte) (int, error) {
	r.stalled.Reset(r.limit)
	defer r.stalled.Stop()
	return r.Reader.Read(p)
}

// rest reports whether a partial response has the next bytes of the same object, and returns
// the size of the object, which the first response may not have had.
func (r *receiver) rest(header http.Header) (total int64, ok bool) {
	var from, to int64
	// If the size is "*", the response does not show whether more bytes follow.
	n, _ := fmt.Sscanf(header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &total)
	etag := header.Get("ETag")
	return total, n == 3 && from == r.size && (r.total < 0 || r.total == total) && (etag == "" || etag == r.etag)
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

// newStorageError returns the error of a response without a bundle, whose body is not read.
func (c *Client) newStorageError(resp *http.Response) *StorageError {
	return &StorageError{Host: c.Redact(resp.Request.URL.Host), StatusCode: resp.StatusCode, RetryAfter: parseRetryAfter(resp.Header, c.config.Clock.Now())}
}

// storageError reads the error of a response. It shows only the code and the message of the XML
// error format that object stores share: its other elements repeat the signature and what was
// signed.
func (c *Client) storageError(resp *http.Response) error {
	storageError := c.newStorageError(resp)
	var body struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	_ = xml.NewDecoder(io.LimitReader(resp.Body, maxError)).Decode(&body) // another body has neither
	storageError.Message = c.Redact(strings.Trim(body.Code+": "+body.Message, ": "))
	return storageError
}
