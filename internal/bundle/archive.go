// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"syscall"
)

// limits limits what an archive may unpack to.
type limits struct {
	entries int   // files, links, and directories, including parents without an entry
	bytes   int64 // total size of all files, as read and not as declared
}

var defaultLimits = limits{entries: 100_000, bytes: 4 << 30}

// entry is one entry of an archive.
type entry struct {
	raw        string // the name as the archive has it, for errors
	name       string // slash-separated, relative to the root of the archive
	kind       kind
	hard       bool // a file that is a hard link to the earlier file target
	executable bool
	target     string    // of a link
	size       int64     // declared; of a file only
	body       io.Reader // of a file only
}

// archive is one pass over an archive.
type archive struct {
	ctx    context.Context
	limits limits
	// visit is called once for each directory, file, and link, parents first.
	visit   func(entry) error
	tree    tree  // every path named or implied so far
	headers int   // entries read so far, including repeated ones
	left    int64 // bytes that files may still unpack to
}

// readArchive reads the archive at name to its end and returns its content.
// It checks each entry before it visits it. Errors are *ArchiveError, those of the
// system, and the cause of the end of ctx.
func readArchive(ctx context.Context, name string, limits limits, visit func(entry) error) (tree, error) {
	file, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	a := &archive{ctx: ctx, limits: limits, visit: visit, tree: tree{}, left: limits.bytes}
	err = a.read(file)
	_, known := errors.AsType[*ArchiveError](err)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err == nil && len(a.tree) == 0:
		err = errEmpty
	case err == nil || known || isSystemError(err):
		return a.tree, err
	}
	return nil, &ArchiveError{Err: err}
}

func (a *archive) read(file *os.File) error {
	magic := make([]byte, 4)
	if _, err := file.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.Equal(magic, []byte("PK\x03\x04")), bytes.Equal(magic, []byte("PK\x05\x06")):
		return a.zip(file)
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		return a.gzip(file)
	}
	return a.plainTar(file)
}

// add checks and visits one entry. The caller has set everything but name.
func (a *archive) add(e entry) error {
	err := a.check(&e)
	if err == nil && e.name != "." {
		err = a.readEntry(e)
	}
	if err != nil && !isSystemError(err) {
		return &ArchiveError{e.raw, err}
	}
	return err
}

// isSystemError reports whether the system caused the error, for example because the
// disk is full, and not the archive.
func isSystemError(err error) bool {
	_, found := errors.AsType[syscall.Errno](err)
	return found
}

// check sets the name of the entry, checks the entry, and enters it and its parents
// into the tree.
func (a *archive) check(e *entry) (err error) {
	if e.name, err = cleanName(e.raw); err != nil {
		return err
	}
	switch {
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case e.name == "." && e.kind != kindDirectory:
		return fmt.Errorf("%w: it is the root of the archive", errName)
	case e.hard:
		if e.target, err = cleanName(e.target); err != nil || a.tree[e.target].kind != kindFile {
			return fmt.Errorf("%w: its target is not an earlier file of the archive", errLink)
		}
	case e.kind == kindLink && !staysInside(e.name, e.target):
		return fmt.Errorf("%w: its target is not inside the archive", errLink)
	case e.kind == kindFile && e.size > a.left:
		return errTooLarge
	}
	for i, c := range e.name {
		if c == '/' {
			if err := a.enter(e.name[:i], kindDirectory); err != nil {
				return err
			}
		}
	}
	if e.name != "." {
		err = a.enter(e.name, e.kind)
	}
	if a.headers++; max(a.headers, len(a.tree)) > a.limits.entries {
		return errTooMany
	}
	return err
}

// enter adds a path to the tree, and visits a directory. Only a directory may be
// entered again.
func (a *archive) enter(name string, kind kind) error {
	known, again := a.tree[name]
	switch {
	case again && (known.kind != kindDirectory || kind != kindDirectory):
		return fmt.Errorf("%w: %.100q", errConflict, name)
	case again:
		return nil
	}
	a.tree[name] = node{kind: kind}
	if kind == kindDirectory && a.visit != nil {
		return a.visit(entry{name: name, kind: kind})
	}
	return nil
}

// readEntry visits a file or link, reads it to its end, and completes its node. A
// directory was visited when it entered the tree.
func (a *archive) readEntry(e entry) error {
	if e.kind == kindDirectory {
		return nil
	}
	hash, before := sha256.New(), a.left
	if e.body == nil {
		e.body = strings.NewReader(e.target)
	} else {
		e.body = &meter{a.ctx, e.body, &a.left}
	}
	e.body = io.TeeReader(e.body, hash)
	if a.visit != nil {
		if err := a.visit(e); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, e.body); err != nil {
		return err
	}
	n := node{e.kind, before - a.left, [sha256.Size]byte(hash.Sum(nil))}
	if e.hard {
		n = a.tree[e.target]
		a.left -= n.size // readTree reads the content once for each link to it
	}
	a.tree[e.name] = n
	if a.left < 0 {
		return errTooLarge
	}
	return nil
}

// stream limits how much of a tar is read, including headers and padding. Without it, a
// tar could contain any number of 1 MiB headers before an entry.
func (a *archive) stream(source io.Reader) *meter {
	const perEntry, trailer = 4 << 10, 1 << 20
	overhead := int64(a.limits.entries)*perEntry + trailer
	left := overhead + min(a.limits.bytes, math.MaxInt64-overhead)
	return &meter{a.ctx, source, &left}
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
