// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
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

func (a *archive) plainTar(file io.Reader) error {
	end := &endWatch{source: file}
	err := a.tar(a.stream(end))
	switch {
	case a.headers == 0 && end.reached:
		return errFormat // shorter than one block
	case err == nil && end.reached:
		return io.ErrUnexpectedEOF
	}
	return err
}

// tar adds the entries of an uncompressed tar.
func (a *archive) tar(stream io.Reader) error {
	r := tar.NewReader(stream)
	for {
		header, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case a.headers == 0 && errors.Is(err, tar.ErrHeader):
			return errFormat
		case err != nil:
			return err
		}
		e := entry{raw: header.Name, kind: kindFile, target: header.Linkname, executable: header.Mode&0o111 != 0}
		switch header.Typeflag {
		case tar.TypeReg, tar.TypeGNUSparse:
			e.size, e.body = header.Size, r
		case tar.TypeDir:
			e.kind = kindDirectory
		case tar.TypeLink:
			e.hard = true
		case tar.TypeSymlink:
			e.kind = kindLink
		case tar.TypeXGlobalHeader:
			continue // git archive writes one; it is not a file
		default:
			return &ArchiveError{header.Name, fmt.Errorf("%w: its type is %q", errKind, header.Typeflag)}
		}
		if err := a.add(e); err != nil {
			return err
		}
	}
}

// endWatch records whether source was read to its end. The tar reader stops at the zero
// blocks that end a tar, so it reaches the end of the file only if the tar was
// truncated.
type endWatch struct {
	source  io.Reader
	reached bool
}

func (e *endWatch) Read(p []byte) (int, error) {
	n, err := e.source.Read(p)
	e.reached = e.reached || n == 0 && err == io.EOF
	return n, err
}
