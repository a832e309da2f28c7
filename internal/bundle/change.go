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
)

// change is a change of a target, prepared in temporary directories beside it.
type change struct {
	expected    []finding // what must still be at the target
	moves       []move    // what the change consists of
	directories []string  // temporary; a killed process leaves them behind
}

// move renames a file or a directory.
type move struct{ from, to string }

// beside creates a temporary directory beside what was found, so that both are on one file
// system. It returns the moves of something new into place, and of what was found out of it.
func (c *change) beside(f finding) (in, out move, err error) {
	parent := filepath.Dir(f.name)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return in, out, err
	}
	directory, err := os.MkdirTemp(parent, "."+filepath.Base(f.name)+".docs-bundle-*")
	if err != nil {
		return in, out, err
	}
	c.expected, c.directories = append(c.expected, f), append(c.directories, directory)
	return move{filepath.Join(directory, "new"), f.name}, move{f.name, filepath.Join(directory, "old")}, nil
}

// committing is full during a commit, so that no other resource of this process changes
// a target between the comparison and the moves.
var committing = make(chan struct{}, 1)

// commit makes all moves or none, if what is there is still what was expected.
func (c *change) commit(ctx context.Context) error {
	select {
	case committing <- struct{}{}:
		defer func() { <-committing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for _, f := range c.expected {
		if f.problem != "" {
			return f.occupied()
		}
		if stamp, err := stampOf(f.name, defaultLimits); err != nil || stamp != f.stamp {
			return &OccupiedError{f.name, f.directory, "was created or changed during this apply"}
		}
	}
	for i, next := range c.moves {
		if err := os.Rename(next.from, next.to); err != nil {
			return errors.Join(err, c.undo(c.moves[:i]))
		}
	}
	return nil
}

// ErrNotUndone reports that the system refused to rename something back.
var ErrNotUndone = errors.New("the old files were not moved back")

// undo takes moves back. What cannot be taken back stays where it is, and Discard deletes
// nothing.
func (c *change) undo(done []move) error {
	for _, m := range slices.Backward(done) {
		if err := os.Rename(m.to, m.from); err != nil {
			c.directories = nil
			return fmt.Errorf("%w: %w", ErrNotUndone, err)
		}
	}
	return nil
}

// Discard deletes the temporary directories with all that is in them. An error names what
// is left.
func (c *change) Discard() error {
	var failures []error
	for _, directory := range c.directories {
		if err := os.RemoveAll(directory); err != nil {
			failures = append(failures, fmt.Errorf("%s was not deleted: %w", directory, err))
		}
	}
	return errors.Join(failures...)
}
