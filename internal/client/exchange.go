package client

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

// request is a request of the API.
type request struct {
	method string
	path   []string // the unescaped path elements below the base URL
	body   []byte   // the JSON to send; nil for none
	// once marks a request that must not be sent twice. If the context ends after it was sent, send still waits for
	// the response, which may contain the only copy of an ID.
	once bool
}

// operation is an operation of the API: its request, and how to read the response.
type operation[T any] struct {
	request
	// read converts the response. Its error says why the response is unusable.
	read func(*object) (*T, error)
}

// call repeats an operation as its patience allows, and returns what it read. retryAfter is the pause before the next
// poll that the response requests.
func call[T any](
	ctx context.Context, c *Client, op operation[T], patience Patience,
) (value *T, retryAfter time.Duration, err error) {
	err = c.repeat(ctx, patience, func(a attempt) (err error) {
		value, retryAfter, err = exchange(ctx, c, op, a)
		return err
	})
	return value, retryAfter, err
}

// exchange sends the request of an operation once and reads the response.
func exchange[T any](
	ctx context.Context, c *Client, op operation[T], a attempt,
) (value *T, retryAfter time.Duration, err error) {
	resp, err := c.send(ctx, op.request, a)
	if err != nil {
		return nil, 0, err
	}
	var ignored []string
	value, err = op.read(&object{fields: resp.fields, ignored: &ignored})
	if len(ignored) > 0 {
		fields := map[string]any{"path": resp.Path, "fields": strings.Join(ignored, ", ")}
		c.log(ctx, slog.LevelInfo, "Ignored fields that could not be read", fields)
	}
	if err != nil {
		message := c.Redact(display.ObjectMessage(resp.fields))
		err = &UnexpectedResponseError{Exchange: resp.Exchange, Problem: err.Error(), Message: message}
		c.log(ctx, slog.LevelWarn, "Unusable response", map[string]any{"error": err.Error()})
		return nil, 0, err
	}
	return value, resp.RetryAfter, nil
}

// send waits for the turn of a request, sends it once, limited by the request timeout, reads the response, and logs
// both.
//
// The error is an [*APIError], [*UnexpectedResponseError], or [*ConnectionError], or context.Cause(ctx) if ctx ended.
func (c *Client) send(ctx context.Context, r request, a attempt) (answer *response, err error) {
	if err := c.pacer.take(ctx); err != nil {
		return nil, err
	}
	began, fields := time.Now(), map[string]any{"method": r.method, "path": c.url(r).EscapedPath(), "attempt": a.number}
	defer func() { c.logExchange(ctx, "API request", began, err, fields) }()
	var sent atomic.Bool // set with the connection, perhaps after net/http has given up on the request
	limited := ctx
	if r.once {
		detached, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		defer cancel(nil)
		defer context.AfterFunc(ctx, func() {
			if !sent.Load() {
				cancel(aborted("the operation ended"))
			}
		})()
		limited = detached
	}
	late := aborted("no complete response within the request timeout")
	limited, cancel := context.WithTimeoutCause(limited, c.config.RequestTimeout, late)
	defer cancel()
	connected := func(httptrace.GotConnInfo) { sent.Store(true) }
	limited = httptrace.WithClientTrace(limited, &httptrace.ClientTrace{GotConn: connected})
	req, err := c.newRequest(limited, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.networkOf(a).api.Do(req) //nolint:gosec // the user configures the host
	if err != nil {
		return nil, connectionError(c.redactor, req, sent.Load(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	c.pacer.count(resp.StatusCode)
	answer, err = c.readResponse(req, resp)
	fields["status"], fields["request_id"] = answer.StatusCode, answer.RequestID
	return answer, err
}

// logExchange adds the duration and the error of an exchange to the fields, and logs them.
func (c *Client) logExchange(ctx context.Context, message string, began time.Time, err error, fields map[string]any) {
	level := slog.LevelDebug
	fields["duration_ms"] = time.Since(began).Milliseconds()
	if err != nil {
		level, fields["error"] = slog.LevelWarn, err.Error()
	}
	c.log(ctx, level, message, fields)
}

// newRequest builds a request.
func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.url(r).String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.config.APIKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.config.UserAgent)
	if r.method == http.MethodGet {
		req.Header.Set("Cache-Control", "no-cache")
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.once {
		req.GetBody = nil // so net/http cannot send it again, such as after a redirect
	}
	return req, nil
}

// url escapes the path elements of a request, so that each stays one element regardless of what it contains.
func (c *Client) url(r request) *url.URL {
	u := c.baseURL
	for _, element := range r.path {
		u = u.JoinPath(escapeElement(element))
	}
	return u
}

// escapeElement escapes a path element. Unlike url.PathEscape, it also escapes "." and "..", which a server or proxy
// would resolve (RFC 3986, section 5.2.4).
func escapeElement(element string) string {
	if element == "." || element == ".." {
		return strings.ReplaceAll(element, ".", "%2E")
	}
	return url.PathEscape(element)
}
