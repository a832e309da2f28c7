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

// change is a change of a target, prepared in temporary directories beside it. Its parts are
// the directory, if there is one, and the file.
type change struct{ parts []part }

// part is the directory or the file of a target.
type part struct {
	finding
	temporary string // a directory beside it; a killed process leaves it behind
	content   string // digest of the new content
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
	now, err := p.digest(ctx)
	p.same = err == nil && now == p.content // what cannot be read is not the same
	return context.Cause(ctx)
}

// committing is a semaphore that is held during a commit, so that no other resource of
// this process changes a target between the comparison and the moves.
var committing = make(chan struct{}, 1)

// commit makes all moves of a plan, or none, and then calls done. A plan compares what is
// there with what was found.
func (c *change) commit(ctx context.Context, plan func() ([]move, error), done func()) error {
	select {
	case committing <- struct{}{}:
		defer func() { <-committing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	moves, err := plan()
	if err != nil {
		return err
	}
	for i, next := range moves {
		if err := os.Rename(next.from, next.to); err != nil {
			return errors.Join(err, c.undo(moves[:i]))
		}
	}
	done()
	return nil
}

// replacement returns the moves that put the new content in place of what was found, or is
// gone.
func (c *change) replacement() (moves []move, err error) {
	var occupied OccupiedError
	for _, p := range c.parts {
		stamp, err := stampOf(p.name, defaultLimits)
		switch {
		case stamp == "" && err == nil:
			moves = append(moves, p.in())
		case stamp != p.stamp || err != nil:
			occupied = append(occupied, p.obstacle(changedMeanwhile))
		case p.same:
		case p.problem != "":
			occupied = append(occupied, p.obstacle(p.problem))
		case p.directory:
			moves = append(moves, p.out(), p.in())
		default:
			moves = append(moves, p.in())
		}
	}
	if len(occupied) > 0 {
		return nil, occupied
	}
	return moves, nil
}

// removal returns the moves that take away what was found.
func (r *Removed) removal() (moves []move, err error) {
	for _, p := range r.parts {
		switch stamp, err := stampOf(p.name, defaultLimits); {
		case stamp == "" && err == nil: // it is gone
		case timeOf(p.name) != p.time:
			r.Left = append(r.Left, p.obstacle(placedAgain))
		case stamp != p.stamp || err != nil:
			return nil, OccupiedError{p.obstacle(changedMeanwhile)}
		default:
			moves = append(moves, p.out())
		}
	}
	return moves, nil
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
