// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package archive unpacks archives that nobody vouches for into a directory, and removes again what it unpacked.
// It reads tar, gzip-compressed tar and zip, told apart by content. It knows nothing of Terraform nor of the
// service the archives come from.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What a zero field of Limits stands for.
const (
	DefaultEntries = 100_000
	DefaultBytes   = 4 << 30
)

// Limits caps what an archive may unpack to. A field that is zero or negative takes its default.
type Limits struct {
	// Entries caps the files, links and directories, those that only a longer path implies included.
	Entries int
	// Bytes caps the content of all files together, counted as it is read and not as headers declare it.
	Bytes int64
}

func (l Limits) withDefaults() Limits {
	if l.Entries <= 0 {
		l.Entries = DefaultEntries
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	return l
}

// Options says how Extract treats the archive and the target directory.
type Options struct {
	Limits Limits
	// Replace allows dst to be a directory with content, all of which is lost.
	Replace bool
}

// Result says what Extract made.
type Result struct {
	// Files counts regular files and links, not directories.
	Files int
	// Bytes is the content of all regular files.
	Bytes int64
	// Leftover, where not empty, is the directory that holds what could not be removed of the replaced content.
	Leftover string
}

// Extract unpacks the archive at src into the directory dst. It unpacks beside dst, within dst's parent (made
// where it is missing), and renames the whole into place when all of it is there. On any error dst is as it was
// and nothing of the new remains.
//
// Regular files, directories and links that stay inside are unpacked; whatever else an archive can hold is refused
// with an *EntryError. Files get mode 0644, or 0755 where the archive has any execute bit, less the umask;
// directories 0755 likewise. Owners, times, other mode bits and extended attributes are dropped.
//
// Errors wrap ErrFormat, ErrEmpty, ErrTarget, the causes listed at EntryError, the error of the file system, or
// the cause of ctx's end.
func Extract(ctx context.Context, src, dst string, opts Options) (Result, error) {
	return extract(ctx, src, dst, opts, createFile)
}

func extract(ctx context.Context, src, dst string, opts Options, create createFunc) (Result, error) {
	dst, err := filepath.Abs(dst)
	if err != nil {
		return Result{}, err
	}
	if err := checkTarget(src, dst, opts.Replace); err != nil {
		return Result{}, err
	}
	parent := filepath.Dir(dst)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return Result{}, err
	}
	// MkdirTemp's mode keeps others from what is only half there; the directory within it has the final mode.
	work, err := os.MkdirTemp(parent, ".unpack-*")
	if err != nil {
		return Result{}, err
	}
	fresh, aside := filepath.Join(work, "new"), filepath.Join(work, "old")

	result, err := unpack(ctx, src, fresh, opts.Limits.withDefaults(), create)
	if err == nil {
		err = swap(fresh, dst, aside)
	}
	if err != nil {
		// Not RemoveAll(work): where swap could not put the old content back, work still holds it.
		return Result{}, errors.Join(err, os.RemoveAll(fresh), removeEmpty(work))
	}
	if os.RemoveAll(work) != nil {
		result.Leftover = work
	}
	return result, nil
}

// checkTarget fails where the swap would destroy something that was not to be replaced.
func checkTarget(src, dst string, replace bool) error {
	info, err := os.Lstat(dst)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%w: %s exists and is not a directory", ErrTarget, dst)
	}
	if err := checkOutside(src, info); err != nil {
		return err
	}
	content, err := os.ReadDir(dst)
	if err != nil {
		return err
	}
	if len(content) > 0 && !replace {
		return fmt.Errorf("%w: %s exists and is not empty", ErrTarget, dst)
	}
	return nil
}

// checkOutside fails where src lies within the directory dst and would be swapped out with it.
func checkOutside(src string, dst fs.FileInfo) error {
	src, err := filepath.Abs(src)
	if err != nil {
		return err
	}
	for dir := filepath.Dir(src); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, dst) {
			return fmt.Errorf("%w: %s lies within it", ErrTarget, src)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// swap renames fresh to dst, after moving what is at dst to aside. Where the former fails, the latter is undone.
func swap(fresh, dst, aside string) error {
	moved := os.Rename(dst, aside)
	if moved != nil && !errors.Is(moved, fs.ErrNotExist) {
		return moved
	}
	err := os.Rename(fresh, dst)
	if err != nil && moved == nil {
		if undo := os.Rename(aside, dst); undo != nil {
			return fmt.Errorf("%w; what was at %s is now at %s", err, dst, aside)
		}
	}
	return err
}

// removeEmpty removes the directory dir unless something is in it.
func removeEmpty(dir string) error {
	content, err := os.ReadDir(dir)
	if err != nil || len(content) > 0 {
		return err
	}
	return os.Remove(dir)
}
