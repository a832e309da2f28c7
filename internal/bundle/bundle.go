// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

// Package bundle downloads the bundle of a static export, verifies it, unpacks it,
// and recognizes what it wrote itself. It trusts neither archives nor the disk. It
// does not know Terraform or the service's API.
package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Request says which bundle to fetch.
type Request struct {
	// Link returns a link to fetch. It is called again, once, if the object store
	// refuses the first link.
	Link func(context.Context) (Link, error)
	// SHA256 is the checksum that the bundle must have, in hexadecimal, or "".
	SHA256 string
	// ContentSHA256 is the content digest that the bundle must have, or "".
	ContentSHA256 string
	// Create refuses a target that exists. If it is false, Commit moves aside what
	// this resource did not write.
	Create bool
}

// Contents describes a bundle.
type Contents struct {
	SHA256    string // checksum of the file
	SizeBytes int64
	// ContentSHA256 is one digest of the archive's content, which does not
	// depend on how it is packed. The method digest of tree defines it. It is "" if
	// the file is not an archive that can be unpacked.
	ContentSHA256 string
	FileCount     int64 // files and links in the archive
}

// Describe reads the bundle at path. If it is not an archive, an *ArchiveError comes with
// its checksum and size.
func Describe(ctx context.Context, path string) (Contents, error) {
	checksum, size, err := readChecksum(ctx, path)
	if err != nil {
		return Contents{}, err
	}
	contents := Contents{SHA256: checksum, SizeBytes: size}
	found, err := readArchive(ctx, path, defaultLimits, nil)
	if err == nil {
		contents.ContentSHA256, contents.FileCount = found.digest(), found.files()
	}
	return contents, err
}

// Staged is a verified bundle, stored next to its target.
type Staged struct {
	target     Target
	create     bool
	contents   Contents
	onDisk     string   // digest of the unpacked directory
	file, tree *scratch // tree is nil if the bundle is not unpacked
}

// Stage downloads the bundle to a scratch directory next to the target, verifies it,
// and, if the target has a directory, unpacks it next to that. The target itself does
// not change before Commit. After an error, nothing is left behind.
//
// A bundle that is not unpacked need not be an archive.
//
// Errors are *OccupiedError, *ChecksumError, *ContentError, *SizeError, *ArchiveError,
// those of package transport, of Link, and of the file system, and the cause of the end
// of ctx.
func Stage(ctx context.Context, fetcher Fetcher, target Target, request Request) (staged *Staged, err error) {
	s := &Staged{target: target.clean(), create: request.Create}
	defer func() {
		if err != nil {
			s.Discard()
		}
	}()
	if err := target.Check(); err != nil {
		return nil, err
	}
	if err := s.reserve(); err != nil {
		return nil, err
	}
	if err := s.download(ctx, fetcher, request); err != nil {
		return nil, err
	}
	if err := s.read(ctx, request.ContentSHA256); err != nil {
		return nil, err
	}
	return s, nil
}

// reserve checks the target and creates the scratch directories.
func (s *Staged) reserve() error {
	resolved, err := s.target.resolve()
	if err != nil {
		return err
	}
	if err := resolved.Check(); err != nil {
		return err
	}
	if s.create {
		for _, name := range s.target.names() {
			if err := checkFree(name, name == s.target.Directory); err != nil {
				return err
			}
		}
	}
	if s.file, err = newScratch(s.target.Path); err != nil || s.target.Directory == "" {
		return err
	}
	if s.tree, err = newScratch(s.target.Directory); err != nil {
		return err
	}
	return checkMovable(s.target.Directory, s.tree.old)
}

// checkMovable fails if an empty directory cannot be replaced, for example because
// it is a mount point.
func checkMovable(directory, aside string) error {
	if free := checkFree(directory, true) == nil; !free {
		return nil // it is not empty, so it stays in place until Commit
	}
	err := os.Rename(directory, aside)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &OccupiedError{Name: directory, Directory: true, Problem: fmt.Sprintf("cannot be replaced; it may be a mount point (%v)", errors.Unwrap(err))}
	}
	return os.Rename(aside, directory)
}

func (s *Staged) download(ctx context.Context, fetcher Fetcher, request Request) error {
	file, err := os.OpenFile(s.file.fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	checksum, size, err := download(ctx, fetcher, file, request.Link)
	if err != nil {
		return err
	}
	s.contents = Contents{SHA256: checksum, SizeBytes: size}
	if request.SHA256 != "" && !strings.EqualFold(request.SHA256, checksum) {
		return &ChecksumError{Want: strings.ToLower(request.SHA256), Got: checksum}
	}
	// Without a sync: the next plan reads what a crash has left.
	return file.Close()
}

// read reads the downloaded archive, and unpacks it in the same pass if it is to
// be unpacked.
func (s *Staged) read(ctx context.Context, wanted string) (err error) {
	var found tree
	if s.tree != nil {
		found, s.onDisk, err = unpack(ctx, s.file.fresh, s.tree.fresh, defaultLimits, createFile)
	} else {
		found, err = readArchive(ctx, s.file.fresh, defaultLimits, nil)
		// A file that need not be unpacked may be anything but an archive that is cut off.
		if _, unusable := errors.AsType[*ArchiveError](err); unusable && wanted == "" && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // it need not be an archive
		}
	}
	if err != nil {
		return err
	}
	s.contents.ContentSHA256, s.contents.FileCount = found.digest(), found.files()
	if wanted != "" && wanted != s.contents.ContentSHA256 {
		return &ContentError{Want: wanted, Got: s.contents.ContentSHA256}
	}
	return nil
}

// Contents describes the staged bundle.
func (s *Staged) Contents() Contents { return s.contents }

// Discard removes what is staged. After Commit it removes what was replaced.
func (s *Staged) Discard() {
	for _, scratch := range []*scratch{s.file, s.tree} {
		if scratch != nil {
			scratch.remove()
		}
	}
}
