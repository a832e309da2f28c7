package client

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

const (
	downloadBuffer = 256 << 10 // the size of the only part of a download that is ever in memory
	sniffed        = 512       // the bytes that show whether a page comes instead of a bundle
)

// Destination is what a download is written to.
type Destination interface {
	io.Writer
	// Restart drops what was written.
	Restart() error
}

// DownloadBundle downloads the bundle of a completed job.
//
// It creates a link of its own. If the object store refuses the link or returns no bundle, DownloadBundle creates
// another: the link, or the credential that signed it, may have expired. Right after the job, the store may not have
// the archive yet.
//
// The bundle is whole if it has the length that the store returns with it, or if it returns none, the sizeBytes of
// generateBundle. Without either, only the archive shows whether it was cut.
//
// The error is that of [Client.GenerateBundle] or of the destination, a [*StorageError], a [*ConnectionError], or, if
// ctx ended, context.Cause(ctx). It is wrapped in a [*GaveUpError] if an earlier attempt failed.
func (c *Client) DownloadBundle(ctx context.Context, jobID string, to Destination) error {
	receiver := &receiver{client: c, to: to}
	var bundle *Bundle // nil if the next attempt needs a link
	return c.repeat(ctx, Plain, func(a attempt) (err error) {
		if bundle == nil {
			if bundle, _, err = exchange(ctx, c, c.bundleOperation(jobID), a); err != nil {
				return err
			}
		}
		err = receiver.receive(ctx, bundle, a)
		if classify(err).kind == linkRefused {
			bundle = nil
		}
		return err
	})
}

// receiver receives an object over one or more connections and links.
type receiver struct {
	client   *Client
	to       Destination
	size     int64  // bytes written
	furthest int64  // the largest size so far
	total    int64  // the size of the object that those bytes belong to; negative if unknown
	etag     string // the strong entity tag of that object, or ""
}

// sized reports whether the size of the object is known.
func (r *receiver) sized() bool { return r.total >= 0 }

// receive sends one request for the object that a presigned link leads to, without the API key, and receives the
// object. The request is canceled if no data arrives within the request timeout.
//
// After an earlier call that failed, it receives only the rest if the object is still the same according to its
// strong entity tag (RFC 9110, section 13.1.5). Otherwise, it starts over.
//
// The error is a [*StorageError] or [*ConnectionError], that of the destination, or, if ctx ended,
// context.Cause(ctx).
func (r *receiver) receive(ctx context.Context, bundle *Bundle, a attempt) error {
	c := r.client
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(c.config.RequestTimeout, func() { cancel(aborted("no data within the request timeout")) })
	defer stalled.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, escapeSpaces(bundle.URL), nil)
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
	fields := map[string]any{"host": req.URL.Host, "range": req.Header.Get("Range"), "attempt": a.number}
	resp, err := c.networkOf(a).storage.Do(req)
	if err == nil {
		fields["status"] = resp.StatusCode
		err = r.read(resp, bundle, stalled)
		_ = resp.Body.Close()
	} else {
		err = connectionError(c.redactor, req, true, err)
	}
	if connection, ok := errors.AsType[*ConnectionError](err); ok {
		// The same bytes again are no progress: a store without ranges may send the first half of an object forever.
		connection.Storage, connection.Progress = true, r.furthest > before
	}
	c.logExchange(ctx, "Download", began, err, fields)
	return err
}

// escapeSpaces escapes the spaces of a URL or a query. net/url sends every other character of a query as it is.
func escapeSpaces(text string) string { return strings.ReplaceAll(text, " ", "%20") }

// read writes the body of a response to its end.
func (r *receiver) read(resp *http.Response, bundle *Bundle, stalled *time.Timer) error {
	incomplete := func(format string, args ...any) error {
		return connectionError(r.client.redactor, resp.Request, true, fmt.Errorf(format, args...))
	}
	if err := r.accept(resp); err != nil {
		return err
	}
	body := bufio.NewReader(steadyReader{resp.Body, stalled, r.client.config.RequestTimeout})
	if r.size == 0 {
		begin, err := body.Peek(sniffed)
		switch kind := http.DetectContentType(begin); {
		case len(begin) == 0 && err == io.EOF:
			return incomplete("the response is empty")
		case len(begin) == 0:
			return incomplete("%w", err)
		case !strings.HasPrefix(kind, "text/"):
		case err != nil && err != io.EOF: // the text may be the name of the first file in a tar
			return incomplete("%w", err)
		case strings.HasPrefix(kind, "text/html"):
			return r.client.storageError(resp, begin, "a web page instead of the bundle")
		default:
			return r.client.storageError(resp, begin, "text instead of the bundle")
		}
	}
	if stated := bundle.SizeBytes; !r.sized() && stated != nil && *stated > 0 {
		r.total = *stated
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
		case err == io.EOF && r.sized() && r.size != r.total:
			return incomplete("the response ended after %d of %d bytes", r.size, r.total)
		case err == io.EOF:
			return nil
		case err != nil:
			return incomplete("%w", err)
		}
	}
}

// accept checks the status and the headers of a response. It starts over unless the rest of the object follows.
func (r *receiver) accept(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusOK:
		r.total = resp.ContentLength
		return r.restart(resp.Header.Get("ETag"))
	case http.StatusPartialContent:
		// If the size is "*", the response does not show whether more bytes follow.
		var from, to, total int64
		n, _ := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &total)
		etag := resp.Header.Get("ETag")
		switch {
		case n == 3 && from == 0 && to == total-1: // the whole object
			r.total = total
			return r.restart(etag)
		case n == 3 && from == r.size && (!r.sized() || r.total == total) &&
			r.etag != "" && (etag == "" || etag == r.etag):
			r.total = total
			return nil
		}
	case http.StatusRequestedRangeNotSatisfiable:
	default:
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // the status is enough
		return r.client.storageError(resp, body, "")
	}
	r.etag = "" // start over
	return connectionError(r.client.redactor, resp.Request, true, errors.New("the response is not the requested part"))
}

// restart drops the received bytes. The bytes that follow belong to the object with the given entity tag. Only a
// strong one can be used to resume.
func (r *receiver) restart(etag string) error {
	if !strings.HasPrefix(etag, `"`) {
		etag = ""
	}
	r.size, r.etag = 0, etag
	return r.to.Restart()
}

// steadyReader limits the time of each read, but not that between reads, because a slow disk is not a stall.
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

// storageError returns the error of a response without a bundle. It shows only the code and the message of the XML
// error format that object stores share, or the usual fields of JSON, without the path and the parameters of the
// link: anything else may repeat the signature and what was signed.
func (c *Client) storageError(resp *http.Response, body []byte, problem string) error {
	var stored struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	_ = xml.Unmarshal(body, &stored) // another body has neither
	message := strings.Trim(stored.Code+": "+stored.Message, ": ")
	if value, _ := decodeBody(body); value != nil {
		object, _ := value.(map[string]any)
		message = display.ObjectMessage(object)
	}
	secrets := []string{resp.Request.URL.EscapedPath(), resp.Request.URL.Path}
	for _, parameter := range strings.Split(resp.Request.URL.RawQuery, "&") {
		_, raw, _ := strings.Cut(parameter, "=")
		value, _ := url.QueryUnescape(raw)
		secrets = append(secrets, raw, value)
	}
	for _, secret := range secrets {
		if len(secret) >= 8 {
			message = strings.ReplaceAll(message, secret, "(redacted)")
		}
	}
	return &StorageError{
		Host: c.Redact(resp.Request.URL.Host), StatusCode: resp.StatusCode, Problem: problem,
		Message: c.Redact(message), RetryAfter: parseRetryAfter(resp.Header, c.config.Clock.Now()),
	}
}
