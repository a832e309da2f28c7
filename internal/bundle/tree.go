// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// limits bounds what an archive may unpack to, and what is read of a directory.
type limits struct {
	entries int   // files and directories, including parents without an entry
	bytes   int64 // total size of all files, as read and not as declared
}

var defaultLimits = limits{entries: 100_000, bytes: 4 << 30}

// node is a file or a directory of a tree.
type node struct {
	directory bool
	sum       [sha256.Size]byte // SHA-256 of a file's content
}

// tree is the content of an archive or of a directory on disk: a node for each
// slash-separated name, including parent directories without their own entry.
type tree map[string]node

// content counts the files and returns the content digest: the SHA-256, in lowercase
// hexadecimal, of one record for each file and directory, ordered by the bytes of its
// name. A record is
//
//	KIND SP SUM SP NAME NUL
//
// KIND is "f" for a file and "d" for a directory. SUM is the SHA-256 in hexadecimal of
// the file's content, and 64 zeros for a directory. NAME is slash-separated and neither
// starts nor ends with a slash. Modes, times, owners, and the order of the archive are
// ignored.
func (t tree) content() (c Content) {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		kind := 'd'
		if !t[name].directory {
			kind = 'f'
			c.Files++
		}
		_, _ = fmt.Fprintf(hash, "%c %x %s\x00", kind, t[name].sum, name)
	}
	c.Digest = hex.EncodeToString(hash.Sum(nil))
	return c
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

// meter reads from source. It fails when ctx has ended, or when more than *left bytes
// have been read.
type meter struct {
	ctx    context.Context
	source io.Reader
	left   *int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.ctx.Err() != nil {
		return 0, context.Cause(m.ctx)
	}
	n, err := m.source.Read(p)
	if *m.left -= int64(n); *m.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
