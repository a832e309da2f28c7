// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
)

// maxLeft bounds what Remove names.
const maxLeft = 100

// Remove deletes from the directory dst the files and links that the archive at src holds, by name, and then the
// directories that it holds and that are empty now, dst included. It returns the slash-separated paths of the first
// 100 things that are in dst after that: files, and directories with nothing in them. limits are those of the
// Extract before.
//
// The archive is read to its end before anything is deleted. A file that cannot be deleted does not keep the others
// from it; the error is that of the first such. No dst is no error.
func Remove(ctx context.Context, src, dst string, limits Limits) (left []string, err error) {
	root, err := os.OpenRoot(dst)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()

	var files, dirs []string
	err = walk(ctx, src, limits.withDefaults(), func(e entry) error {
		dirs = append(dirs, e.dirs...)
		if e.kind != kindDirectory {
			files = append(files, e.name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = removeAll(ctx, root, files, dirs)
	left, listErr := remaining(root)
	if err = errors.Join(err, listErr); err != nil || len(left) > 0 {
		return left, err
	}
	// An open directory cannot be deleted on every system.
	return nil, errors.Join(root.Close(), os.Remove(dst))
}

func removeAll(ctx context.Context, root *os.Root, files, dirs []string) error {
	var first error
	for _, name := range files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		info, err := root.Lstat(name)
		if err == nil && !info.IsDir() {
			err = root.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && first == nil {
			first = &EntryError{name, bare(err)}
		}
	}
	for _, name := range slices.Backward(dirs) {
		// The error is that it is not empty, or leaves a directory that is then listed.
		if info, err := root.Lstat(name); err == nil && info.IsDir() {
			_ = root.Remove(name)
		}
	}
	return first
}

// remaining lists what is below root: files, and directories with nothing in them.
func remaining(root *os.Root) (left []string, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		}
		if n := len(left); n > 0 && left[n-1] == path.Dir(name) {
			left = left[:n-1]
		}
		if len(left) == maxLeft {
			return fs.SkipAll
		}
		left = append(left, name)
		return nil
	})
	return left, err
}
