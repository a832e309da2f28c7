// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

func (w *walker) gzip(file io.Reader) error {
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return readError(w.ctx, err)
	}
	stream := w.metered(unzipped)
	if err := w.tar(stream); err != nil {
		return err
	}
	// The checksum is at the end of the stream, after whatever padding follows the tar.
	_, err = io.Copy(io.Discard, stream)
	return readError(w.ctx, err)
}

func (w *walker) plainTar(file io.Reader) error {
	end := &endWatch{source: file}
	err := w.tar(w.metered(end))
	switch {
	case w.headers == 0 && errors.Is(err, io.ErrUnexpectedEOF):
		return ErrFormat // shorter than one block
	case err == nil && end.reached && w.headers == 0:
		return ErrFormat // no block at all
	case err == nil && end.reached:
		return fmt.Errorf("%w: its end is missing", ErrUnreadable)
	}
	return err
}

func (w *walker) metered(r io.Reader) *meter {
	limit := w.streamLimit()
	return &meter{ctx: w.ctx, source: r, left: &limit}
}

// tar passes the entries of an uncompressed tar on.
func (w *walker) tar(stream io.Reader) error {
	r := tar.NewReader(stream)
	for {
		header, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case w.headers == 0 && errors.Is(err, tar.ErrHeader):
			return ErrFormat
		case err != nil:
			return readError(w.ctx, err)
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			w.headers++ // counts, but stands for no file: git archive writes one
			continue
		}
		e := entry{
			raw:        header.Name,
			target:     header.Linkname,
			executable: header.Mode&0o111 != 0,
			size:       header.Size,
			body:       r,
		}
		switch header.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse:
			e.kind = kindFile
		case tar.TypeDir:
			e.kind = kindDirectory
		case tar.TypeLink:
			e.kind = kindHardLink
		case tar.TypeSymlink:
			e.kind = kindSymlink
		default:
			return &EntryError{header.Name, fmt.Errorf("%w: its type is %q", ErrKind, header.Typeflag)}
		}
		if err := w.add(e); err != nil {
			return err
		}
	}
}

// endWatch notes whether a reader was asked for more than it has. The reader of a whole tar stops at the zero
// blocks that end it, so one that comes to the end of the file tells of a tar cut between two entries.
type endWatch struct {
	source  io.Reader
	reached bool
}

func (e *endWatch) Read(p []byte) (int, error) {
	n, err := e.source.Read(p)
	if n == 0 && err == io.EOF {
		e.reached = true
	}
	return n, err
}
