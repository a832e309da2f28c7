package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

const maxError = 64 << 10 // bytes read of an error response

// requestIDHeaders are the headers in which services return a request ID.
var requestIDHeaders = []string{
	"X-Request-Id", "X-Correlation-Id", "Request-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray",
}

// response is a response of the API.
type response struct {
	status     int
	sentAt     time.Time // when the request was sent
	summary    string    // such as "the service returned HTTP 200 OK for GET /v1/a (request ID 7)"
	requestID  string    // the ID that the service returned for the request, or ""
	retryAfter time.Duration
	fields     map[string]any // of the JSON object in its body; nil if there is none
}

// readResponse reads a response. It returns what it has read even with an error.
func (c *Client) readResponse(req *http.Request, resp *http.Response) (*response, *Error) {
	r := &response{status: resp.StatusCode, retryAfter: parseRetryAfter(resp.Header, c.config.Clock.Now())}
	for _, name := range requestIDHeaders {
		r.requestID = cmp.Or(r.requestID, c.Redact(resp.Header.Get(name)))
	}
	path := c.Redact(req.URL.EscapedPath())
	r.summary = fmt.Sprintf("the service returned HTTP %s for %s %s", statusLine(resp.StatusCode), req.Method, path)
	if r.requestID != "" {
		r.summary += " (request ID " + r.requestID + ")"
	}
	if resp.StatusCode/100 != 2 {
		return r, c.statusError(r, req, resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.maxBody+1))
	switch {
	case err != nil:
		err = fmt.Errorf("the response ended after %d bytes: %w", len(body), err)
		return r, c.lostRequest(req, true, err)
	case int64(len(body)) > c.maxBody:
		return r, r.unusable(offContract, fmt.Sprintf("the body is larger than %d bytes", c.maxBody), "")
	}
	value, problem := decodeBody(body)
	if len(body) == 0 && resp.StatusCode == http.StatusAccepted { // which may say all
		value, problem = map[string]any{}, ""
	}
	message := c.message(body[:min(len(body), maxError)], value)
	var ok bool
	switch r.fields, ok = value.(map[string]any); {
	case problem != "":
		return r, r.unusable(notJSON, problem, message)
	case !ok:
		return r, r.unusable(offContract, "the JSON body is not an object", message)
	}
	return r, nil
}

// unusable returns the error of a response with a successful status.
func (r *response) unusable(means meaning, problem, message string) *Error {
	return newError(withMessage(r.summary+", but "+problem, message), means)
}

// statusError returns the error of a response that is not a success. The contract leaves the format of errors open,
// so the body may have any form.
func (c *Client) statusError(r *response, req *http.Request, resp *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // the status is enough
	value, _ := decodeBody(body)
	text, means := r.summary, meaningOf(resp.StatusCode, r.retryAfter)
	if isPage(body) {
		text += ", a web page"
		if means.reason == ReasonForbidden || means.reason == ReasonNotFound {
			means = pageInstead
		}
	}
	if last := resp.Request.URL.String(); last != req.URL.String() && resp.StatusCode/100 != 3 {
		text += ", after a redirect to " + c.Redact(last)
		if means.reason == ReasonNotFound { // of something else
			means = pageInstead
		}
	}
	// Location resolves the URL, so that its query is recognized.
	if location, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 {
		text += ", a redirect to " + c.Redact(location.String())
		if location.String() == req.URL.String() {
			means.reason = ReasonNotTheAPI // it sets a cookie, for example, which the client does not send back
		}
	}
	message := c.message(body, value)
	if message == "" {
		text += ", without a message"
	}
	return c.asking(newError(withMessage(text, message), means), r.retryAfter)
}

// asking adds how long a service or an object store asks to wait.
func (c *Client) asking(failure *Error, retryAfter time.Duration) *Error {
	if failure.retryAfter = retryAfter; retryAfter > 0 {
		at := c.config.Clock.Now().Add(retryAfter).UTC().Format(time.RFC3339)
		failure.Text += "; it asks clients to wait until " + at
	}
	return failure
}

// withMessage adds the message of a service or an object store to a clause.
func withMessage(text, message string) string {
	if message == "" {
		return text
	}
	return text + ": " + strings.TrimSuffix(message, ".")
}

// message returns the message in a body, redacted. value is the decoded body, or nil.
func (c *Client) message(body []byte, value any) string {
	if isPage(body) {
		return c.Redact(display.PageMessage(body))
	}
	return c.Redact(display.BodyMessage(body, value))
}

// isPage reports whether a body is HTML or XML.
func isPage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark)), []byte("<"))
}

// decodeBody decodes a body as one JSON value, or says what it is instead. Numbers are [json.Number], so that they are
// not rounded.
func decodeBody(body []byte) (value any, problem string) {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark))
	switch {
	case len(trimmed) == 0:
		return nil, "the body is empty"
	case isPage(trimmed):
		return nil, "the body is a web page"
	}
	decoder := json.NewDecoder(bytes.NewReader(trimmed))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	if _, end := decoder.Token(); err != nil || !errors.Is(end, io.EOF) {
		return nil, "the body is not JSON"
	}
	return value, ""
}
