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
	file, err := filepath.Abs(t.Path)
	if err != nil {
		return err
	}
	directory, err := filepath.Abs(t.Directory)
	if err != nil {
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

// Owned holds digests of what one resource wrote, oldest first: checksums of
// files, and content digests of unpacked directories. What is on disk is the resource's
// own if its digest is among them.
type Owned struct {
	Files []string `json:"files,omitempty"`
	Trees []string `json:"trees,omitempty"`
}

func withDigest(digests []string, latest string) []string {
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

// Look reads what is on disk and changes nothing. It fails only with
// context.Cause(ctx). What cannot be read is Foreign.
func (t Target) Look(ctx context.Context, owned Owned) (Found, error) {
	t = t.clean()
	found := Found{target: t, File: look(ctx, t.Path, false, owned.Files), Tree: Finding{State: Current}}
	if t.Directory != "" {
		found.Tree = look(ctx, t.Directory, true, owned.Trees)
	}
	if ctx.Err() != nil {
		return Found{}, context.Cause(ctx)
	}
	return found, nil
}

// look describes what is at name. The known digests are those of what the resource wrote
// there, oldest first. If there are none, it reads no content.
func look(ctx context.Context, name string, directory bool, known []string) Finding {
	empty, problem := isEmpty(name, directory)
	switch {
	case problem != "":
		return Finding{Foreign, problem}
	case empty:
		return Finding{State: Absent}
	case len(known) == 0:
		return Finding{Foreign, "already exists"}
	}
	got, err := digestOf(ctx, name, directory)
	switch at := slices.Index(known, got); {
	case err != nil:
		return Finding{Foreign, "has different content: " + err.Error()}
	case at < 0:
		return Finding{Foreign, "has different content"}
	case at == len(known)-1:
		return Finding{State: Current}
	}
	return Finding{State: Older}
}

// isEmpty reports whether nothing or an empty directory is at name. The problem is
// not "" if something of another kind is there.
func isEmpty(name string, directory bool) (empty bool, problem string) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, ""
	case err != nil:
		return false, "cannot be read: " + err.Error()
	case directory != info.IsDir() || !info.IsDir() && !info.Mode().IsRegular():
		return false, "is " + kindOf(info.Mode())
	case !directory:
		return false, ""
	}
	content, err := os.ReadDir(name)
	if err != nil {
		return false, "cannot be read: " + err.Error()
	}
	return len(content) == 0, ""
}

// Remove deletes the directory and the file if the resource wrote them, and leaves
// anything else. It returns what it found. After an error, what could not be deleted is
// still in its place.
func (t Target) Remove(ctx context.Context, owned Owned) (Found, error) {
	writing.Lock()
	defer writing.Unlock()
	found, err := t.Look(ctx, owned)
	if err == nil && t.Directory != "" && found.Tree.ours() {
		err = os.RemoveAll(found.target.Directory)
	}
	if err == nil && found.File.ours() {
		err = os.Remove(found.target.Path)
	}
	return found, err
}
