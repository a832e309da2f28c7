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
	"time"
)

// Content describes what is in an archive.
type Content struct {
	// Digest is the content digest (see tree.content), or "" if the file is not an archive
	// that can be unpacked.
	Digest string
	Files  int64
}

// Staged is a bundle in temporary directories beside its target.
type Staged struct {
	SizeBytes int64 // of the file so far

	file *os.File
	hash hash.Hash // of the file so far
	change
}

// Stage creates an empty file, and the parent directories of the target if they are
// missing. What is at the target does not change before Commit.
func (f Found) Stage() (*Staged, error) {
	s := &Staged{hash: sha256.New()}
	if err := s.prepare(f); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

func (s *Staged) prepare(f Found) (err error) {
	for _, found := range f {
		if err := s.beside(found); err != nil {
			return err
		}
	}
	// The file is the last part, because it replaces a file atomically and cannot be taken back.
	s.file, err = os.OpenFile(s.parts[len(s.parts)-1].next(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	return err
}

// Write appends to the file.
func (s *Staged) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	_, _ = s.hash.Write(p[:n])
	s.SizeBytes += int64(n)
	return n, err
}

// Restart empties the file.
func (s *Staged) Restart() error {
	s.hash.Reset()
	s.SizeBytes = 0
	if err := s.file.Truncate(0); err != nil {
		return err
	}
	_, err := s.file.Seek(0, io.SeekStart)
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
	if err := s.file.Close(); err != nil {
		return Content{}, err
	}
	file := &s.parts[len(s.parts)-1]
	file.content = s.SHA256()
	if directory := &s.parts[0]; directory.directory {
		held, err := unpack(ctx, s.file.Name(), directory.next(), defaultLimits)
		content := held.content()
		directory.content = content.Digest
		return content, err
	}
	held, err := readArchive(ctx, s.file.Name(), defaultLimits, skip)
	if archive, ok := errors.AsType[*ArchiveError](err); ok && !archive.Damaged {
		return Content{}, nil
	}
	return held.content(), err
}

// Commit renames the unpacked directory and the file into place, unless what is there
// already has the same content, and adds them to what the resource owns. It fails with an
// [OccupiedError] if the resource did not write anything else that is there, or if that has
// changed since Inspect.
//
// After an error, the target is unchanged, unless the error is a [*NotUndoneError].
func (s *Staged) Commit(ctx context.Context, owned *Owned) error {
	for i := range s.parts {
		if err := s.parts[i].compare(ctx); err != nil {
			return err
		}
	}
	return s.commit(ctx, s.replacement, func() {
		for _, p := range s.parts {
			if p.same {
				// Its time tells the resource that wrote it from the one that takes it over. If the
				// system refuses a new time, a destroy of the former deletes it.
				_ = os.Chtimes(p.name, time.Now(), time.Now())
			}
			written := &owned.Files
			if p.directory {
				written = &owned.Trees
			}
			add(written, Written{p.content, timeOf(p.name)})
		}
	})
}

// Discard deletes what was not put in place, and what was replaced. An error names what
// is left.
func (s *Staged) Discard() error {
	_ = s.file.Close()
	return s.change.Discard()
}

// Removed is what was at a target, in temporary directories beside it.
type Removed struct {
	// Left is what was not removed, because the resource did not write it.
	Left []Obstacle
	change
}

// Remove renames the directory and the file into temporary directories if the resource
// wrote them and nothing has put them in place again since, such as the resource that
// replaces this one. It leaves anything else. Errors are those of Commit.
func (f Found) Remove(ctx context.Context) (*Removed, error) {
	r := &Removed{}
	for _, found := range f {
		switch {
		case found.problem != "":
			r.Left = append(r.Left, found.obstacle(found.problem))
		case found.placed:
			if err := r.beside(found); err != nil {
				return nil, errors.Join(err, r.Discard())
			}
		case found.time != 0:
			r.Left = append(r.Left, found.obstacle(placedAgain))
		}
	}
	if err := r.commit(ctx, r.removal, func() {}); err != nil {
		return nil, errors.Join(err, r.Discard())
	}
	return r, nil
}
