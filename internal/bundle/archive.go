// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// archiveEntry is a file or a directory of an archive.
type archiveEntry struct {
	name      string // slash-separated, relative to the root of the archive
	directory bool
	body      io.Reader // of a file only
}

// archiveReader is one pass over an archive.
type archiveReader struct {
	ctx    context.Context
	limits limits
	// visit is called once for each directory and file, parents first.
	visit   func(archiveEntry) error
	current string // name of the entry that is read, as in the archive; "" between entries
	tree    tree   // every path named or implied so far
	left    int64  // bytes that files may still unpack to
}

// add checks, visits, and reads the current entry, after its parents.
func (a *archiveReader) add(e archiveEntry) (err error) {
	if e.name, err = cleanName(a.current); err != nil {
		return err
	}
	if e.name == "." {
		if !e.directory {
			return errName
		}
		return nil
	}
	for i, c := range e.name {
		if c == '/' {
			if err := a.enter(archiveEntry{name: e.name[:i], directory: true}); err != nil {
				return err
			}
		}
	}
	return a.enter(e)
}

// enter adds one path to the tree, and visits and reads it. Only a directory may be
// entered again.
func (a *archiveReader) enter(e archiveEntry) error {
	known, again := a.tree[e.name]
	switch {
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case again && known.directory && e.directory:
		return nil
	case again:
		return fmt.Errorf("%w: %.100q", errConflict, e.name)
	case len(a.tree) == a.limits.entries:
		return errTooMany
	}
	a.tree[e.name] = node{directory: e.directory}
	if e.directory {
		return a.visit(e)
	}
	hash := sha256.New()
	e.body = io.TeeReader(&meter{a.ctx, e.body, &a.left}, hash)
	if err := a.visit(e); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, e.body); err != nil {
		return err
	}
	a.tree[e.name] = node{sum: [sha256.Size]byte(hash.Sum(nil))}
	return nil
}

// cleanName returns the slash-separated path of an entry, relative to the root of
// the archive, which is ".". On every system, it refuses names that lead out of the
// archive, backslashes, which separate directories on Windows only, and elements that are
// too long for common file systems.
func cleanName(raw string) (string, error) {
	name := path.Clean(raw)
	elements := strings.Split(name, "/")
	tooLong := slices.ContainsFunc(elements, func(element string) bool { return len(element) > 255 })
	if tooLong || !fs.ValidPath(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		return "", errName
	}
	_, err := filepath.Localize(name)
	if err != nil || runtime.GOOS == "windows" && slices.ContainsFunc(elements, changedByWindows) {
		return "", errSystem
	}
	return name, nil
}

// changedByWindows reports whether Windows refuses or changes a name that Localize
// accepts.
func changedByWindows(element string) bool {
	return strings.ContainsAny(element, `<>"|?*`) || element != "." && strings.TrimRight(element, ". ") != element
}
