// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// kind is what an entry of a tree is.
type kind byte

const (
	kindDirectory kind = 'd'
	kindFile      kind = 'f' // a hard link is a file
	kindLink      kind = 'l' // a symbolic link
)

func (k kind) String() string {
	return map[kind]string{kindDirectory: "a directory", kindFile: "a file", kindLink: "a symbolic link"}[k]
}

// node is what a tree contains at one name.
type node struct {
	kind kind
	size int64 // of a file
	// sum is the SHA-256 of a file's content or of a link's target.
	sum [sha256.Size]byte
}

// tree is the content of an archive or of a directory on disk: a node for each
// slash-separated name, including parent directories without their own entry.
type tree map[string]node

// digest returns the content digest: the SHA-256, in lowercase hexadecimal, of
// one record for each entry, ordered by the bytes of its name. A record is
//
//	KIND SP SUM SP NAME NUL
//
// KIND is "f" for a file, "d" for a directory, and "l" for a symbolic link. SUM
// is the SHA-256 in hexadecimal of the file's content or the link's target, and
// 64 zeros for a directory. NAME is slash-separated and neither starts nor
// ends with a slash. Modes, times, owners, and the order of the archive are ignored.
func (t tree) digest() string {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		_, _ = fmt.Fprintf(hash, "%c %x %s\x00", t[name].kind, t[name].sum, name)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// files counts files and links.
func (t tree) files() (count int64) {
	for _, n := range t {
		if n.kind != kindDirectory {
			count++
		}
	}
	return count
}

// difference describes how t first differs from the tree that was unpacked. It is
// empty if they are the same.
func (t tree) difference(unpacked tree) string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(t)), maps.Keys(unpacked))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		found, present := t[name]
		want, expected := unpacked[name]
		switch {
		case !expected:
			return fmt.Sprintf("%.100q was added", name)
		case !present:
			return fmt.Sprintf("%.100q is missing", name)
		case found.kind != want.kind:
			return fmt.Sprintf("%.100q is %s instead of %s", name, found.kind, want.kind)
		case found != want:
			return fmt.Sprintf("%.100q was changed", name)
		}
	}
	return ""
}

// readTree returns the content of the directory. It does not follow links, and fails if
// it finds anything but files, directories, and links.
func readTree(ctx context.Context, directory string, limits limits) (tree, error) {
	found, left := tree{}, limits.bytes
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == directory {
			return err
		}
		name, err := filepath.Rel(directory, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if len(found) == limits.entries {
			return errTooMany
		}
		found[name], err = readNode(path, entry.Type(), &meter{ctx: ctx, left: &left})
		if errors.Is(err, errIrregular) {
			return fmt.Errorf("%.100q is %w", name, errIrregular)
		}
		return err
	})
	return found, err
}

func readNode(path string, mode fs.FileMode, content *meter) (n node, err error) {
	hash := sha256.New()
	switch mode {
	case fs.ModeDir:
		return node{kind: kindDirectory}, nil
	case fs.ModeSymlink:
		n.kind = kindLink
		target, err := os.Readlink(path)
		if err != nil {
			return node{}, err
		}
		_, _ = io.WriteString(hash, filepath.ToSlash(target))
	default:
		n.kind = kindFile
		file, err := openRegular(path)
		if err != nil {
			return node{}, err
		}
		defer func() { _ = file.Close() }()
		content.source = file
		if n.size, err = io.Copy(hash, content); err != nil {
			return node{}, err
		}
	}
	hash.Sum(n.sum[:0])
	return n, nil
}

// readChecksum returns the SHA-256 in hexadecimal and the size of a file.
func readChecksum(ctx context.Context, name string) (checksum string, size int64, err error) {
	file, err := openRegular(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }()
	hash, left := sha256.New(), int64(math.MaxInt64)
	size, err = io.Copy(hash, &meter{ctx: ctx, source: file, left: &left})
	return hex.EncodeToString(hash.Sum(nil)), size, err
}

// openRegular opens a regular file for reading. It does not follow links, and does
// not open pipes or devices, which may block.
func openRegular(name string) (*os.File, error) {
	before, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if after, err := file.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, errors.Join(err, file.Close(), fmt.Errorf("%s was replaced while it was opened", name))
	}
	return file, nil
}
