// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package bundle verifies the bundle of a static export, unpacks it, puts it in place,
// and recognizes what it wrote. It trusts neither archives nor the disk. It does not know
// HTTP, the service's API, or Terraform.
//
// [Target.Inspect] finds out what is at a target. [Found.Stage] creates an empty file for
// the bundle in a temporary directory, [Staged.Unpack] reads that file, and
// [Staged.Commit] renames everything into place. [Found.Remove] renames what is at the
// target into temporary directories. Only what the same resource wrote is replaced or
// removed.
package bundle

import (
	"context"
	"errors"
	"os"
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
	File      *os.File // empty; the caller writes the bundle to it
	directory string   // to unpack into, or ""
	change
}

// Stage creates an empty file, and the parent directories of the target if they are
// missing. What is at the target does not change before Commit.
func (f Found) Stage() (*Staged, error) {
	s := &Staged{}
	if err := s.prepare(f); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

func (s *Staged) prepare(f Found) error {
	if f.tree.name != "" {
		in, out, err := s.beside(f.tree)
		if err != nil {
			return err
		}
		if f.tree.stamp != "" {
			s.moves = append(s.moves, out)
		}
		s.moves = append(s.moves, in)
		s.directory = in.from
	}
	in, _, err := s.beside(f.file)
	if err != nil {
		return err
	}
	// It is last, and replaces a file atomically.
	s.moves = append(s.moves, in)
	s.File, err = os.OpenFile(in.from, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	return err
}

// Unpack closes the file, reads it as an archive, and unpacks it if the target has a
// directory. A bundle that is not unpacked need not be an archive.
//
// Errors are *ArchiveError, those of the file system, and context.Cause(ctx).
func (s *Staged) Unpack(ctx context.Context) (Content, error) {
	// No sync is needed: the next plan detects what a crash has damaged.
	if err := s.File.Close(); err != nil {
		return Content{}, err
	}
	if s.directory != "" {
		held, err := unpack(ctx, s.File.Name(), s.directory, defaultLimits)
		return held.content(), err
	}
	held, err := readArchive(ctx, s.File.Name(), defaultLimits, skip)
	if archive, ok := errors.AsType[*ArchiveError](err); ok && !archive.Damaged {
		return Content{}, nil
	}
	return held.content(), err
}

// Commit renames the unpacked directory and the file into place. It fails with an
// *OccupiedError if the resource did not write what is there, or if that has changed since
// Inspect.
//
// After an error, the target is unchanged, unless it is [ErrNotUndone], which names both
// places.
func (s *Staged) Commit(ctx context.Context) error { return s.commit(ctx) }

// Discard deletes what was not put in place, and what was replaced. An error names what
// is left.
func (s *Staged) Discard() error {
	_ = s.File.Close()
	return s.change.Discard()
}

// Removed is what was at a target, in temporary directories beside it.
type Removed struct{ change }

// Remove renames the directory and the file into temporary directories if the resource
// wrote them, and leaves anything else. Errors are those of Commit.
func (f Found) Remove(ctx context.Context) (*Removed, error) {
	r := &Removed{}
	for _, found := range []finding{f.tree, f.file} {
		if found.ours {
			_, out, err := r.beside(found)
			if err != nil {
				return nil, errors.Join(err, r.Discard())
			}
			r.moves = append(r.moves, out)
		}
	}
	if err := r.commit(ctx); err != nil {
		return nil, errors.Join(err, r.Discard())
	}
	return r, nil
}
