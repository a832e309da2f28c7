// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// place is the name of a file or a directory, and a temporary directory beside it, so that
// both are on one file system. A killed process leaves the temporary directory behind.
type place struct {
	name      string
	temporary string // "" if nothing changes at name
}

func newPlace(name string) (place, error) {
	if name == "" {
		return place{}, nil
	}
	parent := filepath.Dir(name)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return place{}, err
	}
	temporary, err := os.MkdirTemp(parent, "."+filepath.Base(name)+".docs-bundle-*")
	return place{name: name, temporary: temporary}, err
}

func (p *place) staged() string { return filepath.Join(p.temporary, "new") }
func (p *place) old() string    { return filepath.Join(p.temporary, "old") }

// moveAside renames what is at the name, if anything, into the temporary directory.
func (p *place) moveAside() error { return p.renameIfExists(p.name, p.old()) }

// putBack undoes moveAside.
func (p *place) putBack() error {
	if err := p.renameIfExists(p.old(), p.name); err != nil {
		return p.lose(err)
	}
	return nil
}

// replace moves what is at the name aside, and renames what is staged to the name. After an
// error, the name is unchanged, unless it is a *LostError.
func (p *place) replace() error {
	if err := p.moveAside(); err != nil {
		return err
	}
	if err := p.rename(p.staged(), p.name); err != nil {
		return errors.Join(err, p.putBack())
	}
	return nil
}

// undo undoes replace.
func (p *place) undo() error {
	if err := p.rename(p.name, p.staged()); err != nil {
		return p.lose(err)
	}
	return p.putBack()
}

// rename renames a file or a directory, unless nothing changes here.
func (p *place) rename(from, to string) error {
	if p.temporary == "" {
		return nil
	}
	return os.Rename(from, to)
}

// renameIfExists is rename, but it is no error if there is nothing to rename.
func (p *place) renameIfExists(from, to string) error {
	if err := p.rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lose reports what cannot be put back, and keeps it.
func (p *place) lose(err error) error {
	lost := &LostError{Name: p.name, Now: p.old(), Err: err}
	p.temporary = ""
	return lost
}

func (p *place) discard() error {
	if err := os.RemoveAll(p.temporary); err != nil {
		return fmt.Errorf("%s was not deleted: %w", p.temporary, err)
	}
	return nil
}

// places are the file and the directory of a target.
type places struct{ file, tree place }

// Discard deletes the temporary directories with all that is in them: what was staged and
// not put in place, or what was moved aside. An error names what is left.
func (p *places) Discard() error { return errors.Join(p.file.discard(), p.tree.discard()) }
