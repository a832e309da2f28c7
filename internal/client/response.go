// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/docs-hosting/terraform-provider-docs/internal/client/display"
)

const (
	maxBody  = 8 << 20  // bytes read of a successful response, after decompression
	maxError = 64 << 10 // bytes read of an error response
)

// response is a successful response whose body is a JSON object.
type response struct {
	Exchange
	// object is the decoded body, as the service sent it. Numbers are [json.Number].
	object map[string]any
}

// unexpected returns the error of a response that is unusable for the given reason.
func (c *Client) unexpected(response *response, problem error) *UnexpectedResponseError {
	return &UnexpectedResponseError{Exchange: response.Exchange, Problem: problem.Error(), Message: c.Redact(display.ObjectMessage(response.object))}
}

// requestIDHeaders are the headers in which services return a request ID.
var requestIDHeaders = []string{"X-Request-Id", "X-Correlation-Id", "Request-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray"}

// exchange returns what is reported of a request and its response.
func (c *Client) exchange(req *http.Request, resp *http.Response) Exchange {
	exchange := Exchange{
		Method: req.Method, Path: c.Redact(req.URL.EscapedPath()), StatusCode: resp.StatusCode,
		RetryAfter: parseRetryAfter(resp.Header, c.config.Clock.Now()),
	}
	for _, name := range requestIDHeaders {
		exchange.RequestID = cmp.Or(exchange.RequestID, c.Redact(resp.Header.Get(name)))
	}
	return exchange
}

// decodeResponse decodes a response.
func (c *Client) decodeResponse(ctx context.Context, req *http.Request, resp *http.Response, exchange Exchange) (*response, error) {
	if resp.StatusCode/100 != 2 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // the status is enough
		object, _ := decode(body)
		return nil, &APIError{
			Exchange: exchange, Message: c.Redact(display.BodyMessage(body, object)), Page: display.IsPage(body),
			Redirect: c.Redact(resp.Header.Get("Location")),
		}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, c.connectionError(ctx, req, true, fmt.Errorf("the response ended after %d bytes: %w", len(body), err))
	}
	object, err := decode(body)
	if err != nil {
		_, foreign := errors.AsType[notJSON](err)
		return nil, &UnexpectedResponseError{
			Exchange: exchange, Problem: err.Error(), NotJSON: foreign,
			Message: c.Redact(display.BodyMessage(body[:min(len(body), maxError)], nil)),
		}
	}
	return &response{exchange, object}, nil
}

// notJSON says what a body is that is not JSON.
type notJSON string

func (e notJSON) Error() string { return string(e) }

// decode returns the JSON object of a body.
func decode(body []byte) (map[string]any, error) {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\uFEFF"))) // a byte order mark
	switch {
	case len(body) > maxBody:
		return nil, fmt.Errorf("the body is larger than %d MiB", maxBody>>20)
	case len(trimmed) == 0:
		return nil, notJSON("the body is empty")
	case display.IsPage(trimmed):
		return nil, notJSON("the body is an HTML or XML page")
	}
	decoder := json.NewDecoder(bytes.NewReader(trimmed))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || !json.Valid(trimmed) { // Decode ignores what follows
		return nil, notJSON("the body is not JSON")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the body is JSON, but not an object")
	}
	return object, nil
}

// parseRetryAfter reads a Retry-After header in either form (RFC 9110, section
// 10.2.3). It returns zero if the header is missing or invalid.
func parseRetryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
