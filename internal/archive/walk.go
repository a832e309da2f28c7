// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
)

type kind int

const (
	kindDirectory kind = iota
	kindFile
	kindHardLink
	kindSymlink
)

// entry is one safe entry of an archive.
type entry struct {
	raw  string // the name as the archive has it, for errors
	name string // slash-separated, relative to the target
	kind kind
	// dirs are the directories that come into being with the entry, outermost first; itself where it is one.
	dirs       []string
	executable bool
	// target of a link: for a hard link the name of an earlier file, for a symbolic link as the archive has it.
	target string
	size   int64     // declared; of a file only
	body   io.Reader // of a file only
}

// walker reads an archive and hands its entries on, each checked and within the limits.
type walker struct {
	ctx     context.Context
	limits  Limits
	visit   func(entry) error
	headers int             // entries read so far, repeated ones included
	paths   map[string]kind // every path named or implied so far
	left    int64           // bytes that files may still unpack to
}

// walk calls visit for each entry of the archive at src, in the archive's order, and stops at the first error.
func walk(ctx context.Context, src string, limits Limits, visit func(entry) error) error {
	file, err := os.Open(src)
	if err != nil {
		return err
	}
	defer file.Close()

	magic := make([]byte, 4)
	if _, err := file.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	w := &walker{ctx: ctx, limits: limits, visit: visit, paths: map[string]kind{}, left: limits.Bytes}
	switch {
	case bytes.Equal(magic, []byte("PK\x03\x04")), bytes.Equal(magic, []byte("PK\x05\x06")):
		err = w.zip(file)
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		err = w.gzip(file)
	default:
		err = w.plainTar(file)
	}
	switch {
	case err == nil && len(w.paths) == 0:
		return ErrEmpty
	case errors.Is(err, ErrTooLarge):
		return fmt.Errorf("%w (the limit is %d bytes)", err, limits.Bytes)
	case errors.Is(err, ErrTooMany):
		return fmt.Errorf("%w (the limit is %d)", err, limits.Entries)
	}
	return err
}

// add checks one entry and passes it to visit. The caller has set raw, kind, executable, target, size and body.
func (w *walker) add(e entry) error {
	if err := w.admit(&e); err != nil {
		return &EntryError{e.raw, err}
	}
	if e.name == "." {
		return nil
	}
	if e.kind == kindFile {
		e.body = &meter{ctx: w.ctx, source: e.body, left: &w.left}
	}
	if err := w.visit(e); err != nil {
		return &EntryError{e.raw, err}
	}
	return nil
}

func (w *walker) admit(e *entry) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	w.headers++
	var err error
	if e.name, err = cleanName(e.raw); err != nil {
		return err
	}
	if e.name == "." && e.kind != kindDirectory {
		return fmt.Errorf("%w: it is the target directory itself", ErrName)
	}
	switch e.kind {
	case kindHardLink:
		target, err := cleanName(e.target)
		if known, ok := w.paths[target]; err != nil || !ok || known != kindFile {
			return fmt.Errorf("%w: its target is no earlier file of the archive", ErrLink)
		}
		e.target = target
	case kindSymlink:
		if err := checkSymlink(e.name, e.target); err != nil {
			return err
		}
	case kindFile:
		if e.size > w.left {
			return ErrTooLarge
		}
	case kindDirectory:
	}
	if e.name != "." {
		if err := w.claim(e); err != nil {
			return err
		}
	}
	if max(w.headers, len(w.paths)) > w.limits.Entries {
		return ErrTooMany
	}
	return nil
}

// claim enters the entry's path and those of its parents, and sets e.dirs.
func (w *walker) claim(e *entry) error {
	for parent := path.Dir(e.name); parent != "."; parent = path.Dir(parent) {
		known, ok := w.paths[parent]
		if ok && known != kindDirectory {
			return fmt.Errorf("%w: it is inside %.100q, which is no directory", ErrConflict, parent)
		}
		if ok {
			break
		}
		w.paths[parent] = kindDirectory
		e.dirs = append([]string{parent}, e.dirs...)
	}
	known, ok := w.paths[e.name]
	if ok && (known != kindDirectory || e.kind != kindDirectory) {
		return ErrConflict
	}
	if !ok && e.kind == kindDirectory {
		e.dirs = append(e.dirs, e.name)
	}
	w.paths[e.name] = e.kind
	return nil
}

// streamLimit bounds what is read of a tar in all, headers and padding included: a header may be preceded by
// others, up to a mebibyte each, that make no entry.
func (w *walker) streamLimit() int64 {
	const perEntry, trailer = 4 << 10, 1 << 20
	overhead := int64(w.limits.Entries)*perEntry + trailer
	return overhead + min(w.limits.Bytes, math.MaxInt64-overhead)
}

// meter reads from source until ctx ends or more than *left bytes have come.
type meter struct {
	ctx    context.Context
	source io.Reader
	left   *int64
}

func (m *meter) Read(p []byte) (int, error) {
	if err := context.Cause(m.ctx); err != nil {
		return 0, err
	}
	n, err := m.source.Read(p)
	*m.left -= int64(n)
	if *m.left < 0 {
		return 0, ErrTooLarge
	}
	if !errors.Is(err, io.EOF) {
		err = readError(m.ctx, err)
	}
	return n, err
}

// readError makes an error of the archive itself an ErrUnreadable, and leaves those alone that say why reading was
// given up.
func readError(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrUnreadable), errors.Is(err, ErrTooLarge), errors.Is(err, ErrTooMany):
		return err
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}
