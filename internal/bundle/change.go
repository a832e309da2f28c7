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

// change is a change of a target, prepared in temporary directories beside it.
type change struct {
	parts   []part // the directory, if there is one, and the file
	removes bool   // nothing replaces what is at the target
	// Left is what was not removed, because the resource did not write it.
	Left []Obstacle
}

// part is the directory or the file of a target.
type part struct {
	finding
	temporary string // a directory beside it; a killed process leaves it behind
	same      bool   // what was found has the new content
}

// move renames a file or a directory.
type move struct{ from, to string }

func (p part) next() string { return filepath.Join(p.temporary, "new") }
func (p part) in() move     { return move{p.next(), p.name} }
func (p part) out() move    { return move{p.name, filepath.Join(p.temporary, "old")} }

// beside creates a temporary directory beside what was found, so that both are on one file
// system.
func (c *change) beside(f finding) error {
	parent := filepath.Dir(f.name)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	directory, err := os.MkdirTemp(parent, "."+filepath.Base(f.name)+".docs-bundle-*")
	if err == nil {
		c.parts = append(c.parts, part{finding: f, temporary: directory})
	}
	return err
}

// compare finds out whether what the resource did not write has the new content.
func (p *part) compare(ctx context.Context) error {
	if !p.comparable {
		return nil
	}
	now, unreadable := p.digest(ctx)
	next, err := finding{name: p.next(), directory: p.directory}.digest(ctx)
	p.same = unreadable == nil && now == next
	return err
}

// Placed remembers what was put in place.
type Placed struct{ files []fs.FileInfo }

func (p *Placed) add(name string) {
	if info, err := os.Lstat(name); err == nil {
		os.SameFile(info, info) // Windows reads the identity of a file only when it is asked
		p.files = append(p.files, info)
	}
}

func (p *Placed) holds(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && slices.ContainsFunc(p.files, func(file fs.FileInfo) bool { return os.SameFile(file, info) })
}

// committing is a semaphore that is held during a commit, so that no other resource of
// this process changes a target between the comparison and the moves. It also guards each
// Placed.
var committing = make(chan struct{}, 1)

// commit makes all moves or none, if what is there is still what was found, or gone.
func (c *change) commit(ctx context.Context, placed *Placed) error {
	select {
	case committing <- struct{}{}:
		defer func() { <-committing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var moves []move
	var occupied OccupiedError
	for _, p := range c.parts {
		stamp, err := stampOf(p.name, defaultLimits)
		switch {
		case stamp == "" && err == nil: // nothing is there
		case c.removes && placed.holds(p.name):
		case c.removes && p.problem != "":
			c.Left = append(c.Left, p.obstacle(p.problem))
		case stamp != p.stamp || err != nil:
			occupied = append(occupied, p.obstacle("was created or changed during this apply"))
		case p.same:
			continue
		case p.problem != "":
			occupied = append(occupied, p.obstacle(p.problem))
		case p.directory || c.removes:
			moves = append(moves, p.out())
		}
		if !c.removes {
			moves = append(moves, p.in())
		}
	}
	if len(occupied) > 0 {
		return occupied
	}
	for i, next := range moves {
		if err := os.Rename(next.from, next.to); err != nil {
			return errors.Join(err, c.undo(moves[:i]))
		}
	}
	for _, p := range c.parts {
		if !c.removes {
			placed.add(p.name)
		}
	}
	return nil
}

// NotUndoneError reports that the system refused to rename something back from Place.
type NotUndoneError struct {
	Place string
	Err   error
}

func (e *NotUndoneError) Error() string { return e.Err.Error() }

// undo takes moves back. What cannot be taken back stays where it is, and Discard deletes
// nothing.
func (c *change) undo(done []move) error {
	for _, m := range slices.Backward(done) {
		if err := os.Rename(m.to, m.from); err != nil {
			c.parts = nil
			return &NotUndoneError{m.to, err}
		}
	}
	return nil
}

// Discard deletes the temporary directories with all that is in them. An error names what
// is left.
func (c *change) Discard() error {
	var failures []error
	for _, p := range c.parts {
		if err := os.RemoveAll(p.temporary); err != nil {
			failures = append(failures, fmt.Errorf("%q was not deleted: %w", p.temporary, err))
		}
	}
	return errors.Join(failures...)
}
