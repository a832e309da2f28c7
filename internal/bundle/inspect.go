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
	"strings"
	"syscall"
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

// Add adds the digests of the bundle that was written last. An empty one is left out.
func (o *Owned) Add(file, content string) {
	o.Files, o.Trees = withDigest(o.Files, file), withDigest(o.Trees, content)
}

func withDigest(digests []string, latest string) []string {
	if latest == "" {
		return digests
	}
	digests = slices.DeleteFunc(slices.Clone(digests), func(known string) bool { return known == latest })
	digests = append(digests, latest)
	return digests[max(0, len(digests)-maxOwned):]
}

// finding describes a file or a directory on disk.
type finding struct {
	name      string
	directory bool
	stamp     string // see stampOf
	ours      bool   // the resource wrote it
	latest    bool   // it is what the resource wrote last
	problem   string // describes what the resource did not write, such as "is a symbolic link"
}

// stampOf lists the names, kinds, sizes, and times of the file or of all that is in the
// directory, without reading content. It is empty if nothing is there.
func stampOf(name string, limits limits) (string, error) {
	var stamp strings.Builder
	left := limits.entries + 1 // for the directory itself
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if left--; left < 0 {
			return errTooMany
		}
		info, err := entry.Info()
		if err == nil {
			_, err = fmt.Fprintln(&stamp, path, info.Mode().Type(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return stamp.String(), err
}

// OccupiedError reports something at a target that the resource did not write.
type OccupiedError struct {
	Name      string
	Directory bool   // Name is the directory to unpack into, not the file
	Problem   string // what is there, such as "is a symbolic link"
}

func (e *OccupiedError) Error() string { return e.Name + " " + e.Problem }

func (f finding) occupied() *OccupiedError { return &OccupiedError{f.name, f.directory, f.problem} }

// Found describes what is at a target.
type Found struct {
	file, tree finding // the tree has no name if the target has no directory
}

// Complete reports whether the target holds what was written last.
func (f Found) Complete() bool {
	return f.file.latest && (f.tree.name == "" || f.tree.latest)
}

// Occupied returns an error for each of the file and the directory that the resource did
// not write.
func (f Found) Occupied() (occupied []*OccupiedError) {
	for _, found := range []finding{f.file, f.tree} {
		if found.problem != "" {
			occupied = append(occupied, found.occupied())
		}
	}
	return occupied
}

// Inspect reads what is on disk and changes nothing. It fails only with
// context.Cause(ctx). What cannot be read is not the resource's own.
func (t Target) Inspect(ctx context.Context, owned Owned) (Found, error) {
	// Clean drops trailing slashes, before which the system would follow a link.
	file := filepath.Clean(t.Path)
	found := Found{file: classify(file, 0, owned.Files, func() (string, error) { return fileDigest(ctx, file) })}
	if t.Directory != "" {
		directory := filepath.Clean(t.Directory)
		found.tree = classify(directory, fs.ModeDir, owned.Trees, func() (string, error) { return treeDigest(ctx, directory, owned, found.file) })
	}
	if ctx.Err() != nil {
		return Found{}, context.Cause(ctx)
	}
	return found, nil
}

// treeDigest returns the content digest of the directory. If that is not known but the
// archive is, the error is the first difference between the two.
func treeDigest(ctx context.Context, directory string, owned Owned, archive finding) (string, error) {
	now, err := readTree(ctx, directory, defaultLimits)
	digest := now.content().Digest
	if err != nil || slices.Contains(owned.Trees, digest) || !archive.ours {
		return digest, err
	}
	if written, err := readArchive(ctx, archive.name, defaultLimits, skip); err == nil {
		return digest, written.difference(now)
	}
	return digest, nil
}

// classify describes what is at name, which should be of the given kind. The known
// digests are those of what the resource wrote there, oldest first. If there are none, no
// content is read.
func classify(name string, kind fs.FileMode, known []string, digest func() (string, error)) finding {
	f := finding{name: name, directory: kind.IsDir()}
	info, err := os.Lstat(name)
	if err == nil {
		f.stamp, err = stampOf(name, defaultLimits)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // systems differ if a parent is a file
		if parent := fileAbove(name); parent != "" {
			f.name, f.problem = parent, "is a file"
		}
	case err != nil:
		f.problem = "cannot be read: " + err.Error()
	case info.Mode().Type() != kind:
		f.problem = "is " + kindOf(info.Mode())
	case info.IsDir() && isEmpty(name):
	case len(known) == 0:
		f.problem = "already exists"
	default:
		f.recognize(known, digest)
	}
	return f
}

// fileAbove returns the parent of name that is a file, or "".
func fileAbove(name string) string {
	for parent := filepath.Dir(name); parent != name; name, parent = parent, filepath.Dir(parent) {
		if info, err := os.Stat(parent); err == nil {
			if info.IsDir() {
				return ""
			}
			return parent
		}
	}
	return ""
}

// recognize compares the content with what the resource wrote.
func (f *finding) recognize(known []string, digest func() (string, error)) {
	const differs = "differs from what this resource wrote"
	got, err := digest()
	switch {
	case isSystemError(err):
		f.problem = "cannot be read: " + err.Error()
	case err != nil:
		f.problem = differs + ": " + err.Error()
	case !slices.Contains(known, got):
		f.problem = differs
	default:
		f.ours, f.latest = true, got == known[len(known)-1]
	}
}

func isEmpty(directory string) bool {
	content, err := os.ReadDir(directory)
	return err == nil && len(content) == 0
}
