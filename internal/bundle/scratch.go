// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// scratch is a directory next to a target, on the same file system. It contains the
// staged file or directory (fresh), what that replaces (old), and a file that is locked
// while the scratch directory is in use. Only its owner can read it.
type scratch struct {
	directory  string
	fresh, old string
	lock       *flock.Flock
}

// newScratch creates a scratch directory next to the target name. It first removes the
// scratch directories of that target that killed processes left behind.
func newScratch(name string) (*scratch, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	removeAbandoned(name)
	for {
		directory, err := os.MkdirTemp(filepath.Dir(name), scratchPrefix(name)+"*")
		if err != nil {
			return nil, err
		}
		lock := flock.New(lockOf(directory))
		locked, err := lock.TryLock()
		unsupported := err != nil && !errors.Is(err, fs.ErrNotExist)
		// Until it is locked, the directory looks abandoned and may be removed.
		if _, err := os.Lstat(lock.Path()); unsupported || locked && err == nil {
			return &scratch{directory, filepath.Join(directory, "new"), filepath.Join(directory, "old"), lock}, nil
		}
		_ = lock.Close()
	}
}

// remove removes the scratch directory and everything in it.
func (s *scratch) remove() {
	_ = s.lock.Close() // Windows does not delete an open file
	_ = os.RemoveAll(s.directory)
}

// keep leaves the scratch directory on disk for the user. Without its lock file, no
// later run removes it.
func (s *scratch) keep() {
	_ = s.lock.Close()
	_ = os.Remove(lockOf(s.directory))
}

// removeAbandoned removes the scratch directories next to the target name whose lock no
// process holds.
func removeAbandoned(name string) {
	parent, prefix := filepath.Dir(name), scratchPrefix(name)
	entries, _ := os.ReadDir(parent)
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), prefix) {
			continue
		}
		directory := filepath.Join(parent, entry.Name())
		if info, err := os.Lstat(lockOf(directory)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		lock := flock.New(lockOf(directory), flock.SetFlag(os.O_RDWR))
		if locked, err := lock.TryLock(); err == nil && locked {
			(&scratch{directory: directory, lock: lock}).remove()
		}
	}
}

// scratchPrefix returns the prefix of the names of a target's scratch directories.
// Two targets with long names may share it, which is harmless because of the locks.
func scratchPrefix(name string) string {
	const longest = 150 // of the 255 bytes that file systems allow
	base := filepath.Base(name)
	return "." + strings.ToValidUTF8(base[:min(len(base), longest)], "") + ".docs-bundle-"
}

func lockOf(directory string) string { return filepath.Join(directory, "lock") }
