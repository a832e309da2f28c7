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
	"math"
	"os"
)

// readArchive reads the archive at name to its end and returns its content. It checks each
// entry before it visits it. Errors are *ArchiveError, those of the system, and
// context.Cause(ctx).
func readArchive(ctx context.Context, name string, limits limits, visit func(archiveEntry) error) (tree, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	a := &archiveReader{ctx: ctx, limits: limits, visit: visit, tree: tree{}, left: limits.bytes}
	err = a.read(file)
	if err == nil && len(a.tree) == 0 {
		err = errEmpty
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !isSystemError(err):
		_, intact := errors.AsType[*refusal](err)
		return nil, &ArchiveError{a.current, err, !intact}
	}
	return a.tree, err
}

// skip visits an entry of an archive that is only read.
func skip(archiveEntry) error { return nil }

func (a *archiveReader) read(file *os.File) error {
	magic := make([]byte, 4)
	if _, err := file.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.Equal(magic, []byte("PK\x03\x04")), bytes.Equal(magic, []byte("PK\x05\x06")):
		return a.zip(file)
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		return a.tar(unzipped, bytes.NewReader(nil))
	}
	return a.tar(file, cutOff{})
}

// cutOff fails a plain tar without the zero blocks that end it. The tar reader also
// accepts one that was cut off between two entries.
type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// tar adds the entries of an uncompressed tar, which is followed by end.
func (a *archiveReader) tar(source, end io.Reader) error {
	// This limits how much is read, including headers and padding.
	const perEntry, trailer = 4 << 10, 1 << 20
	left := a.limits.bytes + int64(a.limits.entries)*perEntry + trailer
	stream := bufio.NewReader(&meter{a.ctx, source, &left})
	if _, err := stream.Peek(512); err == io.EOF {
		return errFormat // shorter than one block
	}
	r := tar.NewReader(io.MultiReader(stream, end))
	for {
		a.current = ""
		header, err := r.Next()
		switch {
		case err == io.EOF:
			// The checksum of a gzip file is at its end, after any padding of the tar.
			_, err := io.Copy(io.Discard, stream)
			return err
		case errors.Is(err, tar.ErrHeader) && len(a.tree) == 0:
			return errFormat
		case err != nil:
			return err
		}
		a.current = header.Name
		e := archiveEntry{body: r}
		switch header.Typeflag {
		case tar.TypeReg:
		case tar.TypeDir:
			e.directory = true
		case tar.TypeXGlobalHeader:
			continue // git archive writes one; it is not a file
		default:
			return errKind
		}
		if err := a.add(e); err != nil {
			return err
		}
	}
}

// zipDirectory limits what zip.NewReader reads, all of which it keeps in memory.
type zipDirectory struct {
	io.ReaderAt
	entries int
	bytes   int64
}

func (d *zipDirectory) ReadAt(p []byte, at int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, at)
	d.entries -= bytes.Count(p[:n], []byte("PK\x01\x02"))
	if d.bytes -= int64(n); d.entries < 0 || d.bytes < 0 {
		return 0, errListing
	}
	return n, err
}

func (a *archiveReader) zip(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	// The end of the directory is read up to three times.
	directory := &zipDirectory{file, 3 * a.limits.entries, int64(a.limits.entries)*512 + 1<<20}
	r, err := zip.NewReader(directory, info.Size())
	if err != nil {
		return err
	}
	directory.entries, directory.bytes = math.MaxInt, math.MaxInt64
	for _, f := range r.File {
		a.current = f.Name
		if err := a.zipEntry(f); err != nil {
			return err
		}
	}
	a.current = ""
	return nil
}

func (a *archiveReader) zipEntry(f *zip.File) error {
	switch mode := f.Mode(); {
	case mode.IsDir():
		return a.add(archiveEntry{directory: true})
	case !mode.IsRegular():
		return errKind
	}
	body, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return errMethod
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return a.add(archiveEntry{body: body})
}
