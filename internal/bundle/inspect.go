// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
	file, err1 := filepath.Abs(t.Path)
	directory, err2 := filepath.Abs(t.Directory)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if contains(directory, file) || contains(file, directory) {
		return fmt.Errorf("neither the file %s nor the directory %s may contain the other", t.Path, t.Directory)
	}
	return nil
}

// contains reports whether name is directory or is inside it.
func contains(directory, name string) bool {
	relative, err := filepath.Rel(directory, name)
	return err == nil && filepath.IsLocal(relative)
}

// maxOwned is how many digests of files, and of directories, are kept. A runner with a
// persistent disk may hold a bundle from that many updates ago.
const maxOwned = 20

// Owned holds what one resource wrote: files by their checksums, and directories by their
// content digests, oldest first. What is on disk is the resource's own if its digest is
// among them.
type Owned struct {
	Files []Written `json:"files,omitempty"`
	Trees []Written `json:"trees,omitempty"`
}

// Written is a file or a directory that was put in place.
type Written struct {
	Digest string `json:"digest"`
	// Time is its modification time in nanoseconds since 1970; zero if it is not known. What
	// another resource has put in place since is newer.
	Time int64 `json:"time,omitempty"`
}

// Add adds the digests of the bundle that was written last, unless they are known. An empty
// one is left out.
func (o *Owned) Add(file, content string) {
	addUnknown(&o.Files, file)
	addUnknown(&o.Trees, content)
}

func addUnknown(to *[]Written, digest string) {
	if digest != "" && !isLatest(*to, digest) {
		add(to, Written{Digest: digest})
	}
}

func add(to *[]Written, latest Written) {
	others := slices.DeleteFunc(slices.Clone(*to), func(w Written) bool { return w.Digest == latest.Digest })
	*to = append(others, latest)[max(0, len(others)+1-maxOwned):]
}

func isLatest(written []Written, digest string) bool {
	return len(written) > 0 && written[len(written)-1].Digest == digest
}

// timeOf returns the modification time of a file or directory, or zero.
func timeOf(name string) int64 {
	info, err := os.Lstat(name)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// finding describes a file or a directory on disk.
type finding struct {
	name       string
	directory  bool
	stamp      string // see stampOf
	time       int64  // see Written; zero if the content was not read
	placed     bool   // the resource wrote it, and nothing has put it in place again since
	latest     bool   // it is what the resource wrote last
	problem    string // describes what the resource did not write, such as "is a symbolic link"
	comparable bool   // it is of the right kind, so it may have the content of a new bundle
}

// stampOf lists the names, kinds, sizes, and times of the file or of all that is in the
// directory, without reading content. It is empty if nothing is there.
func stampOf(name string, limits limits) (string, error) {
	var stamp strings.Builder
	left := limits.entries + 1 // for the directory itself
	err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if left--; left < 0 {
			return errTooMany
		}
		info, err := entry.Info()
		if err == nil {
			_, err = fmt.Fprintf(&stamp, "%q %s %d %d\n", path, info.Mode().Type(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return stamp.String(), err
}

// digest returns the content digest of the directory, or the checksum of the file in the
// same form.
func (f finding) digest(ctx context.Context) (string, error) {
	if f.directory {
		now, err := readTree(ctx, f.name, defaultLimits)
		return now.content().Digest, err
	}
	left := int64(math.MaxInt64)
	sum, err := readSum(ctx, f.name, &left)
	return hex.EncodeToString(sum[:]), err
}

// Problems that only a change finds.
const (
	changedMeanwhile = "was created or changed during this apply"
	placedAgain      = "was changed or put in place again after this resource wrote it"
)

// Obstacle is something at a target that the resource did not write.
type Obstacle struct {
	Name       string
	Directory  bool   // Name is the directory to unpack into, not the file
	Problem    string // what is there, such as "is a symbolic link"
	Comparable bool   // it may turn out to have the content of the bundle
}

// OccupiedError reports what prevents a change of a target.
type OccupiedError []Obstacle

func (e OccupiedError) Error() string { return e[0].Name + " " + e[0].Problem }

func (f finding) obstacle(problem string) Obstacle {
	return Obstacle{f.name, f.directory, problem, f.comparable}
}

// Found describes what is at a target: its directory, if it has one, and its file.
type Found []finding

// Complete reports whether the target holds what was written last.
func (f Found) Complete() bool {
	return !slices.ContainsFunc(f, func(found finding) bool { return !found.latest })
}

// Occupied returns what the resource did not write.
func (f Found) Occupied() (occupied []Obstacle) {
	for _, found := range f {
		if found.problem != "" {
			occupied = append(occupied, found.obstacle(found.problem))
		}
	}
	return occupied
}

// Inspect reads what is on disk and changes nothing. Errors are those of the system, and
// context.Cause(ctx).
func (t Target) Inspect(ctx context.Context, owned Owned) (Found, error) {
	// Clean drops trailing slashes, before which the system would follow a link.
	file, err := classify(ctx, filepath.Clean(t.Path), 0, owned.Files)
	found := Found{file}
	if err == nil && t.Directory != "" {
		var directory finding
		directory, err = classify(ctx, filepath.Clean(t.Directory), fs.ModeDir, owned.Trees)
		found = Found{directory, file}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return found, err
}

// classify describes what is at name, which should be of the given kind. The known
// ones are what the resource wrote there, oldest first. If there are none, no content is read.
func classify(ctx context.Context, name string, kind fs.FileMode, known []Written) (finding, error) {
	f := finding{name: name, directory: kind.IsDir()}
	info, err := os.Lstat(name)
	if err == nil {
		f.stamp, err = stampOf(name, defaultLimits)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // systems differ if a parent is a file
		f.name, f.problem = obstacleAbove(name)
	case isSystemError(err):
		return f, err
	case err != nil:
		f.problem = "has " + err.Error()
	case info.Mode().Type() != kind:
		f.problem = "is " + kindOf(info.Mode())
	case info.IsDir() && strings.Count(f.stamp, "\n") == 1: // it is empty
	case len(known) == 0:
		f.problem, f.comparable = "already exists", true
	default:
		f.time = info.ModTime().UnixNano()
		return f, f.recognize(ctx, known)
	}
	return f, nil
}

// obstacleAbove returns the parent of name that is not a directory and what it is, or name.
func obstacleAbove(name string) (at, problem string) {
	for parent := filepath.Dir(name); ; parent = filepath.Dir(parent) {
		if info, err := os.Stat(parent); err == nil && info.IsDir() || parent == filepath.Dir(parent) {
			return name, ""
		}
		if _, err := os.Lstat(parent); err == nil {
			return parent, "is not a directory" // but a file, or a link to nothing
		}
	}
}

// recognize compares the content with what the resource wrote.
func (f *finding) recognize(ctx context.Context, known []Written) error {
	got, err := f.digest(ctx)
	switch {
	case isSystemError(err) && !errors.Is(err, fs.ErrNotExist): // which another resource may just have removed
		return err
	case err != nil || !slices.ContainsFunc(known, func(w Written) bool { return w.Digest == got }):
		f.problem, f.comparable = "differs from what this resource wrote", true
	default:
		f.latest = isLatest(known, got)
		f.placed = slices.ContainsFunc(known, func(w Written) bool { return w.Digest == got && f.time <= w.Time })
	}
	return nil
}
