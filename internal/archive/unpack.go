// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// createFunc makes the file name, which must not exist, within root. It is a parameter so that tests can fill a disk.
type createFunc func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error)

func createFile(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// unpacker writes entries below root, which is what keeps every one of them inside.
type unpacker struct {
	root     *os.Root
	create   createFunc
	symlinks []entry
	buffer   []byte
	result   Result
}

// unpack makes the directory dir and unpacks the archive at src into it. On an error dir is left as it is then.
func unpack(ctx context.Context, src, dir string, limits Limits, create createFunc) (Result, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return Result{}, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	u := &unpacker{root: root, create: create, buffer: make([]byte, 64<<10)}
	if err := walk(ctx, src, limits, u.entry); err != nil {
		return Result{}, err
	}
	if err := u.link(); err != nil {
		return Result{}, err
	}
	return u.result, nil
}

func (u *unpacker) entry(e entry) error {
	for _, dir := range e.dirs {
		// It may exist where the file system takes two names for one.
		if err := u.root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return bare(err)
		}
	}
	switch e.kind {
	case kindDirectory:
		return nil
	case kindFile:
		if err := u.file(e); err != nil {
			return err
		}
	case kindHardLink:
		if err := u.root.Link(e.target, e.name); err != nil {
			return made(err)
		}
	case kindSymlink:
		u.symlinks = append(u.symlinks, e)
	}
	u.result.Files++
	return nil
}

func (u *unpacker) file(e entry) error {
	mode := fs.FileMode(0o644)
	if e.executable {
		mode = 0o755
	}
	file, err := u.create(u.root, e.name, mode)
	if err != nil {
		return made(err)
	}
	// Hiding the file's ReadFrom makes io.CopyBuffer use the buffer, rather than allocate one for each file.
	n, err := io.CopyBuffer(struct{ io.Writer }{file}, e.body, u.buffer)
	u.result.Bytes += n
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return bare(err)
}

// link makes the symbolic links: last, so that nothing is ever written through one, and then follows each, which
// root refuses to do where the way leads out.
func (u *unpacker) link() error {
	for _, e := range u.symlinks {
		if err := u.root.Symlink(e.target, e.name); err != nil {
			return &EntryError{e.raw, made(err)}
		}
	}
	for _, e := range u.symlinks {
		if _, err := u.root.Stat(e.name); err != nil {
			return &EntryError{e.raw, fmt.Errorf("%w: following it: %w", ErrLink, bare(err))}
		}
	}
	return nil
}

// made says of the error of making a file that its path is taken, as it is where the file system takes two names
// for one.
func made(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return ErrConflict
	}
	return bare(err)
}
