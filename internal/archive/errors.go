// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Errors of an archive or target as a whole.
var (
	ErrFormat = errors.New("not a tar, gzip-compressed tar or zip archive")
	ErrEmpty  = errors.New("the archive holds no files")
	ErrTarget = errors.New("unusable target directory")
)

// Causes that an EntryError wraps. ErrTooMany, ErrTooLarge and ErrUnreadable also come alone, where no entry is to
// blame.
var (
	ErrName       = errors.New("unsafe name")
	ErrLink       = errors.New("unsafe link")
	ErrKind       = errors.New("neither a file, a directory nor a link")
	ErrConflict   = errors.New("two entries for one path")
	ErrTooMany    = errors.New("too many entries")
	ErrTooLarge   = errors.New("too large when unpacked")
	ErrUnreadable = errors.New("unreadable")
)

// EntryError names the entry of an archive at which Extract or Remove gave up. It wraps one of the causes above,
// or the error of the file system that the entry could not be written to.
type EntryError struct {
	// Entry is the name as the archive has it: any bytes, up to a mebibyte of them.
	Entry string
	Err   error
}

// Error quotes the name, so that nothing in it reaches a terminal unescaped, and cuts it at 100 characters.
func (e *EntryError) Error() string {
	return fmt.Sprintf("archive entry %.100q: %v", e.Entry, e.Err)
}

func (e *EntryError) Unwrap() error { return e.Err }

// bare strips operation and path from an error of the file system: the path is that of a temporary directory.
func bare(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err
	case errors.As(err, &linkErr):
		return linkErr.Err
	}
	return err
}
