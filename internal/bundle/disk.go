// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// stamp identifies a file, or all that is in a directory, by names, kinds, sizes, and times.
type stamp struct {
	entries int // zero if nothing is there; 1 for a file or an empty directory
	sum     [sha256.Size]byte
}

// stampOf returns the stamp of a file or a directory, without reading content.
func stampOf(name string, limits limits) (s stamp, err error) {
	hash := sha256.New()
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if s.entries > limits.entries { // the directory itself is not counted
			return errTooMany
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		s.entries++
		_, err = fmt.Fprintf(hash, "%q %s %d %d\n", path, info.Mode().Type(), info.Size(), info.ModTime().UnixNano())
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s.sum = [sha256.Size]byte(hash.Sum(nil))
	return s, err
}

// timeOf returns the modification time of a file or directory in nanoseconds since 1970, or
// zero.
func timeOf(name string) int64 {
	info, err := os.Lstat(name)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// readTree returns the content of the directory. It fails at a link or a device.
func readTree(ctx context.Context, directory string, limits limits) (tree, error) {
	found, left := tree{}, limits.bytes
	err := fs.WalkDir(os.DirFS(directory), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case len(found) == limits.entries:
			return errTooMany
		case entry.IsDir():
			found[name] = node{directory: true}
			return nil
		case !entry.Type().IsRegular():
			return errKind
		}
		sum, err := readSum(ctx, filepath.Join(directory, name), &left)
		found[name] = node{sum: sum}
		return err
	})
	return found, err
}

// readSum returns the SHA-256 of a file, and reduces left by its size.
func readSum(ctx context.Context, name string, left *int64) (sum [sha256.Size]byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, &meter{ctx, file, left}); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode.IsRegular():
		return "a file"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "neither a file nor a directory"
}
