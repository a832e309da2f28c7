// Package bundle verifies the bundle of a static export, unpacks it, puts it in place,
// and recognizes what it wrote. It trusts neither archives nor the disk. It does not know
// HTTP, the service's API, or Terraform.
//
// [Target.Inspect] finds out what is at a target. [Found.Stage] creates an empty file for a new
// bundle in a temporary directory. The caller writes to it. [Staged.Unpack] reads it, and
// [Staged.Commit] renames everything into place. [Found.Remove] renames what is at the target into
// temporary directories instead. After either, or a failure, Close deletes the temporary directories.
//
// Only what the same resource wrote is replaced or removed. Anything else that already has the content
// of the bundle stays in place, and counts as written by the resource from then on.
package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/robustio"
)

// Staged is a new bundle for a target, in temporary directories.
type Staged struct {
	SizeBytes int64 // of the file so far

	found  *Found
	writer *os.File
	hash   hash.Hash // of the file so far
}

// Stage creates an empty file, and the parent directories of the target if they are missing.
func (f *Found) Stage() (*Staged, error) {
	for _, p := range f.parts() {
		if err := p.mkdirBeside(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	writer, err := os.OpenFile(f.file.newName(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Staged{found: f, writer: writer, hash: sha256.New()}, nil
}

// mkdirBeside creates the temporary directory of the part, on the same file system. A killed
// process leaves it behind.
func (p *part) mkdirBeside() error {
	parent := filepath.Dir(p.name)
	err := os.MkdirAll(parent, 0o755)
	if err == nil {
		p.temporary, err = os.MkdirTemp(parent, "."+filepath.Base(p.name)+".docs-bundle-*")
	}
	return err
}

func (p *part) newName() string { return filepath.Join(p.temporary, "new") }
func (p *part) oldName() string { return filepath.Join(p.temporary, "old") }

// Write appends to the file.
func (s *Staged) Write(p []byte) (int, error) {
	n, err := s.writer.Write(p)
	_, _ = s.hash.Write(p[:n])
	s.SizeBytes += int64(n)
	return n, err
}

// Restart empties the file.
func (s *Staged) Restart() error {
	s.hash.Reset()
	s.SizeBytes = 0
	if err := s.writer.Truncate(0); err != nil {
		return err
	}
	_, err := s.writer.Seek(0, io.SeekStart)
	return err
}

// SHA256 returns the checksum of the file so far, in lowercase hexadecimal.
func (s *Staged) SHA256() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// Unpack closes the file, reads it as an archive, and unpacks it if the target has a
// directory. A bundle that is not unpacked need not be an archive.
//
// Errors are *ArchiveError, those of the file system, and context.Cause(ctx).
func (s *Staged) Unpack(ctx context.Context) (Content, error) {
	// No sync is needed: the next plan detects what a crash has damaged.
	if err := s.writer.Close(); err != nil {
		return Content{}, err
	}
	file, directory := s.found.file, s.found.directory
	file.content = s.SHA256()
	if directory == nil {
		held, err := readArchive(ctx, file.newName(), nil)
		if archive, ok := errors.AsType[*ArchiveError](err); ok && !archive.Damaged {
			return Content{}, nil
		}
		return held.content(), err
	}
	err := os.Mkdir(directory.newName(), 0o755)
	if err != nil {
		return Content{}, err
	}
	root, err := os.OpenRoot(directory.newName()) // refuses names that lead out of it
	if err != nil {
		return Content{}, err
	}
	defer func() { _ = root.Close() }()
	held, err := readArchive(ctx, file.newName(), root)
	content := held.content()
	directory.content = content.Digest
	return content, err
}

// Commit renames the unpacked directory and the file into place, unless what is there
// already has the same content. It returns what the resource owns then. It fails with an
// [OccupiedError] if something is there that the resource did not write and that differs from the
// bundle, or if the target has changed since Inspect.
//
// After an error, the target is unchanged, unless the error is [ErrNotUndone].
func (s *Staged) Commit(ctx context.Context) (owned Owned, err error) {
	for _, p := range s.found.parts() {
		if p.origin == originOther && p.digest == "" {
			_ = p.readDigest(ctx) // what cannot be read is not the same
		}
		p.same = p.digest == p.content
		if info, err := os.Lstat(p.name); err == nil && info.Mode().Type() == p.kind {
			mode := info.Mode() & (fs.ModePerm | fs.ModeSetgid) // keep them; a rename reports what is missing
			if p.kind.IsDir() {
				mode |= 0o700 // or Close could not delete it
			}
			_ = os.Chmod(p.newName(), mode)
		}
	}
	unlock, err := lock(ctx)
	if err != nil {
		return owned, err
	}
	defer unlock()
	if err := s.found.replace(); err != nil {
		return owned, err
	}
	owned = Owned{withLatest(s.found.owned.Files, s.found.file.claim()), s.found.owned.Trees}
	if s.found.directory != nil {
		owned.Trees = withLatest(owned.Trees, s.found.directory.claim())
	}
	return owned, nil
}

// replace puts the new content in place of what was found, unless that has changed.
func (f *Found) replace() error {
	var occupied OccupiedError
	var renames []rename
	for _, p := range f.parts() {
		now, err := stampOf(p.name)
		switch {
		case err == nil && now.entries == 0: // it was never there, or is gone
			renames = append(renames, rename{p.newName(), p.name})
		case p.origin.foreign() && !p.same:
			occupied = append(occupied, p.obstacle(p.problem))
		case err != nil || now != p.stamp:
			occupied = append(occupied, p.obstacle("was created or changed in the meantime, perhaps by another resource with the same path"))
		case p.same: // it stays
		case p.kind.IsDir():
			renames = append(renames, rename{p.name, p.oldName()}, rename{p.newName(), p.name})
		default:
			renames = append(renames, rename{p.newName(), p.name})
		}
	}
	if len(occupied) > 0 {
		return occupied
	}
	return f.renameAll(renames)
}

// claim describes what is in place now. It sets a new time, so that a destroy of another
// resource that wrote the same leaves it. If the system refuses the new time, that destroy
// deletes it.
func (p *part) claim() Written {
	_ = os.Chtimes(p.name, time.Now(), time.Now())
	written := Written{Digest: p.content}
	if info, err := os.Lstat(p.name); err == nil {
		written.Time = info.ModTime().UnixNano()
	}
	return written
}

// Remove renames the directory and the file into temporary directories if the resource
// wrote them and nothing has put them in place again since, such as the resource that
// replaces this one. It returns what it leaves. Errors are those of the system, which may be
// [ErrNotUndone], and context.Cause(ctx).
func (f *Found) Remove(ctx context.Context) (left []Obstacle, err error) {
	unlock, err := lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var renames []rename
	for _, p := range f.parts() {
		now, err := stampOf(p.name)
		switch {
		case p.origin == originNone, err == nil && now.entries == 0: // it was never there, or is gone
		case p.origin.foreign() || p.unsure:
			left = append(left, p.obstacle(p.problem))
		case err != nil || now != p.stamp:
			left = append(left, p.obstacle(replacedSince))
		default:
			if err := p.mkdirBeside(); err != nil {
				return nil, err
			}
			renames = append(renames, rename{p.name, p.oldName()})
		}
	}
	return left, f.renameAll(renames)
}

type rename struct{ from, to string }

// ErrNotUndone means that the system refused a rename, and then also refused to undo an
// earlier one. Close keeps the temporary directories.
var ErrNotUndone = errors.New("the change was undone only in part")

// renameAll makes all renames, or none. It tries again on systems that refuse a rename while
// another program reads the file, such as a virus scanner on Windows.
func (f *Found) renameAll(renames []rename) error {
	for i, r := range renames {
		err := robustio.Rename(r.from, r.to)
		if err == nil {
			continue
		}
		for _, done := range slices.Backward(renames[:i]) {
			if failed := robustio.Rename(done.to, done.from); failed != nil {
				f.keep = true
				return fmt.Errorf("%w; %w: %w", err, ErrNotUndone, failed)
			}
		}
		return err
	}
	return nil
}

// Close deletes the temporary directories, as [Found.Close] does.
func (s *Staged) Close() error {
	_ = s.writer.Close() // Unpack may have closed it
	return s.found.Close()
}

// Close deletes the temporary directories of Stage and Remove, unless they hold what could
// not be put back. An error names what is left.
func (f *Found) Close() error {
	var failures []error
	for _, p := range f.parts() {
		if p.temporary == "" || f.keep {
			continue
		}
		if err := robustio.RemoveAll(p.temporary); err != nil {
			failures = append(failures, fmt.Errorf("%q was not deleted: %w", p.temporary, err))
		}
	}
	return errors.Join(failures...)
}

// changing is a semaphore that is held during a change, so that no other resource of this
// process changes a target between the comparison and the renames.
var changing = make(chan struct{}, 1)

// lock waits for the semaphore, and returns the function that releases it.
func lock(ctx context.Context) (unlock func(), err error) {
	select {
	case changing <- struct{}{}:
		if ctx.Err() == nil {
			return func() { <-changing }, nil
		}
		<-changing
	case <-ctx.Done():
	}
	return nil, context.Cause(ctx)
}
