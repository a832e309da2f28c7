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
// another, but only one until there is progress: the link, or the credential that signed it, may have expired. Right
// after the job, the store may not have the archive yet.
//
// An error of the destination is wrapped.
func (o *Operation) DownloadBundle(ctx context.Context, jobID string, to Destination) error {
	receiver := &receiver{client: o.Client, to: to}
	var bundle *Bundle // nil if the next attempt needs a link
	renewed := false   // since the last progress
	return o.repeat(ctx, &o.within, func(a attempt) (progress bool, failure *Error) {
		linked := bundle == nil
		if linked {
			bundle, progress, failure = poll(ctx, o, a, o.bundleEndpoint(jobID), o.pauses(0), final)
			if failure != nil {
				return progress, failure
			}
		}
		received, failure := receiver.receive(ctx, bundle, a)
		progress = received || linked && !renewed             // a first link ends the failures of the service
		waited := failure != nil && failure.kind == throttled // for longer than the link may work
		renewed = renewed && !received && !waited
		if failure != nil && failure.kind == linkRefused && !renewed {
			bundle, renewed = nil, true
		}
		return progress, failure
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

// receive sends one request for the object that a presigned link leads to, without the API key, and receives the
// object. The request is canceled if no data arrives within the request timeout.
//
// After an earlier call that failed, it receives only the rest if the object is still the same according to its
// strong entity tag (RFC 9110, section 13.1.5). Otherwise, it starts over. It makes progress if it receives more than
// any earlier call: a store without ranges may send the first half of an object forever.
func (r *receiver) receive(ctx context.Context, bundle *Bundle, a attempt) (progress bool, failure *Error) {
	c := r.client
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(c.config.RequestTimeout, func() { cancel(aborted("no data within the request timeout")) })
	defer stalled.Stop()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "", nil) // the method is valid
	req.URL = bundle.link
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
	resp, err := storageClient(c.transport(a.fresh)).Do(req)
	if err == nil {
		fields["status"] = resp.StatusCode
		failure = r.read(resp, bundle.SizeBytes, stalled)
		_ = resp.Body.Close()
	} else {
		failure = c.lostDownload(req, err)
	}
	c.logAttempt(ctx, "Download", began, failure, fields)
	return r.furthest > before, failure
}

// read writes the body of a response to its end. The object is whole if it has the length that the store returns with
// it, or if it returns none, the size that the service stated.
func (r *receiver) read(resp *http.Response, stated *int64, stalled *time.Timer) *Error {
	if failure := r.accept(resp); failure != nil {
		return failure
	}
	body := bufio.NewReader(steadyReader{resp.Body, stalled, r.client.config.RequestTimeout})
	if failure := r.checkType(resp, body); failure != nil {
		return failure
	}
	if r.total < 0 && stated != nil && *stated > 0 {
		r.total = *stated
	}
	buffer := make([]byte, downloadBuffer)
	for {
		n, err := body.Read(buffer)
		if _, err := r.to.Write(buffer[:n]); err != nil {
			return wrap(err, permanent)
		}
		r.size += int64(n)
		r.furthest = max(r.furthest, r.size)
		switch {
		case err == io.EOF && r.total >= 0 && r.size != r.total:
			return r.incomplete(resp, fmt.Errorf("the response ended after %d of %d bytes", r.size, r.total))
		case err == io.EOF:
			return nil
		case err != nil:
			return r.incomplete(resp, err)
		}
	}
}

// accept checks the status and the headers of a response. It starts over unless the rest of the object follows.
func (r *receiver) accept(resp *http.Response) *Error {
	switch resp.StatusCode {
	case http.StatusOK:
		r.total = resp.ContentLength
		return r.restart(resp.Header.Get("ETag"))
	case http.StatusPartialContent:
		// If the size is "*", the response does not show whether more bytes follow.
		var from, to, total int64
		n, _ := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &total)
		etag := resp.Header.Get("ETag")
		if n == 3 && from == r.size && (r.total < 0 || r.total == total) &&
			r.etag != "" && (etag == "" || etag == r.etag) {
			r.total = total
			return nil
		}
	case http.StatusRequestedRangeNotSatisfiable:
	default:
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // the status is enough
		if resp.StatusCode/100 == 3 {
			return r.client.storageError(resp, body, ", a redirect that is not followed")
		}
		return r.client.storageError(resp, body, "")
	}
	r.etag = "" // start over
	return r.incomplete(resp, errors.New("the response is not the requested part"))
}

// checkType returns an error if a response is a page or text instead of the bundle. Its first bytes decide, because a
// store may call an archive text. Only what is called HTML is a page whatever its bytes are: it may be compressed.
func (r *receiver) checkType(resp *http.Response, body *bufio.Reader) *Error {
	page := strings.Contains(strings.ToLower(resp.Header.Get("Content-Type")), "html")
	if !page && r.size > 0 {
		return nil
	}
	begin, err := body.Peek(sniffed)
	mediaType := http.DetectContentType(begin)
	switch {
	case len(begin) == 0 && err == io.EOF:
		return r.incomplete(resp, errors.New("the response is empty"))
	case len(begin) == 0:
		return r.incomplete(resp, err)
	case page, strings.HasPrefix(mediaType, "text/html"):
		return r.client.storageError(resp, begin, " with a web page instead of the bundle")
	case !strings.HasPrefix(mediaType, "text/"):
		return nil
	case err != nil && err != io.EOF: // the text may be the name of the first file in a tar
		return r.incomplete(resp, err)
	}
	return r.client.storageError(resp, begin, " with text instead of the bundle")
}

// restart drops the received bytes. The bytes that follow belong to the object with the given entity tag. Only a
// strong one can be used to resume.
func (r *receiver) restart(etag string) *Error {
	if !strings.HasPrefix(etag, `"`) {
		etag = ""
	}
	r.size, r.etag = 0, etag
	if err := r.to.Restart(); err != nil {
		return wrap(err, permanent)
	}
	return nil
}

// incomplete returns the error of a response that ends too early.
func (r *receiver) incomplete(resp *http.Response, err error) *Error {
	return r.client.lostDownload(resp.Request, err)
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
func (c *Client) storageError(resp *http.Response, body []byte, problem string) *Error {
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
	link := resp.Request.URL
	secrets := append(strings.FieldsFunc(link.RawQuery, func(r rune) bool { return r == '&' || r == '=' }),
		link.EscapedPath(), link.Path)
	for _, values := range link.Query() {
		for _, value := range values {
			secrets = append(secrets, value, url.QueryEscape(value))
		}
	}
	for _, secret := range secrets {
		if len(secret) >= 8 {
			message = strings.ReplaceAll(message, secret, "(redacted)")
		}
	}
	host := c.Redact(resp.Request.URL.Host)
	text := fmt.Sprintf("the object store %s returned HTTP %s%s", host, statusLine(resp.StatusCode), problem)
	asks := parseRetryAfter(resp.Header, c.config.Clock.Now())
	return c.asking(newError(withMessage(text, c.Redact(message)), storeMeaningOf(resp.StatusCode, asks)), asks)
}
