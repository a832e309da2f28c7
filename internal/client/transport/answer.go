// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxBody  = 8 << 20  // bytes read of a successful response, after decompression
	maxError = 64 << 10 // bytes read of an error response

	maxDepth  = 32      // of nested JSON values
	maxValues = 100_000 // JSON values in one body, which limits their memory
)

// Answer is a successful response whose body is a JSON object.
type Answer struct {
	Exchange
	// Object is the decoded body. Numbers are [json.Number]. No string in it contains
	// the API key.
	Object map[string]any
}

// Unexpected returns the error of a response that is unusable for the given reason.
func (a *Answer) Unexpected(problem string) error {
	return &UnexpectedAnswerError{Exchange: a.Exchange, Problem: problem, Message: Redact(strings.Join(messagesIn(a.Object, 0), ": "))}
}

// read turns a response into an Answer or an error. All text from the service passes
// through read, which decodes it and then removes the API key.
func (t *Transport) read(ctx context.Context, req *http.Request, resp *http.Response) (*Answer, error) {
	success := resp.StatusCode/100 == 2
	limit := maxError
	if success {
		limit = maxBody
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	tooLarge := len(body) > limit
	body = bytes.TrimPrefix(body[:min(len(body), limit)], []byte("\xEF\xBB\xBF"))
	value, problem := t.decode(body)
	object, isObject := value.(map[string]any)
	head := Exchange{
		Method: req.Method, Path: req.URL.EscapedPath(), StatusCode: resp.StatusCode,
		RequestID: t.requestID(resp.Header), RetryAfter: retryAfter(resp.Header, t.Clock.Now()),
	}
	switch {
	case !success:
		return nil, &APIError{Exchange: head, Message: t.errorMessage(body, value), Page: isPage(body), Redirect: t.redirect(resp)}
	case err != nil:
		return nil, t.connectionError(ctx, req, true, fmt.Errorf("the response ended after %d bytes: %w", len(body), err))
	case tooLarge:
		problem = fmt.Sprintf("the body is larger than %d MiB", maxBody>>20)
	case problem == "" && !isObject:
		problem = "the body is JSON, but not an object"
	}
	if problem != "" {
		return nil, &UnexpectedAnswerError{Exchange: head, Problem: problem, Message: t.errorMessage(body, value), Page: isPage(body)}
	}
	return &Answer{Exchange: head, Object: object}, nil
}

// decode returns the JSON value of a body, or says what the body is instead.
func (t *Transport) decode(body []byte) (value any, problem string) {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) == 0 {
		return nil, "the body is empty"
	}
	if isPage(body) {
		return nil, "the body is an HTML or XML page"
	}
	if !isBounded(trimmed) {
		return nil, "the body has too many or too deeply nested JSON values"
	}
	decoder := json.NewDecoder(bytes.NewReader(trimmed))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		if trimmed[0] == '{' || trimmed[0] == '[' {
			return nil, "the body is broken JSON"
		}
		return nil, "the body is not JSON"
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, "the body is not JSON"
	}
	return t.scrubValue(value), ""
}

// isBounded reports whether JSON text stays within the limits of depth and
// number of values, so that decoding it takes memory in proportion to its size.
func isBounded(text []byte) bool {
	depth, values, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++ // skip the escaped character; only strings contain escapes
		case '"':
			inString = !inString
		case '[', '{':
			if !inString {
				depth++
				values++
			}
		case ']', '}':
			if !inString {
				depth--
			}
		case ',':
			if !inString {
				values++
			}
		}
		if depth > maxDepth || values > maxValues {
			return false
		}
	}
	return true
}

// scrubValue removes the API key from all strings in a decoded JSON value.
func (t *Transport) scrubValue(value any) any {
	switch value := value.(type) {
	case string:
		return t.scrubber.scrub(value)
	case []any:
		for i, item := range value {
			value[i] = t.scrubValue(item)
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(value)) {
			item := t.scrubValue(value[name])
			delete(value, name)
			value[t.scrubber.scrub(name)] = item
		}
	}
	return value
}

// requestIDHeaders are the headers in which services return a request ID.
var requestIDHeaders = []string{"X-Request-Id", "X-Correlation-Id", "Request-Id", "X-Amzn-Requestid", "X-Trace-Id", "Cf-Ray"}

func (t *Transport) requestID(header http.Header) string {
	const maxRequestID = 128
	for _, name := range requestIDHeaders {
		if id := header.Get(name); id != "" {
			return shorten(Redact(t.scrubber.scrub(id)), maxRequestID)
		}
	}
	return ""
}

// redirect returns where a redirect points, without its query.
func (t *Transport) redirect(resp *http.Response) string {
	location := resp.Header.Get("Location")
	if resp.StatusCode/100 != 3 || location == "" {
		return ""
	}
	if target, err := resp.Location(); err == nil {
		location = target.String()
	}
	return Redact(t.scrubber.scrub(redactURL(location)))
}

// longestRetryAfter keeps the times that are computed from it in a range that can be
// formatted.
const longestRetryAfter = 365 * 24 * time.Hour

// retryAfter reads a Retry-After header in either form (RFC 9110, section
// 10.2.3). A date is compared with the response's own Date, so that a wrong local
// clock does not matter. It returns zero if the header is missing or invalid.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(seconds) {
		return time.Duration(min(max(seconds, 0), longestRetryAfter.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return min(max(0, at.Sub(now)), longestRetryAfter)
}
