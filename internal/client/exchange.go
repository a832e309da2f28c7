package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// answerTimeout is the least time that a POST has for its response: the response to a start contains the only copy of
// an ID, and the service may package a site before it responds with a link.
const answerTimeout = 5 * time.Minute

// endpoint is an operation of the API: its request, and how to read the response.
type endpoint[T any] struct {
	request
	// read converts the response. Its error says why the response is unusable, or that it is not ready.
	read func(*object) (*T, error)
}

// errNotReady is the error of a response that accepts a request whose result is not there yet.
var errNotReady = errors.New("the bundle is not ready yet")

// exchange sends the request of an endpoint once and reads the response.
func exchange[T any](ctx context.Context, o *Operation, e endpoint[T], a attempt) (*T, *Error) {
	resp, failure := o.send(ctx, e.request, a)
	if failure != nil {
		return nil, failure
	}
	var ignored []string
	value, err := e.read(&object{
		fields: resp.fields, retryAfter: resp.retryAfter, accepted: resp.status == http.StatusAccepted,
		redactor: o.redactor, ignored: &ignored,
	})
	if len(ignored) > 0 {
		fields := map[string]any{"response": resp.summary, "fields": strings.Join(ignored, ", ")}
		o.log(ctx, slog.LevelWarn, "Ignored fields that could not be read", fields)
	}
	if err == nil {
		o.within = laterLimits
		return value, nil
	}
	means, level, event := offContract, slog.LevelWarn, "Unusable response"
	if errors.Is(err, errNotReady) {
		o.within = laterLimits
		means, level, event = notReady, slog.LevelInfo, "Waiting for the bundle"
	}
	failure = resp.unusable(means, err.Error(), o.Redact(display.ObjectMessage(resp.fields)))
	failure.retryAfter, failure.SentAt = resp.retryAfter, resp.sentAt
	o.log(ctx, level, event, map[string]any{"error": failure.Text})
	return nil, failure
}

// send waits for the turn of a request, sends it once, reads the response, and logs both.
func (c *Client) send(ctx context.Context, r request, a attempt) (answer *response, failure *Error) {
	if cause := c.pacer.take(ctx); cause != nil {
		return nil, wrap(cause, ended)
	}
	began, sentAt := time.Now(), c.config.Clock.Now()
	fields := map[string]any{"method": r.method, "path": c.url(r).EscapedPath(), "attempt": a.number}
	defer func() {
		if failure != nil {
			failure.SentAt = sentAt
		} else {
			answer.sentAt = sentAt
		}
		c.logAttempt(ctx, "API request", began, failure, fields)
	}()
	var sent atomic.Bool // set with the connection, perhaps after net/http has given up on the request
	limited, cancel := c.limit(ctx, r, &sent)
	defer cancel()
	req := c.newRequest(limited, r)
	resp, err := apiClient(c.transport(r.once || a.fresh)).Do(req) //nolint:gosec // the user configures the host
	if err != nil {
		return nil, c.lostRequest(req, sent.Load(), err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, failure = c.readResponse(req, resp)
	c.pacer.count(failure != nil && failure.kind == throttled)
	fields["status"], fields["request_id"] = resp.StatusCode, answer.requestID
	return answer, failure
}

// limit returns a context for a request, which sets sent when it has a connection. The context ends after the request
// timeout, or after [answerTimeout] from the connection of a POST if that is longer. It ends with ctx, but leaves a
// request that must not be sent twice another request timeout if it was sent.
func (c *Client) limit(ctx context.Context, r request, sent *atomic.Bool) (context.Context, func()) {
	began, timeout := time.Now(), c.config.RequestTimeout
	parent := ctx
	if r.once {
		parent = context.WithoutCancel(ctx)
	}
	limited, end := context.WithCancelCause(parent)
	timer := time.AfterFunc(timeout, func() {
		waited := time.Since(began).Round(time.Second)
		end(aborted(fmt.Sprintf("no complete response within %s", waited)))
	})
	stop := context.AfterFunc(ctx, func() {
		if sent.Load() {
			timer.Reset(timeout)
		} else {
			end(context.Cause(ctx))
		}
	})
	connected := func(httptrace.GotConnInfo) {
		if r.method == http.MethodPost {
			timer.Reset(max(timeout, answerTimeout))
		}
		sent.Store(true)
	}
	return httptrace.WithClientTrace(limited, &httptrace.ClientTrace{GotConn: connected}), func() {
		stop()
		timer.Stop()
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
