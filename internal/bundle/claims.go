// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"path/filepath"
	"sync"
)

// Claims knows which targets the resources of one run write to, so that no two
// resources share one. The zero value is ready to use. It is safe for concurrent
// use.
type Claims struct {
	mu      sync.Mutex
	claimed map[string]bool
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
		if c.claimed[name] {
			return &OccupiedError{Name: name, Directory: name != target.Path, Claimed: true, Problem: "is written by another resource in the same run"}
		}
	}
	for _, name := range target.names() {
		c.claimed[name] = true
	}
	return nil
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
