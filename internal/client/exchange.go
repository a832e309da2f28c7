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
	// once marks a request that must not be sent twice. It has a connection of its own: on an idle one that the server
	// has just closed, a failure looks as if the server may have received the request. If the context ends after it was
	// sent, send still waits for the response, which may contain the only copy of an ID.
	once bool
}

// operation is an operation of the API: its request, and how to read the response.
type operation[T any] struct {
	request
	// read converts the response. Its error says why the response is unusable.
	read func(*object) (*T, error)
}

// call repeats an operation within the limits, and returns what it read.
func call[T any](ctx context.Context, c *Client, op operation[T], within limits) (*T, error) {
	var value *T
	err := c.repeat(ctx, within, func(a attempt) (progress bool, err *Error) {
		value, err = exchange(ctx, c, op, a)
		return false, err
	})
	return value, err
}

// exchange sends the request of an operation once and reads the response.
func exchange[T any](ctx context.Context, c *Client, op operation[T], a attempt) (*T, *Error) {
	resp, failure := c.send(ctx, op.request, a)
	if failure != nil {
		return nil, failure
	}
	var ignored []string
	value, err := op.read(&object{
		fields: resp.fields, retryAfter: resp.retryAfter, redactor: c.redactor, ignored: &ignored,
	})
	if len(ignored) > 0 {
		fields := map[string]any{"response": resp.summary, "fields": strings.Join(ignored, ", ")}
		c.log(ctx, slog.LevelWarn, "Ignored fields that could not be read", fields)
	}
	if err != nil {
		failure = resp.unusable(offContract, err.Error(), c.Redact(display.ObjectMessage(resp.fields)))
		c.log(ctx, slog.LevelWarn, "Unusable response", map[string]any{"error": failure.Text})
		return nil, failure
	}
	return value, nil
}

// send waits for the turn of a request, sends it once, limited by the request timeout, reads the response, and logs
// both.
func (c *Client) send(ctx context.Context, r request, a attempt) (answer *response, failure *Error) {
	if cause := c.pacer.take(ctx); cause != nil {
		return nil, wrap(cause, ended)
	}
	began, fields := time.Now(), map[string]any{"method": r.method, "path": c.url(r).EscapedPath(), "attempt": a.number}
	defer func() { c.logAttempt(ctx, "API request", began, failure, fields) }()
	limited := ctx
	var sent atomic.Bool // set with the connection, perhaps after net/http has given up on the request
	if r.once {
		detached, cancel := detach(ctx, &sent)
		defer cancel()
		limited = detached
	}
	late := aborted("no complete response within the request timeout")
	limited, cancel := context.WithTimeoutCause(limited, c.config.RequestTimeout, late)
	defer cancel()
	connected := func(httptrace.GotConnInfo) { sent.Store(true) }
	req := c.newRequest(httptrace.WithClientTrace(limited, &httptrace.ClientTrace{GotConn: connected}), r)
	resp, err := apiClient(c.transport(r.once || a.fresh)).Do(req) //nolint:gosec // the user configures the host
	if err != nil {
		return nil, c.lostRequest(req, sent.Load(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	c.pacer.count(resp.StatusCode)
	answer, failure = c.readResponse(req, resp)
	fields["status"], fields["request_id"] = resp.StatusCode, answer.requestID
	return answer, failure
}

// detach returns a context that ends with ctx as long as a request has not been sent. After that, only cancel ends it.
func detach(ctx context.Context, sent *atomic.Bool) (detached context.Context, cancel func()) {
	detached, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !sent.Load() {
			end(context.Cause(ctx))
		}
	})
	return detached, func() {
		stop()
		end(nil)
	}
}

// logAttempt adds the duration and the error of an attempt to the fields, and logs them.
func (c *Client) logAttempt(
	ctx context.Context, message string, began time.Time, failure *Error, fields map[string]any,
) {
	level := slog.LevelDebug
	fields["duration_ms"] = time.Since(began).Milliseconds()
	if failure != nil {
		level, fields["error"] = slog.LevelWarn, failure.Text
	}
	c.log(ctx, level, message, fields)
}

// newRequest builds a request.
func (c *Client) newRequest(ctx context.Context, r request) *http.Request {
	// The method and the URL are valid.
	req, _ := http.NewRequestWithContext(ctx, r.method, c.url(r).String(), bytes.NewReader(r.body))
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
	return req
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
