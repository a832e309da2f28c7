// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// unpack creates the directory, unpacks the archive into it, and returns its content.
//
// Files get mode 0644 and directories 0755, less the umask. Owners, times, and modes of
// the archive are dropped. After an error, the directory may be incomplete.
func unpack(ctx context.Context, archive, directory string, limits limits) (tree, error) {
	if err := os.Mkdir(directory, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(directory) // refuses names that lead out of it
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return readArchive(ctx, archive, limits, func(e archiveEntry) error { return unpackEntry(root, e) })
}

func unpackEntry(root *os.Root, e archiveEntry) error {
	var err error
	if e.directory {
		err = root.Mkdir(e.name, 0o755)
	} else {
		err = writeFile(root, e)
	}
	if errors.Is(err, fs.ErrExist) {
		return errConflict // the file system ignores case
	}
	return err
}

func writeFile(root *os.Root, e archiveEntry) error {
	file, err := root.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, e.body)
	return errors.Join(err, file.Close())
}
