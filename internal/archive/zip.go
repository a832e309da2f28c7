// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

func (w *walker) zip(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	directory := &directoryMeter{source: file, left: w.limits.Entries + directorySlack}
	r, err := zip.NewReader(directory, info.Size())
	if err != nil {
		return readError(w.ctx, err)
	}
	if len(r.File) > w.limits.Entries {
		return ErrTooMany
	}
	directory.left = math.MaxInt
	for _, f := range r.File {
		if err := w.zipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) zipEntry(f *zip.File) error {
	const encrypted = 0x1
	if f.Flags&encrypted != 0 {
		return &EntryError{f.Name, fmt.Errorf("%w: it is encrypted", ErrUnreadable)}
	}
	e := entry{
		raw:        f.Name,
		executable: f.Mode()&0o111 != 0,
		size:       int64(min(f.UncompressedSize64, math.MaxInt64)),
	}
	switch f.Mode().Type() {
	case fs.ModeDir:
		e.kind = kindDirectory
		return w.add(e)
	case 0:
		e.kind = kindFile
	case fs.ModeSymlink:
		e.kind = kindSymlink
	default:
		return &EntryError{f.Name, fmt.Errorf("%w: its mode is %s", ErrKind, f.Mode())}
	}
	body, err := f.Open()
	if err != nil {
		return &EntryError{f.Name, readError(w.ctx, err)}
	}
	defer body.Close()
	e.body = body
	if e.kind == kindSymlink {
		target, err := io.ReadAll(io.LimitReader(body, maxName+1))
		if err != nil {
			return &EntryError{f.Name, readError(w.ctx, err)}
		}
		e.target = string(target)
	}
	return w.add(e)
}

// directorySlack is more than the records in the last 66 KiB of a file, which zip.NewReader reads twice.
const directorySlack = 2000

// directoryMeter gives up when more records of a zip's directory have been read than left. zip.NewReader believes
// no count and holds every record in memory, at many times the record's size in the file.
type directoryMeter struct {
	source io.ReaderAt
	left   int
}

func (d *directoryMeter) ReadAt(p []byte, offset int64) (int, error) {
	n, err := d.source.ReadAt(p, offset)
	d.left -= bytes.Count(p[:n], []byte("PK\x01\x02"))
	if d.left < 0 {
		return 0, ErrTooMany
	}
	return n, err
}
