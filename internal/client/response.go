package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

const maxError = 64 << 10 // bytes read of an error response

// requestIDHeaders are the headers in which services return a request ID.
var requestIDHeaders = []string{
	"X-Request-Id", "X-Correlation-Id", "Request-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray",
}

// response is a response of the API.
type response struct {
	Exchange
	fields map[string]any // of the JSON object in its body; nil if there is none
}

// readResponse reads a response. It returns its exchange even with an error.
func (c *Client) readResponse(req *http.Request, resp *http.Response) (*response, error) {
	r := &response{Exchange: Exchange{
		Method: req.Method, Path: c.Redact(req.URL.EscapedPath()), StatusCode: resp.StatusCode,
		RetryAfter: parseRetryAfter(resp.Header, c.config.Clock.Now()),
	}}
	for _, name := range requestIDHeaders {
		r.RequestID = cmp.Or(r.RequestID, c.Redact(resp.Header.Get(name)))
	}
	if resp.StatusCode/100 != 2 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // the status is enough
		value, _ := decodeBody(body)
		apiError := &APIError{Exchange: r.Exchange, Message: c.message(body, value), Page: isPage(body)}
		// Location resolves the URL, so that its query is recognized.
		if location, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 {
			apiError.Redirect = c.Redact(location.String())
		}
		return r, apiError
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.maxBody+1))
	switch {
	case err != nil:
		err = fmt.Errorf("the response ended after %d bytes: %w", len(body), err)
		return r, connectionError(c.redactor, req, true, err)
	case int64(len(body)) > c.maxBody:
		problem := fmt.Sprintf("the body is larger than %d bytes", c.maxBody)
		return r, &UnexpectedResponseError{Exchange: r.Exchange, Problem: problem}
	}
	value, problem := decodeBody(body)
	var ok bool
	if r.fields, ok = value.(map[string]any); ok {
		return r, nil
	}
	return r, &UnexpectedResponseError{
		Exchange: r.Exchange, Problem: cmp.Or(problem, "the JSON body is not an object"), NotJSON: problem != "",
		Message: c.message(body[:min(len(body), maxError)], value),
	}
}

// message returns the message in a body, redacted. value is the decoded body, or nil.
func (c *Client) message(body []byte, value any) string {
	if isPage(body) {
		return c.Redact(display.PageMessage(body))
	}
	return c.Redact(display.BodyMessage(body, value))
}

var byteOrderMark = []byte("\uFEFF")

// isPage reports whether a body is HTML or XML.
func isPage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark)), []byte("<"))
}

// decodeBody decodes a body as JSON, or says what it is instead.
func decodeBody(body []byte) (value any, problem string) {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(body, byteOrderMark))
	switch {
	case len(trimmed) == 0:
		return nil, "the body is empty"
	case isPage(trimmed):
		return nil, "the body is a web page"
	}
	value, err := DecodeJSON(trimmed)
	if err != nil {
		return nil, "the body is not JSON"
	}
	return value, ""
}

// DecodeJSON decodes one JSON value, after which nothing may follow. Numbers are [json.Number], so that they are not
// rounded.
func DecodeJSON(data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("another value follows the first one")
	}
	return value, nil
}
