// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// DownloadRequest says which bundle to fetch and where to put it.
type DownloadRequest struct {
	// Path is the file to write, or to replace. Directories above it are made.
	Path string
	// Link returns the link to fetch: the first with renew false, and at most
	// one more, with renew true, after the object store has refused that.
	Link func(ctx context.Context, renew bool) (*Bundle, error)
	// SHA256 is the checksum that the bundle must have, in hexadecimal; empty if
	// any will do.
	SHA256 string
}

// Download is a bundle on disk.
type Download struct {
	// SHA256 is its checksum in lower-case hexadecimal.
	SHA256    string
	SizeBytes int64
}

// ChecksumError is a bundle that came whole but is not the expected one. Both
// checksums are SHA-256 in hexadecimal.
type ChecksumError struct{ Want, Got string }

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("the bundle's SHA-256 checksum is %s, not %s", e.Got, e.Want)
}

// SizeError is a bundle whose size in bytes is not what the service said. Of
// one that is too long, and does not say how long, Got is what had come of it.
type SizeError struct{ Want, Got int64 }

func (e *SizeError) Error() string {
	return fmt.Sprintf("the bundle has %d bytes, but the service said %d", e.Got, e.Want)
}

// StorageError is an answer of the object store that brings no bundle. It is no
// [APIError]: a 404 of the object store says nothing of the job.
type StorageError struct {
	Host   string
	Answer APIError
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("object store %s: %s", e.Host, e.Answer.Error())
}

// DownloadBundle fetches a bundle (API document, section 4.4) from the object
// store. It streams to a temporary file beside the target and renames that
// when it is whole, checked and flushed to disk; after an error nothing of it
// is left and a file that was there before is as it was.
//
// A connection that is cut, or brings nothing for the client's request
// timeout, is taken up again where it ended if the object is still the same,
// as its strong ETag tells (RFC 9110, section 13.1.5). Repetitions are bounded
// like those of API requests, counting from the last that came further than
// any before. The object store never gets the API key.
//
// Errors are [StorageError], [ConnectionError], [ChecksumError], [SizeError],
// those of Link and of the file system, and the cause of ctx's end.
func (c *Client) DownloadBundle(ctx context.Context, request DownloadRequest) (*Download, error) {
	if info, err := os.Stat(request.Path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory", request.Path)
	}
	directory := filepath.Dir(request.Path)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return nil, err
	}
	// A directory of its own, closed to others, lets the file have its final
	// mode, less the umask, from the start.
	work, err := os.MkdirTemp(directory, ".download-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	file, err := os.OpenFile(filepath.Join(work, "bundle"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()

	t := newTransfer(c, file)
	if err := t.run(ctx, request.Link); err != nil {
		return nil, err
	}
	result := &Download{SHA256: hex.EncodeToString(t.hash.Sum(nil)), SizeBytes: t.size}
	if request.SHA256 != "" && !strings.EqualFold(request.SHA256, result.SHA256) {
		return nil, &ChecksumError{Want: strings.ToLower(request.SHA256), Got: result.SHA256}
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(file.Name(), request.Path); err != nil {
		return nil, err
	}
	return result, nil
}
