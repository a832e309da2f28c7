// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

func (a *archive) zip(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	directory := &directoryMeter{source: file, left: a.limits.entries + directorySlack}
	r, err := zip.NewReader(directory, info.Size())
	if err != nil {
		return err
	}
	directory.left = math.MaxInt
	for _, f := range r.File {
		if err := a.zipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) zipEntry(f *zip.File) error {
	e := entry{raw: f.Name, executable: f.Mode()&0o111 != 0}
	body, err := f.Open()
	if err == nil {
		defer func() { _ = body.Close() }()
	}
	const encrypted = 0x1
	switch mode := f.Mode().Type(); {
	case mode == fs.ModeDir:
		e.kind, err = kindDirectory, nil
	case f.Flags&encrypted != 0:
		err = errors.New("it is encrypted")
	case mode == fs.ModeSymlink && err == nil:
		var target []byte
		target, err = io.ReadAll(io.LimitReader(body, maxName+1))
		e.kind, e.target = kindLink, string(target)
	case mode == 0:
		e.kind, e.size, e.body = kindFile, int64(min(f.UncompressedSize64, math.MaxInt64)), body
	case err == nil:
		err = fmt.Errorf("%w: its mode is %s", errKind, f.Mode())
	}
	if err != nil {
		return &ArchiveError{f.Name, err}
	}
	return a.add(e)
}

// directorySlack is more than the number of records in the last 66 KiB of a
// file, which zip.NewReader reads twice.
const directorySlack = 2000

// directoryMeter fails when more than left records of a zip's central directory have
// been read. zip.NewReader does not rely on the declared count, and keeps every record in memory
// at many times its size in the file.
type directoryMeter struct {
	source io.ReaderAt
	left   int
}

func (d *directoryMeter) ReadAt(p []byte, offset int64) (int, error) {
	n, err := d.source.ReadAt(p, offset)
	if d.left -= bytes.Count(p[:n], []byte("PK\x01\x02")); d.left < 0 {
		return 0, errTooMany
	}
	return n, err
}
