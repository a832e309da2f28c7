// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"time"
)

// Fetch requests a presigned link with a GET that never carries the API key. It
// returns responses with status 200, 206, and 416. Any other status is a
// [*StorageError]. Reads of the body fail with a [*ConnectionError] if the connection is
// lost, or if no data arrives within the request timeout.
func (t *Transport) Fetch(ctx context.Context, link string, header http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		cancel(nil)
		return nil, errors.New("the bundle's link is not a URL") // err quotes the link
	}
	req.URL.User = nil // net/http would turn it into an Authorization header
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", t.UserAgent)
	// The checksum applies to the object as it is stored.
	req.Header.Set("Accept-Encoding", "identity")

	stalled := time.AfterFunc(t.RequestTimeout, func() { cancel(fmt.Errorf("no data for %s", t.RequestTimeout)) })
	began := t.Clock.Now()
	resp, err := t.storage.Do(req) //nolint:bodyclose // watchedBody closes it
	fields := map[string]any{"host": Redact(req.URL.Host), "path": req.URL.EscapedPath(), "range": req.Header.Get("Range")}
	if err != nil {
		err = t.connectionError(ctx, req, true, err)
		stalled.Stop()
		cancel(nil)
	} else {
		resp.Body = &watchedBody{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, stalled: stalled, transport: t, request: req}
		fields["status"] = resp.StatusCode
		err = t.checkStorage(resp)
	}
	fields["duration_ms"] = t.Clock.Now().Sub(began).Milliseconds()
	if err != nil {
		fields["error"] = err.Error()
	}
	t.Log(ctx, slog.LevelDebug, "Bundle download", fields)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// checkStorage returns the error of a response without data, and closes its body.
func (t *Transport) checkStorage(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		return nil
	}
	defer func() { _ = resp.Body.Close() }()
	return t.storageError(resp)
}

// watchedBody is the body of a download. It cancels the request if a read stalls.
type watchedBody struct {
	io.ReadCloser
	ctx       context.Context
	cancel    context.CancelCauseFunc
	stalled   *time.Timer
	transport *Transport
	request   *http.Request
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.stalled.Reset(b.transport.RequestTimeout)
	n, err := b.ReadCloser.Read(p)
	b.stalled.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.transport.connectionError(b.ctx, b.request, true, err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.stalled.Stop()
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}
