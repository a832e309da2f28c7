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
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

// entry is a file or a directory of an archive.
type entry struct {
	name      string // slash-separated, relative to the root of the archive
	directory bool
	body      io.Reader // of a file only
}

// archive is one pass over an archive.
type archive struct {
	ctx    context.Context
	limits limits
	// visit is called once for each directory and file, parents first.
	visit   func(entry) error
	current string // name of the entry that is read, as in the archive; "" between entries
	tree    tree   // every path named or implied so far
	left    int64  // bytes that files may still unpack to
}

// add checks, visits, and reads the current entry, after its parents.
func (a *archive) add(e entry) (err error) {
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
			if err := a.enter(entry{name: e.name[:i], directory: true}); err != nil {
				return err
			}
		}
	}
	return a.enter(e)
}

// isSystemError reports whether the system caused the error, for example because the
// disk is full, and not the archive.
func isSystemError(err error) bool {
	_, found := errors.AsType[syscall.Errno](err)
	return found
}

// enter adds one path to the tree, and visits and reads it. Only a directory may be
// entered again.
func (a *archive) enter(e entry) error {
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
	if raw == "" || tooLong || !fs.ValidPath(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
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

// ArchiveError reports an archive that cannot be read or is not safe to unpack.
type ArchiveError struct {
	// Entry is the name of the invalid entry, exactly as in the archive: up to 1 MiB
	// of arbitrary bytes. It is empty if the archive as a whole is invalid.
	Entry string
	Err   error
	// Damaged means that the file is corrupt, not just unsupported.
	Damaged bool
}

// Error escapes the name of the entry and shows at most 100 characters of it.
func (e *ArchiveError) Error() string {
	if e.Entry == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("archive entry %.100q: %v", e.Entry, e.Err)
}

func (e *ArchiveError) Unwrap() error { return e.Err }

// refusal says why an intact file is not unpacked.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	errFormat   refusal = "not a tar, gzip-compressed tar, or zip archive"
	errEmpty    refusal = "the archive contains no files"
	errName     refusal = "the name is unsafe or too long"
	errSystem   refusal = "the operating system does not allow this name"
	errMethod   refusal = "unsupported compression method"
	errKind     refusal = "only files and directories are supported, not links or devices"
	errConflict refusal = "two entries for one path"
	errTooMany  refusal = "more than 100,000 entries"
	errTooLarge refusal = "more than 4 GiB unpacked"
	errListing  refusal = "more than 100,000 entries, or 50 MB of names"
)
