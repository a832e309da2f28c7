// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// limits bounds what an archive may unpack to, and what is read of a directory.
type limits struct {
	entries int   // files and directories, including parents without an entry
	bytes   int64 // total size of all files, as read and not as declared
}

var defaultLimits = limits{entries: 100_000, bytes: 4 << 30}

// Content describes what is in an archive.
type Content struct {
	// Digest is the content digest (see tree.content), or "" if the file is not an archive
	// that can be unpacked.
	Digest string
	Files  int64
}

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

// difference describes the first name that is not the same in another tree.
func (t tree) difference(other tree) string {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		after, kept := other[name]
		switch {
		case !kept:
			return fmt.Sprintf("%.200q is missing", name)
		case after != t[name]:
			return fmt.Sprintf("%.200q was changed", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(other)) {
		if _, known := t[name]; !known {
			return fmt.Sprintf("%.200q was added", name)
		}
	}
	return ""
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
