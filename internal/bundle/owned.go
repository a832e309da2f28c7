// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// maxOwned is how many digests of files, and of directories, are kept.
const maxOwned = 20

// Owned holds digests of what one resource wrote, oldest first: checksums of
// files, and content digests of unpacked directories.
type Owned struct {
	Files []string `json:"files,omitempty"`
	Trees []string `json:"trees,omitempty"`
}

// with returns a copy with the digests of a file and a directory added. directory
// is "" if the bundle was not unpacked.
func (o Owned) with(file, directory string) Owned {
	return Owned{Files: withDigest(o.Files, file), Trees: withDigest(o.Trees, directory)}
}

func withDigest(digests []string, latest string) []string {
	digests = slices.Clone(digests)
	if latest == "" {
		return digests
	}
	digests = slices.DeleteFunc(digests, func(known string) bool { return known == latest })
	digests = append(digests, latest)
	return digests[max(0, len(digests)-maxOwned):]
}

// State says whether this resource wrote what is on disk.
type State int

// The states of a file or a directory.
const (
	Absent  State = iota // nothing, or an empty directory
	Current              // what was written last
	Older                // what was written before that
	Foreign              // anything else
)

// Finding describes a file or a directory on disk.
type Finding struct {
	State State
	// Difference describes how something Foreign differs from what this resource
	// wrote.
	Difference string
}

func (f Finding) ours() bool { return f.State == Current || f.State == Older }

// Findings describes what is at a target.
type Findings struct {
	File Finding
	Tree Finding // Current if the bundle is not unpacked
}

// Complete reports whether the target holds what was written last.
func (f Findings) Complete() bool { return f.File.State == Current && f.Tree.State == Current }

// Inspect reads what is on disk and changes nothing. It fails only with the cause of the
// end of ctx. What cannot be read is foreign.
func (t Target) Inspect(ctx context.Context, owned Owned) (Findings, error) {
	t = t.clean()
	found := Findings{File: inspectFile(ctx, t.Path, owned), Tree: Finding{State: Current}}
	if t.Directory != "" {
		found.Tree = t.inspectDirectory(ctx, owned, found.File.ours())
	}
	if ctx.Err() != nil {
		return Findings{}, context.Cause(ctx)
	}
	return found, nil
}

func inspectFile(ctx context.Context, name string, owned Owned) Finding {
	checksum, _, err := readChecksum(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{State: Absent}
	case errors.Is(err, errIrregular):
		return Finding{Foreign, "it is " + errIrregular.Error()}
	case err != nil:
		return Finding{Foreign, "it cannot be read: " + err.Error()}
	}
	return find(owned.Files, checksum, func() string { return "its SHA-256 checksum is " + checksum })
}

// inspectDirectory reads the directory. If the archive is intact, the difference
// names the first entry that differs.
func (t Target) inspectDirectory(ctx context.Context, owned Owned, archiveIntact bool) Finding {
	info, err := os.Lstat(t.Directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{State: Absent}
	case err == nil && !info.IsDir():
		return Finding{Foreign, "it is not a directory"}
	}
	found, err := readTree(ctx, t.Directory, defaultLimits)
	switch {
	case err != nil:
		return Finding{Foreign, err.Error()}
	case len(found) == 0:
		return Finding{State: Absent}
	}
	return find(owned.Trees, found.digest(), func() string {
		if archiveIntact {
			if unpacked, err := readArchive(ctx, t.Path, defaultLimits, nil); err == nil {
				return found.difference(unpacked)
			}
		}
		return "its files differ from those that were unpacked"
	})
}

// removeOurs deletes a file or directory, unless it has changed since it was
// inspected: it is inspected again where nothing reaches it by its old name.
func removeOurs(ctx context.Context, name string, owned Owned) (Finding, error) {
	aside, err := newScratch(name)
	if err != nil {
		return Finding{}, err
	}
	if err := os.Rename(name, aside.old); err != nil {
		aside.remove()
		return Finding{}, err
	}
	found := inspectReplaced(ctx, aside.old, owned)
	if found.State == Foreign {
		if err := rename(aside.old, name); err != nil {
			aside.keep()
			return found, fmt.Errorf("what was at %s is now at %s: %w", name, aside.old, err)
		}
	}
	aside.remove()
	return found, nil
}

// inspectReplaced inspects what was moved to a scratch directory. What cannot be read
// to its end is foreign.
func inspectReplaced(ctx context.Context, name string, owned Owned) Finding {
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		return Target{Directory: name}.inspectDirectory(ctx, owned, false)
	}
	return inspectFile(ctx, name, owned)
}

// find looks up a digest among those of what this resource wrote, oldest first.
func find(digests []string, digest string, difference func() string) Finding {
	switch slices.Index(digests, digest) {
	case -1:
		return Finding{Foreign, difference()}
	case len(digests) - 1:
		return Finding{State: Current}
	}
	return Finding{State: Older}
}

// Remove deletes the directory and the file if this resource wrote them, and the
// scratch directories that killed processes left next to them. It returns what it
// found.
func (t Target) Remove(ctx context.Context, owned Owned) (Findings, error) {
	t = t.clean()
	found, err := t.Inspect(ctx, owned)
	if err == nil && t.Directory != "" && found.Tree.ours() {
		found.Tree, err = removeOurs(ctx, t.Directory, owned)
	}
	if err == nil && found.File.ours() {
		found.File, err = removeOurs(ctx, t.Path, owned)
	}
	if err != nil {
		return found, fmt.Errorf("deleting the bundle: %w", err)
	}
	for _, name := range t.names() {
		removeAbandoned(name)
	}
	return found, nil
}
