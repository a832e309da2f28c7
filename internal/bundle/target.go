// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"fmt"
	"os"
	"path/filepath"
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
