// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/robustio"
)

// workspace is the temporary directories of a change, beside what it changes. A killed
// process leaves them behind.
type workspace struct {
	directories []string
	keep        bool // they hold what could not be put back
}

// mkdirBeside creates a temporary directory beside a file or a directory, so that both are
// on one file system.
func (w *workspace) mkdirBeside(name string) (string, error) {
	parent := filepath.Dir(name)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	directory, err := os.MkdirTemp(parent, temporaryPrefix(name)+"*")
	if err == nil {
		w.directories = append(w.directories, directory)
	}
	return directory, err
}

func temporaryPrefix(name string) string { return "." + filepath.Base(name) + ".docs-bundle-" }

// Discard deletes the temporary directories with all that is in them, unless they hold
// what could not be put back. An error names what is left.
func (w *workspace) Discard() error {
	if w.keep {
		return nil
	}
	var failures []error
	for _, directory := range w.directories {
		if err := robustio.RemoveAll(directory); err != nil {
			failures = append(failures, fmt.Errorf("%q was not deleted: %w", directory, err))
		}
	}
	return errors.Join(failures...)
}

// Rename is a rename of a file or a directory.
type Rename struct{ From, To string }

// do is repeated on systems that refuse a rename while another program reads the file, such
// as a virus scanner on Windows.
func (r Rename) do() error { return robustio.Rename(r.From, r.To) }

// NotUndoneError reports that the system refused a rename, and then also refused to undo
// earlier ones.
type NotUndoneError struct {
	Undo []Rename // what is left to do, in this order
	Err  error
}

func (e *NotUndoneError) Error() string { return e.Err.Error() }
func (e *NotUndoneError) Unwrap() error { return e.Err }

// renameAll makes all renames, or none.
func (w *workspace) renameAll(renames []Rename) error {
	for i, r := range renames {
		if err := r.do(); err != nil {
			return errors.Join(err, w.undo(renames[:i]))
		}
	}
	return nil
}

func (w *workspace) undo(done []Rename) error {
	var undo []Rename
	for _, r := range slices.Backward(done) {
		undo = append(undo, Rename{r.To, r.From})
	}
	for i, r := range undo {
		if err := r.do(); err != nil {
			w.keep = true
			return &NotUndoneError{undo[i:], err}
		}
	}
	return nil
}

// changing is a semaphore that is held during a change, so that no other resource of this
// process changes a target between the comparison and the renames.
var changing = make(chan struct{}, 1)

// lock waits for the semaphore, and returns the function that releases it.
func lock(ctx context.Context) (unlock func(), err error) {
	select {
	case changing <- struct{}{}:
		return func() { <-changing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
