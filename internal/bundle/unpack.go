// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// createFunc creates the file name, which must not exist, within root. Tests
// replace it to fill a disk.
type createFunc func(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error)

func createFile(root *os.Root, name string, mode fs.FileMode) (io.WriteCloser, error) {
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// unpacker writes the entries of an archive below root. os.Root refuses names that
// lead out of it.
type unpacker struct {
	root   *os.Root
	create createFunc
	links  []entry
	merged bool // the file system ignores case, and two directories became one
	buffer []byte
}

// unpack creates the directory and unpacks the archive into it. It returns the content
// of the archive and the digest of the directory. The two differ only if the file
// system ignores case.
//
// Files get mode 0644, or 0755 if the archive has any execute bit. Directories get
// 0755. The umask applies. Owners, times, other mode bits, and extended
// attributes are dropped. After an error, the directory may be incomplete.
func unpack(ctx context.Context, archive, directory string, limits limits, create createFunc) (held tree, onDisk string, err error) {
	if err := os.Mkdir(directory, 0o755); err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = root.Close() }()
	u := &unpacker{root: root, create: create, buffer: make([]byte, 64<<10)}
	if held, err = readArchive(ctx, archive, limits, u.write); err != nil {
		return nil, "", err
	}
	if err := u.link(); err != nil {
		return nil, "", err
	}
	if !u.merged {
		return held, held.digest(), nil
	}
	found, err := readTree(ctx, directory, limits)
	return held, found.digest(), err
}

func (u *unpacker) write(e entry) (err error) {
	switch {
	case e.kind == kindDirectory:
		err = u.root.Mkdir(e.name, 0o755)
		if errors.Is(err, fs.ErrExist) {
			u.merged, err = true, nil
		}
	case e.kind == kindLink:
		u.links = append(u.links, e)
	case e.hard:
		err = u.root.Link(e.target, e.name)
	default:
		err = u.file(e)
	}
	if errors.Is(err, fs.ErrExist) {
		return errConflict // the file system ignores case
	}
	return err
}

func (u *unpacker) file(e entry) error {
	mode := fs.FileMode(0o644)
	if e.executable {
		mode = 0o755
	}
	file, err := u.create(u.root, e.name, mode)
	if err != nil {
		return err
	}
	// Without the file's ReadFrom, io.CopyBuffer uses the buffer and does not
	// allocate one for each file.
	_, err = io.CopyBuffer(struct{ io.Writer }{file}, e.body, u.buffer)
	return errors.Join(err, file.Close())
}

// link creates the symbolic links. It runs last, so that nothing is written through a
// link. It then follows each link, which fails if the link leads out of root.
func (u *unpacker) link() error {
	for _, e := range u.links {
		err := u.root.Symlink(e.target, e.name)
		if errors.Is(err, fs.ErrExist) {
			return &ArchiveError{e.raw, errConflict} // the file system ignores case
		}
		if err != nil {
			return err
		}
	}
	for _, e := range u.links {
		if _, err := u.root.Stat(e.name); err != nil {
			return &ArchiveError{e.raw, fmt.Errorf("%w: it leads nowhere or out of the archive", errLink)}
		}
	}
	return nil
}
