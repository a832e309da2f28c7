// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
)

func (a *archive) gzip(file io.Reader) error {
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	stream := a.stream(unzipped)
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
