// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
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

// contains reports whether name is directory or is inside it.
func contains(directory, name string) bool {
	relative, err := filepath.Rel(directory, name)
	return err == nil && filepath.IsLocal(relative)
}

// clean drops trailing slashes, with which the system would follow a link.
func (t Target) clean() Target {
	t.Path = filepath.Clean(t.Path)
	if t.Directory != "" {
		t.Directory = filepath.Clean(t.Directory)
	}
	return t
}

// checkFree fails with an *OccupiedError if name exists. An empty directory is allowed
// if directory is set.
func checkFree(name string, directory bool) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !directory:
		return &OccupiedError{Name: name, Problem: "already exists"}
	case !info.IsDir():
		return &OccupiedError{Name: name, Directory: true, Problem: "already exists and is not a directory"}
	}
	content, err := os.ReadDir(name)
	if err == nil && len(content) > 0 {
		return &OccupiedError{Name: name, Directory: true, Problem: "already exists and is not empty"}
	}
	return err
}

// names returns the file and, if there is one, the directory.
func (t Target) names() []string {
	if t.Directory == "" {
		return []string{t.Path}
	}
	return []string{t.Path, t.Directory}
}

// resolve returns the target with absolute names in which the links of the parent
// directories are resolved.
func (t Target) resolve() (Target, error) {
	var err error
	if t.Path, err = filepath.Abs(t.Path); err != nil {
		return t, err
	}
	t.Path = resolveParent(t.Path)
	if t.Directory != "" {
		t.Directory, err = filepath.Abs(t.Directory)
		t.Directory = resolveParent(t.Directory)
	}
	return t, err
}

// resolveParent resolves the links in the parent of an absolute name. Parents that
// do not exist yet are not links.
func resolveParent(name string) string {
	parent := filepath.Dir(name)
	if parent == name {
		return name
	}
	real, err := filepath.EvalSymlinks(parent)
	if err != nil {
		real = resolveParent(parent)
	}
	return filepath.Join(real, filepath.Base(name))
}

// Claims records which targets the resources of one run write to, so that no two
// resources share one. The zero value is ready to use. It is safe for concurrent
// use.
type Claims struct {
	mu      sync.Mutex
	claimed map[string]bool
}

// overlaps reports whether a claimed file or directory is name, in it, or around it.
func (c *Claims) overlaps(name string) bool {
	for claimed := range c.claimed {
		if contains(claimed, name) || contains(name, claimed) {
			return true
		}
	}
	return false
}

// Claim claims the file and the directory of the target for the life of c. It
// fails with an *OccupiedError if either is claimed already, even through a link
// to its parent directory. A resource claims its target once in a run: when it is
// created or updated.
func (c *Claims) Claim(target Target) error {
	target, err := target.resolve()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claimed == nil {
		c.claimed = map[string]bool{}
	}
	for _, name := range target.names() {
		if c.overlaps(name) {
			return &OccupiedError{Name: name, Directory: name != target.Path, Claimed: true, Problem: "is written by another resource in the same run"}
		}
	}
	for _, name := range target.names() {
		c.claimed[name] = true
	}
	return nil
}
