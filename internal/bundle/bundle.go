// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package bundle verifies the bundle of a static export, unpacks it, puts it in place,
// and recognizes what it wrote. It trusts neither archives nor the disk. It does not know
// HTTP, the service's API, or Terraform.
//
// [Target.Inspect] finds out what is at a target. [Found.Stage] creates an empty file for
// the bundle in a temporary directory. The caller writes to it. [Staged.Unpack] reads it, and
// [Staged.Commit] renames everything into place. [Found.Remove] renames what is at the
// target into temporary directories. Only what the same resource wrote is replaced or
// removed, and what already has the content of the bundle is left in place.
package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Staged is a bundle in temporary directories beside its target.
type Staged struct {
	SizeBytes int64 // of the file so far

	writer    *os.File
	hash      hash.Hash   // of the file so far
	directory *stagedPart // nil if the target has none
	file      stagedPart
	workspace
}

// stagedPart is the new file or directory, and what was found in its place.
type stagedPart struct {
	part
	temporary string // directory beside it
	content   string // digest of the new content
	same      bool   // what was found has the new content
}

func (p *stagedPart) newName() string { return filepath.Join(p.temporary, "new") }
func (p *stagedPart) oldName() string { return filepath.Join(p.temporary, "old") }

// Stage creates an empty file, and the parent directories of the target if they are
// missing. What is at the target does not change before Commit.
func (f Found) Stage() (*Staged, error) {
	s := &Staged{hash: sha256.New(), file: stagedPart{part: f.file}}
	if f.directory != nil {
		s.directory = &stagedPart{part: *f.directory}
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

// parts returns the directory, if there is one, and the file. The file is the last part,
// because it replaces a file atomically and cannot be taken back.
func (s *Staged) parts() []*stagedPart {
	if s.directory == nil {
		return []*stagedPart{&s.file}
	}
	return []*stagedPart{s.directory, &s.file}
}

func (s *Staged) prepare() (err error) {
	for _, p := range s.parts() {
		if p.temporary, err = s.mkdirBeside(p.name); err != nil {
			return err
		}
	}
	if s.directory != nil && s.directory.isAlso(s.file.name) {
		return ErrSamePlace
	}
	s.writer, err = os.OpenFile(s.file.newName(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	return err
}

// ErrSamePlace means that the file and the directory of a target have different names for
// the same place.
var ErrSamePlace = errors.New("the file and the directory are at the same place")

// isAlso reports whether another name leads to the same place, because the file system
// ignores case or because a parent is a link. It tries that with the temporary directory.
func (p *stagedPart) isAlso(name string) bool {
	random := strings.TrimPrefix(filepath.Base(p.temporary), temporaryPrefix(p.name))
	_, err := os.Lstat(filepath.Join(filepath.Dir(name), temporaryPrefix(name)+random))
	return err == nil
}

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
	s.file.content = s.SHA256()
	if s.directory == nil {
		held, err := readArchive(ctx, s.writer.Name(), defaultLimits, skip)
		if archive, ok := errors.AsType[*ArchiveError](err); ok && !archive.Damaged {
			return Content{}, nil
		}
		return held.content(), err
	}
	held, err := unpack(ctx, s.writer.Name(), s.directory.newName(), defaultLimits)
	content := held.content()
	s.directory.content = content.Digest
	return content, err
}

// Commit renames the unpacked directory and the file into place, unless what is there
// already has the same content. It returns what the resource owns then. It fails with an
// [OccupiedError] if the resource did not write something else that is there, or if that
// has changed since Inspect.
//
// After an error, the target is unchanged, unless the error is a [*NotUndoneError].
func (s *Staged) Commit(ctx context.Context, owned Owned) (Owned, error) {
	for _, p := range s.parts() {
		if err := p.compare(ctx); err != nil {
			return owned, err
		}
	}
	unlock, err := lock(ctx)
	if err != nil {
		return owned, err
	}
	defer unlock()
	if err := s.replace(); err != nil {
		return owned, err
	}
	if s.directory != nil {
		owned.Trees = withLatest(owned.Trees, s.directory.claim())
	}
	owned.Files = withLatest(owned.Files, s.file.claim())
	return owned, nil
}

// compare finds out whether what the resource did not write has the new content.
func (p *stagedPart) compare(ctx context.Context) error {
	if !p.comparable {
		return nil
	}
	digest, err := p.digest(ctx)
	p.same = err == nil && digest == p.content // what cannot be read is not the same
	return context.Cause(ctx)
}

// replace puts the new content in place of what was found, unless that has changed.
func (s *Staged) replace() error {
	var occupied OccupiedError
	var renames []Rename
	for _, p := range s.parts() {
		now, err := stampOf(p.name, defaultLimits)
		switch {
		case err == nil && now.entries == 0: // it was never there, or is gone
			renames = append(renames, Rename{p.newName(), p.name})
		case err != nil || now != p.stamp:
			occupied = append(occupied, p.obstacle(changedSince))
		case p.same:
		case p.problem != "":
			occupied = append(occupied, p.obstacle(p.problem))
		case p.isDirectory:
			renames = append(renames, Rename{p.name, p.oldName()}, Rename{p.newName(), p.name})
		default:
			renames = append(renames, Rename{p.newName(), p.name})
		}
	}
	if len(occupied) > 0 {
		return occupied
	}
	return s.renameAll(renames)
}

// claim describes what is in place now. It sets a new time, so that a destroy of another
// resource that wrote the same leaves it. If the system refuses the new time, that destroy
// deletes it.
func (p *stagedPart) claim() Written {
	_ = os.Chtimes(p.name, time.Now(), time.Now())
	return Written{p.content, timeOf(p.name)}
}

// Discard deletes what was not put in place, and what was replaced. An error names what
// is left.
func (s *Staged) Discard() error {
	_ = s.writer.Close()
	return s.workspace.Discard()
}

// Removed is what was at a target, in temporary directories beside it.
type Removed struct {
	// Left is what was not removed, because the resource did not write it.
	Left []Obstacle
	workspace
}

// Remove renames the directory and the file into temporary directories if the resource
// wrote them and nothing has put them in place again since, such as the resource that
// replaces this one. It leaves anything else. Errors are those of the system, which may be a
// [*NotUndoneError], and context.Cause(ctx).
func (f Found) Remove(ctx context.Context) (*Removed, error) {
	unlock, err := lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r := &Removed{}
	if err := r.remove(f); err != nil {
		return nil, errors.Join(err, r.Discard())
	}
	return r, nil
}

func (r *Removed) remove(f Found) error {
	var renames []Rename
	for _, p := range f.parts() {
		if p.problem != "" {
			r.Left = append(r.Left, p.obstacle(p.problem))
		}
		if !p.owned {
			continue
		}
		now, err := stampOf(p.name, defaultLimits)
		switch {
		case err == nil && now.entries == 0: // it is gone
		case p.doubt != "":
			r.Left = append(r.Left, p.obstacle(p.doubt))
		case err != nil || now != p.stamp:
			r.Left = append(r.Left, p.obstacle(replacedSince))
		default:
			temporary, err := r.mkdirBeside(p.name)
			if err != nil {
				return err
			}
			renames = append(renames, Rename{p.name, filepath.Join(temporary, "old")})
		}
	}
	return r.renameAll(renames)
}
