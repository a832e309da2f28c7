// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

const (
	redacted = "(redacted)"
	// maxShown is how many bytes of any text are shown.
	maxShown = 2 << 10
)

var (
	userInURL = regexp.MustCompile(`://[^\s/?#"<>]*@`)
	// queryInURL matches a path, or a whole URL, and its query or fragment.
	queryInURL = regexp.MustCompile(`(/[^\s?#"<>]*[?#])[^\s"<>]+`)
)

// Redact makes text safe to show: printable, at most 2 KiB, without the API key, and
// without the user information and the query of any URL. The query of a presigned link
// is a credential.
func (t *Transport) Redact(text string) string {
	text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.ReplaceAll(text, t.config.APIKey, redacted)
	text = userInURL.ReplaceAllString(text, "://"+redacted+"@")
	text = queryInURL.ReplaceAllString(text, "${1}"+redacted)
	text = strings.TrimSpace(text)
	if len(text) > maxShown {
		const shortened = " (shortened)"
		text = strings.ToValidUTF8(text[:maxShown-len(shortened)], "") + shortened
	}
	return text
}

// Log writes a log record, redacted.
func (t *Transport) Log(ctx context.Context, level slog.Level, message string, fields map[string]any) {
	for name, value := range fields {
		if text, ok := value.(string); ok {
			fields[name] = t.Redact(text)
		}
	}
	t.config.Log(ctx, level, message, fields)
}

// connectionError returns an error of net/http as a [*ConnectionError]. It redacts the
// text, which has the whole URL and may quote what the server sent. If the context
// has ended, its cause replaces err.
func (t *Transport) connectionError(ctx context.Context, req *http.Request, sent bool, err error) error {
	if urlError, ok := errors.AsType[*url.Error](err); ok {
		err = urlError.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &ConnectionError{Method: req.Method, Path: t.Redact(req.URL.EscapedPath()), Host: t.Redact(req.URL.Host), Sent: sent, Reason: t.Redact(err.Error()), Err: err}
}

// printable keeps line breaks and tabs, and drops characters that a terminal interprets
// or does not show, including those that reorder text.
func printable(r rune) rune {
	if r == '\n' || r == '\t' || unicode.IsPrint(r) {
		return r
	}
	if unicode.IsSpace(r) {
		return ' '
	}
	return -1
}
