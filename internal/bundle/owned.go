// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Target names the file and the directory of a bundle on disk.
type Target struct {
	Path      string // the file
	Directory string // where the file is unpacked to, or "" if it is not
}

// Check fails if the names contradict each other. It does not look at the disk.
func (t Target) Check() error {
	if t.Path == "" || os.IsPathSeparator(t.Path[len(t.Path)-1]) {
		return fmt.Errorf("%q names a directory, not a file", t.Path)
	}
	if t.Directory == "" {
		return nil
	}
	file, err1 := filepath.Abs(t.Path)
	directory, err2 := filepath.Abs(t.Directory)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if contains(directory, file) || contains(file, directory) {
		return fmt.Errorf("the file %s and the directory %s must not be inside each other", t.Path, t.Directory)
	}
	return nil
}

// clean drops trailing slashes, before which the system would follow a link.
func (t Target) clean() Target {
	t.Path = filepath.Clean(t.Path)
	if t.Directory != "" {
		t.Directory = filepath.Clean(t.Directory)
	}
	return t
}

// contains reports whether name is directory or is inside it.
func contains(directory, name string) bool {
	relative, err := filepath.Rel(directory, name)
	return err == nil && filepath.IsLocal(relative)
}

// maxOwned is how many digests of files, and of directories, are kept. A runner with a
// persistent disk may hold a bundle from that many updates ago.
const maxOwned = 20

// Owned holds digests of what one resource wrote, oldest first: checksums of files, and
// content digests. What is on disk is the resource's own if its digest is among them.
type Owned struct {
	Files []string `json:"files,omitempty"`
	Trees []string `json:"trees,omitempty"`
}

// Add adds the digests of the bundle that was written last.
func (o *Owned) Add(written Contents) {
	o.Files = withDigest(o.Files, written.SHA256)
	o.Trees = withDigest(o.Trees, written.ContentSHA256)
}

func withDigest(digests []string, latest string) []string {
	if latest == "" {
		return digests
	}
	digests = slices.DeleteFunc(slices.Clone(digests), func(known string) bool { return known == latest })
	digests = append(digests, latest)
	return digests[max(0, len(digests)-maxOwned):]
}

// State says whether the resource wrote what is on disk.
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
	// Problem describes something Foreign, such as "is a symbolic link".
	Problem string
}

func (f Finding) ours() bool { return f.State == Current || f.State == Older }

// Found describes what is at a target.
type Found struct {
	target Target
	File   Finding
	Tree   Finding // Current if the target has no directory
}

// Complete reports whether the target holds what was written last.
func (f Found) Complete() bool { return f.File.State == Current && f.Tree.State == Current }

// Occupied returns an error for each of the file and the directory that is Foreign.
func (f Found) Occupied() (occupied []*OccupiedError) {
	if f.File.State == Foreign {
		occupied = append(occupied, &OccupiedError{Name: f.target.Path, Problem: f.File.Problem})
	}
	if f.Tree.State == Foreign {
		occupied = append(occupied, &OccupiedError{Name: f.target.Directory, Directory: true, Problem: f.Tree.Problem})
	}
	return occupied
}

// Inspect reads what is on disk and changes nothing. It fails only with
// context.Cause(ctx). What cannot be read is Foreign.
func (t Target) Inspect(ctx context.Context, owned Owned) (Found, error) {
	t = t.clean()
	found := Found{target: t, Tree: Finding{State: Current}}
	found.File = classify(t.Path, 0, owned.Files, func() (string, error) { return fileDigest(ctx, t.Path) })
	if t.Directory != "" {
		found.Tree = classify(t.Directory, fs.ModeDir, owned.Trees, func() (string, error) { return found.treeDigest(ctx, owned) })
	}
	if ctx.Err() != nil {
		return Found{}, context.Cause(ctx)
	}
	return found, nil
}

// treeDigest returns the content digest of the directory. If that is not known but the
// archive is, the error is the first difference between the two.
func (f Found) treeDigest(ctx context.Context, owned Owned) (string, error) {
	content, err := readTree(ctx, f.target.Directory, defaultLimits)
	digest := content.digest()
	if err != nil || slices.Contains(owned.Trees, digest) || !f.File.ours() {
		return digest, err
	}
	if written, err := readArchive(ctx, f.target.Path, defaultLimits, nil); err == nil {
		return digest, written.compare(content)
	}
	return digest, nil
}

// classify describes what is at name, which should be of the given kind. The known
// digests are those of what the resource wrote there, oldest first. If there are none, no
// content is read.
func classify(name string, kind fs.FileMode, known []string, digest func() (string, error)) Finding {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{State: Absent}
	case err != nil:
		return Finding{Foreign, "cannot be read: " + err.Error()}
	case info.Mode().Type() != kind:
		return Finding{Foreign, "is " + kindOf(info.Mode())}
	case info.IsDir() && isEmpty(name):
		return Finding{State: Absent}
	case len(known) == 0:
		return Finding{Foreign, "already exists, and this resource did not write it"}
	}
	got, err := digest()
	switch at := slices.Index(known, got); {
	case isSystemError(err):
		return Finding{Foreign, "cannot be read: " + err.Error()}
	case err != nil:
		return Finding{Foreign, "differs from what this resource wrote: " + err.Error()}
	case at < 0:
		return Finding{Foreign, "differs from what this resource wrote"}
	case at == len(known)-1:
		return Finding{State: Current}
	}
	return Finding{State: Older}
}

func isEmpty(directory string) bool {
	content, err := os.ReadDir(directory)
	return err == nil && len(content) == 0
}
