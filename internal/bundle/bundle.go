// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package bundle verifies the bundle of a static export, unpacks it, puts it in place,
// and recognizes what it wrote. It trusts neither archives nor the disk. It does not know
// HTTP, the service's API, or Terraform.
//
// [Target.Look] finds out what is at a target, [Stage] fetches a bundle into temporary
// directories beside it, [Staged.Commit] renames that into place, and [Target.Remove]
// deletes it. Only what the same resource wrote is ever replaced or deleted.
package bundle

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Request says which bundle to fetch.
type Request struct {
	// Fetch writes the bundle to an empty file, and returns its SHA-256 checksum, in
	// lowercase hexadecimal, and its size.
	Fetch func(ctx context.Context, file *os.File) (sha256 string, size int64, err error)
	// SHA256 is the checksum that the bundle must have, or "".
	SHA256 string
	// ContentSHA256 is the content digest that the bundle must have, or "".
	ContentSHA256 string
}

// Contents describes a bundle.
type Contents struct {
	SHA256    string // checksum of the file
	SizeBytes int64
	// ContentSHA256 is one digest of the archive's content, which does not
	// depend on how it is packed. The method digest of tree defines it. It is "" if
	// the file is not an archive that can be unpacked.
	ContentSHA256 string
	FileCount     int64 // files in the archive
}

// Staged is a verified bundle in temporary directories beside its target.
type Staged struct {
	target     Target
	contents   Contents
	file, tree scratch // tree is "" if the bundle is not unpacked
	keepTree   bool    // tree holds what could not be put back
}

// Stage fetches a bundle, verifies it, and unpacks it if the target has a directory. What
// is at the target does not change before Commit. After an error, nothing is left behind.
//
// A bundle that is not unpacked need not be an archive.
//
// Errors are *ChecksumError, *ContentError, *ArchiveError, those of Fetch and of the file
// system, and context.Cause(ctx).
func Stage(ctx context.Context, target Target, request Request) (*Staged, error) {
	s := &Staged{target: target.clean()}
	err := target.Check()
	if err == nil {
		s.file, err = newScratch(s.target.Path)
	}
	if err == nil && target.Directory != "" {
		s.tree, err = newScratch(s.target.Directory)
	}
	if err == nil {
		err = s.fetch(ctx, request)
	}
	if err == nil {
		err = s.read(ctx, request.ContentSHA256)
	}
	if err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

func (s *Staged) fetch(ctx context.Context, request Request) error {
	file, err := os.OpenFile(s.file.fresh(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	s.contents.SHA256, s.contents.SizeBytes, err = request.Fetch(ctx, file)
	if err != nil {
		return err
	}
	if request.SHA256 != "" && request.SHA256 != s.contents.SHA256 {
		return &ChecksumError{Want: request.SHA256, Got: s.contents.SHA256}
	}
	// No sync is needed: the next plan detects what a crash has damaged.
	return file.Close()
}

// read reads the archive, and unpacks it in the same pass if it is to be unpacked.
func (s *Staged) read(ctx context.Context, wanted string) (err error) {
	var found tree
	if s.tree != "" {
		found, err = unpack(ctx, s.file.fresh(), s.tree.fresh(), defaultLimits)
	} else {
		found, err = readArchive(ctx, s.file.fresh(), defaultLimits, nil)
	}
	_, refused := errors.AsType[refusal](err)
	switch {
	case err == nil:
		s.contents.ContentSHA256, s.contents.FileCount = found.digest(), found.files()
	case s.tree != "" || !refused: // a file that is not unpacked may be anything but damaged
		return err
	}
	if wanted != "" && wanted != s.contents.ContentSHA256 {
		return &ContentError{Want: wanted, Got: s.contents.ContentSHA256}
	}
	return nil
}

// Contents describes the staged bundle.
func (s *Staged) Contents() Contents { return s.contents }

// writing is held while a resource looks at its target and changes it, so that no other
// resource of this process writes there in between.
var writing sync.Mutex

// Commit renames the staged directory and file into place and adds them to owned. It looks
// at the target again: anything that the resource did not write is an *OccupiedError.
//
// After an error, the directory, the file, and owned are unchanged, unless it is a
// *LostError.
func (s *Staged) Commit(ctx context.Context, owned *Owned) error {
	writing.Lock()
	defer writing.Unlock()
	found, err := s.target.Look(ctx, *owned)
	if err != nil {
		return err
	}
	if occupied := found.Occupied(); len(occupied) > 0 {
		return occupied[0]
	}
	if s.tree != "" {
		if err := s.replaceDirectory(); err != nil {
			return err
		}
	}
	if err := os.Rename(s.file.fresh(), s.target.Path); err != nil {
		if s.tree != "" {
			err = errors.Join(err, s.takeBackDirectory())
		}
		return err
	}
	owned.Files = withDigest(owned.Files, s.contents.SHA256)
	if s.tree != "" {
		owned.Trees = withDigest(owned.Trees, s.contents.ContentSHA256)
	}
	return nil
}

// replaceDirectory renames the directory at the target aside, and the staged one into
// its place.
func (s *Staged) replaceDirectory() error {
	if err := os.Rename(s.target.Directory, s.tree.old()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(s.tree.fresh(), s.target.Directory); err != nil {
		return errors.Join(err, s.restoreDirectory())
	}
	return nil
}

// takeBackDirectory undoes replaceDirectory.
func (s *Staged) takeBackDirectory() error {
	if err := os.Rename(s.target.Directory, s.tree.fresh()); err != nil {
		return s.lost(err)
	}
	return s.restoreDirectory()
}

// restoreDirectory renames what was at the target, if anything, back into its place.
func (s *Staged) restoreDirectory() error {
	if err := os.Rename(s.tree.old(), s.target.Directory); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.lost(err)
	}
	return nil
}

func (s *Staged) lost(err error) error {
	s.keepTree = true
	return &LostError{Name: s.target.Directory, Now: s.tree.old(), Err: err}
}

// Discard deletes the temporary directories: what is staged, or after Commit what was
// replaced. An error names what is left.
func (s *Staged) Discard() error {
	err := os.RemoveAll(string(s.file))
	if !s.keepTree {
		err = errors.Join(err, os.RemoveAll(string(s.tree)))
	}
	return err
}

// scratch is a temporary directory beside a target, on the same file system. A killed
// process leaves it behind.
type scratch string

func newScratch(name string) (scratch, error) {
	parent := filepath.Dir(name)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	directory, err := os.MkdirTemp(parent, "."+filepath.Base(name)+".docs-bundle-*")
	return scratch(directory), err
}

func (s scratch) fresh() string { return filepath.Join(string(s), "new") }
func (s scratch) old() string   { return filepath.Join(string(s), "old") }
