// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Commit puts the staged directory and file in place and adds them to owned. It
// inspects the disk again: it replaces what this resource wrote, moves anything else
// aside to NAME.backup-TIME, and returns the new names. If the bundle was staged with
// Create, anything in its place is an *OccupiedError. Permissions of what is replaced
// are kept.
//
// After an error, the directory, the file, and owned are unchanged. If that cannot be,
// the error says where things are.
func (s *Staged) Commit(ctx context.Context, owned *Owned, now time.Time) (movedAside []string, err error) {
	next := owned.with(s.contents.SHA256, s.onDisk)
	var findings Findings
	if !s.create {
		// Inspect with next instead of owned: an earlier process may have written the
		// same bundle, and been killed before it saved its state.
		if findings, err = s.target.Inspect(ctx, next); err != nil {
			return nil, err
		}
	}
	var done moves
	if s.tree != nil {
		movedAside, err = done.swap(s.tree, s.target.Directory, findings.Tree.State, now)
	}
	if err == nil {
		var backup []string
		backup, err = done.swap(s.file, s.target.Path, findings.File.State, now)
		movedAside = append(movedAside, backup...)
	}
	if err != nil {
		if failed := done.undo(); failed != nil {
			s.keep()
			err = errors.Join(err, failed)
		}
		return nil, err
	}
	*owned = next
	late, err := s.keepLateChanges(ctx, next, now)
	return append(movedAside, late...), err
}

// keepLateChanges moves what was replaced to a backup if it was changed after
// Commit inspected it. In the scratch directory, nothing reaches it by its old name.
func (s *Staged) keepLateChanges(ctx context.Context, owned Owned, now time.Time) (backups []string, err error) {
	for name, staged := range map[string]*scratch{s.target.Path: s.file, s.target.Directory: s.tree} {
		if staged == nil {
			continue
		}
		if found := inspectReplaced(ctx, staged.old, owned); found.State != Foreign {
			continue
		}
		backup := backupName(name, now)
		if err := rename(staged.old, backup); err != nil {
			s.keep()
			return backups, fmt.Errorf("what was at %s is now at %s: %w", name, staged.old, err)
		}
		backups = append(backups, backup)
	}
	return backups, nil
}

// keep leaves what is staged or replaced on disk, because it may be the only copy.
func (s *Staged) keep() {
	for _, scratch := range []*scratch{s.file, s.tree} {
		if scratch != nil {
			scratch.keep()
		}
	}
	s.file, s.tree = nil, nil
}

func backupName(name string, now time.Time) string {
	return name + ".backup-" + now.UTC().Format("20060102T150405.000Z")
}

// moves are renames that can be undone.
type moves []struct{ from, to string }

// swap moves what is staged to name. It first moves what is there to the scratch
// directory, or to a backup if it is foreign.
func (m *moves) swap(staged *scratch, name string, state State, now time.Time) (backup []string, err error) {
	fresh, err := os.Lstat(staged.fresh)
	if err != nil {
		return nil, err
	}
	before, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, m.move(staged.fresh, name)
	case err != nil:
		return nil, err
	case state == Absent:
		err = checkFree(name, fresh.IsDir()) // an empty directory, or something that appeared after Inspect
	}
	aside := staged.old
	if state == Foreign {
		aside = backupName(name, now)
		backup = []string{aside}
	}
	if err == nil {
		err = m.move(name, aside)
	}
	if err == nil {
		err = m.move(staged.fresh, name)
	}
	if err == nil && fresh.Mode().Type() == before.Mode().Type() {
		err = os.Chmod(name, before.Mode().Perm())
	}
	return backup, err
}

func (m *moves) move(from, to string) error {
	if err := rename(from, to); err != nil {
		return err
	}
	*m = append(*m, struct{ from, to string }{from, to})
	return nil
}

func (m *moves) undo() error {
	var failures []error
	for _, done := range slices.Backward(*m) {
		if err := rename(done.to, done.from); err != nil {
			failures = append(failures, fmt.Errorf("what was at %s is now at %s: %w", done.from, done.to, err))
		}
	}
	return errors.Join(failures...)
}

// rename renames a file or directory, and fails if there is something at the new
// name. For directories, the system checks that itself, except for an empty one.
func rename(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.Rename(from, to)
	}
	placeholder, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &OccupiedError{Name: to, Problem: "appeared in the meantime"}
	}
	if err != nil {
		return err
	}
	if err = placeholder.Close(); err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(to)) // the placeholder
	}
	return nil
}
