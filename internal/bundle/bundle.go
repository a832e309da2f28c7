// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package bundle verifies the bundle of a static export, unpacks it, puts it in place,
// and recognizes what it wrote. It trusts neither archives nor the disk. It does not know
// HTTP, the service's API, or Terraform.
//
// [Target.Inspect] finds out what is at a target. [Stage] fetches a bundle into temporary
// directories beside it, and [Staged.Commit] renames that into place. [Target.Remove] moves
// it into temporary directories. Only what the same resource wrote is replaced or removed.
package bundle

import (
	"context"
	"errors"
	"os"
	"sync"
)

// Fetch writes the bundle to an empty file, and returns its SHA-256 checksum, in lowercase
// hexadecimal, and its size. If it refuses what it wrote, nothing is unpacked.
type Fetch func(ctx context.Context, file *os.File) (sha256 string, size int64, err error)

// Contents describes a bundle.
type Contents struct {
	SHA256    string // checksum of the file
	SizeBytes int64
	// ContentSHA256 is the content digest (see tree.digest), or "" if the file is not an
	// archive that can be unpacked.
	ContentSHA256 string
	FileCount     int64 // files in the archive
}

// Staged is a verified bundle in temporary directories beside its target.
type Staged struct {
	Contents Contents
	target   Target
	places
}

// Stage fetches a bundle, verifies it, and unpacks it if the target has a directory. What
// is at the target does not change before Commit. After an error, nothing is left behind
// but the parent directories of the target, which Stage creates if they are missing.
//
// A bundle that is not unpacked need not be an archive.
//
// Errors are *ArchiveError, those of fetch and of the file system, and context.Cause(ctx).
func Stage(ctx context.Context, target Target, fetch Fetch) (*Staged, error) {
	s := &Staged{target: target.clean()}
	err := target.Check()
	if err == nil {
		s.file, err = newPlace(s.target.Path)
	}
	if err == nil {
		s.tree, err = newPlace(s.target.Directory)
	}
	if err == nil {
		err = s.fetch(ctx, fetch)
	}
	if err == nil {
		err = s.read(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

func (s *Staged) fetch(ctx context.Context, fetch Fetch) error {
	file, err := os.OpenFile(s.file.staged(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	s.Contents.SHA256, s.Contents.SizeBytes, err = fetch(ctx, file)
	// No sync is needed: the next plan detects what a crash has damaged.
	return errors.Join(err, file.Close())
}

// read reads the archive, and unpacks it in the same pass if it is to be unpacked.
func (s *Staged) read(ctx context.Context) (err error) {
	var found tree
	if s.target.Directory != "" {
		found, err = unpack(ctx, s.file.staged(), s.tree.staged(), defaultLimits)
	} else {
		found, err = readArchive(ctx, s.file.staged(), defaultLimits, nil)
		if _, refused := errors.AsType[refusal](err); refused {
			return nil // a file that is not unpacked need not be an archive
		}
	}
	if err == nil {
		s.Contents.ContentSHA256, s.Contents.FileCount = found.digest(), found.files()
	}
	return err
}

// writing is held while a target is inspected and changed, so that no other resource of
// this process changes it in between.
var writing sync.Mutex

// Commit renames the staged directory and file into place, and adds them to owned. It
// inspects the target again: anything that the resource did not write is an
// *OccupiedError.
//
// After an error, the directory, the file, and owned are unchanged, unless it is a
// *LostError.
func (s *Staged) Commit(ctx context.Context, owned *Owned) error {
	writing.Lock()
	defer writing.Unlock()
	found, err := s.target.Inspect(ctx, *owned)
	if err != nil {
		return err
	}
	if occupied := found.Occupied(); len(occupied) > 0 {
		return occupied[0]
	}
	if err := s.tree.replace(); err != nil {
		return err
	}
	// This replaces a file without an instant in which there is none.
	if err := os.Rename(s.file.staged(), s.file.name); err != nil {
		return errors.Join(err, s.tree.undo())
	}
	owned.Add(s.Contents)
	return nil
}

// Removed is what was at a target, in temporary directories beside it.
type Removed struct {
	Found
	places
}

// Remove renames the directory and the file into temporary directories if the resource
// wrote them, and leaves anything else, which Occupied returns. After an error, the
// directory and the file are unchanged, unless it is a *LostError.
func (t Target) Remove(ctx context.Context, owned Owned) (*Removed, error) {
	writing.Lock()
	defer writing.Unlock()
	found, err := t.Inspect(ctx, owned)
	r := &Removed{Found: found}
	if err == nil && found.Tree.ours() {
		if r.tree, err = newPlace(found.target.Directory); err == nil {
			err = r.tree.moveAside()
		}
	}
	if err == nil && found.File.ours() {
		if r.file, err = newPlace(found.target.Path); err == nil {
			err = r.file.moveAside()
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.tree.putBack(), r.Discard())
	}
	return r, nil
}
