// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
)

// readArchive reads the archive at name to its end and returns its content.
// It checks each entry before it visits it; visit may be nil. Errors are *ArchiveError,
// those of the system, and context.Cause(ctx).
func readArchive(ctx context.Context, name string, limits limits, visit func(entry) error) (tree, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if visit == nil {
		visit = func(entry) error { return nil }
	}
	a := &archive{ctx: ctx, limits: limits, visit: visit, tree: tree{}, left: limits.bytes}
	err = a.read(file)
	_, known := errors.AsType[*ArchiveError](err)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil && len(a.tree) == 0:
		err = errEmpty
	case err == nil || known || isSystemError(err):
		return a.tree, err
	}
	return nil, &ArchiveError{Err: err}
}

func (a *archive) read(file *os.File) error {
	magic := make([]byte, 4)
	if _, err := file.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.Equal(magic, []byte("PK\x03\x04")), bytes.Equal(magic, []byte("PK\x05\x06")):
		return a.zip(file)
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		return a.gzip(file)
	}
	return a.plainTar(file)
}

func (a *archive) gzip(file io.Reader) error {
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	stream := bufio.NewReader(a.stream(unzipped))
	if _, err := stream.Peek(512); err == io.EOF {
		return errFormat // shorter than one block
	}
	if err := a.tar(stream); err != nil {
		return err
	}
	// The checksum is at the end of the stream, after any padding of the tar.
	_, err = io.Copy(io.Discard, stream)
	return err
}

// plainTar reads a tar to the zero blocks that end it. The tar reader also accepts one
// that was cut off between two entries.
func (a *archive) plainTar(file io.Reader) error {
	err := a.tar(a.stream(endless{file}))
	if errors.Is(err, io.ErrUnexpectedEOF) && len(a.tree) == 0 {
		return errFormat // shorter than one block
	}
	return err
}

// endless reports the end of source as an error.
type endless struct{ source io.Reader }

func (e endless) Read(p []byte) (int, error) {
	n, err := e.source.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// stream limits how much of a tar is read, including headers and padding.
func (a *archive) stream(source io.Reader) io.Reader {
	const perEntry, trailer = 4 << 10, 1 << 20
	left := a.limits.bytes + int64(a.limits.entries)*perEntry + trailer
	return &meter{a.ctx, source, &left}
}

// tar adds the entries of an uncompressed tar.
func (a *archive) tar(stream io.Reader) error {
	r := tar.NewReader(stream)
	for {
		header, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, tar.ErrHeader) && len(a.tree) == 0:
			return errFormat
		case err != nil:
			return err
		}
		e := entry{body: r}
		switch header.Typeflag {
		case tar.TypeReg:
		case tar.TypeDir:
			e.directory = true
		case tar.TypeXGlobalHeader:
			continue // git archive writes one; it is not a file
		default:
			return &ArchiveError{header.Name, errKind}
		}
		if err := a.add(header.Name, e); err != nil {
			return err
		}
	}
}

func (a *archive) zip(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r, err := zip.NewReader(file, info.Size())
	if err != nil {
		return err
	}
	for _, f := range r.File {
		if err := a.zipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) zipEntry(f *zip.File) error {
	switch mode := f.Mode(); {
	case mode.IsDir():
		return a.add(f.Name, entry{directory: true})
	case !mode.IsRegular():
		return &ArchiveError{f.Name, errKind}
	}
	body, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		err = errMethod
	}
	if err != nil {
		return &ArchiveError{f.Name, err}
	}
	defer func() { _ = body.Close() }()
	return a.add(f.Name, entry{body: body})
}
