// Copyright (c) the terraform-provider-docs authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Target names the file and the directory of a bundle on disk.
type Target struct {
	Path      string // the file
	Directory string // where the file is unpacked to, or "" if it is not
}

// Check fails if the names contradict each other. It does not look at them on the disk.
func (t Target) Check() error {
	if t.Path == "" || os.IsPathSeparator(t.Path[len(t.Path)-1]) {
		return fmt.Errorf("%q names a directory, not a file", t.Path)
	}
	if t.Directory == "" {
		return nil
	}
	file, err1 := filepath.Abs(t.Path)
	directory, err2 := filepath.Abs(t.Directory)
	if err := cmp.Or(err1, err2); err != nil {
		return fmt.Errorf("the working directory was deleted or cannot be read (%w), so run the command in another one", err)
	}
	if isIn(directory, file) || isIn(file, directory) {
		return fmt.Errorf("the file %q and the directory %q must not contain one another", t.Path, t.Directory)
	}
	return nil
}

// isIn reports whether name is directory or is inside it.
func isIn(directory, name string) bool {
	relative, err := filepath.Rel(directory, name)
	return err == nil && filepath.IsLocal(relative)
}

// Found describes what is at a target.
type Found struct {
	directory *part // nil if the target has none
	file      part
}

// parts returns the directory, if there is one, and the file.
func (f Found) parts() []part {
	if f.directory == nil {
		return []part{f.file}
	}
	return []part{*f.directory, f.file}
}

// part describes the file or the directory of a target, as it was found.
type part struct {
	name        string
	isDirectory bool // as it should be
	stamp       stamp

	// What the resource did not write has a problem, such as "is a symbolic link".
	problem    string
	comparable bool // it is of the right kind, so it may have the content of a new bundle

	// What the resource wrote is owned. Neither owned nor with a problem is what is missing or
	// empty.
	owned  bool
	latest bool   // it is what the resource wrote last
	time   int64  // when it was modified; see Written
	doubt  string // why a destroy leaves it: another resource may have written the same
}

const (
	changedSince = "was created or changed during this apply" // what Commit finds
	// Of what has the content that the resource wrote, but may be another resource's now:
	replacedSince = "was changed or replaced after this resource wrote it"
	unknownTime   = "has the content that this resource wrote, but its private state does not record when, so another resource may have written the same since"
)

// Obstacle is something at a target that the resource did not write.
type Obstacle struct {
	Name       string
	Directory  bool   // Name is the directory to unpack into, not the file
	Problem    string // what is there, such as "is a symbolic link"
	Comparable bool   // it may turn out to have the content of the bundle
}

func (p part) obstacle(problem string) Obstacle {
	return Obstacle{p.name, p.isDirectory, problem, p.comparable}
}

// OccupiedError reports what prevents a change of a target.
type OccupiedError []Obstacle

func (e OccupiedError) Error() string { return e[0].Name + " " + e[0].Problem }

// Complete reports whether the target holds what was written last.
func (f Found) Complete() bool {
	return !slices.ContainsFunc(f.parts(), func(p part) bool { return !p.latest })
}

// Occupied returns what the resource did not write.
func (f Found) Occupied() (occupied []Obstacle) {
	for _, p := range f.parts() {
		if p.problem != "" {
			occupied = append(occupied, p.obstacle(p.problem))
		}
	}
	return occupied
}

// Inspect reads what is on disk and changes nothing. Errors are those of the system, and
// context.Cause(ctx).
func (t Target) Inspect(ctx context.Context, owned Owned) (found Found, err error) {
	// Clean drops trailing slashes, before which the system would follow a link.
	found.file, err = inspectPart(ctx, filepath.Clean(t.Path), 0, owned.Files)
	if err == nil && t.Directory != "" {
		var directory part
		directory, err = inspectPart(ctx, filepath.Clean(t.Directory), fs.ModeDir, owned.Trees)
		if directory.comparable && found.file.latest {
			directory.problem += firstDifference(ctx, found.file.name, directory.name)
		}
		found.directory = &directory
	}
	if ctx.Err() != nil {
		return Found{}, context.Cause(ctx)
	}
	return found, err
}

// inspectPart describes what is at name, which should be of the given kind. The known
// ones are what the resource wrote there, oldest first. If there are none, no content is read.
func inspectPart(ctx context.Context, name string, kind fs.FileMode, known []Written) (part, error) {
	p := part{name: name, isDirectory: kind.IsDir()}
	info, err := os.Lstat(name)
	if err == nil {
		p.stamp, err = stampOf(name, defaultLimits)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // systems differ if a parent is a file
		p.name, p.problem = obstacleAbove(name)
	case isSystemError(err):
		return p, err
	case err != nil:
		p.problem = err.Error()
	case info.Mode().Type() != kind:
		p.problem = "is " + kindOf(info.Mode())
	case info.IsDir() && p.stamp.entries == 1: // it is empty
	case len(known) == 0:
		p.problem, p.comparable = "already exists", true
	default:
		p.time = timeOf(name) // after the stamp, so that a newer time is one of another stamp
		return p, p.recognize(ctx, known)
	}
	return p, nil
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
func (p *part) recognize(ctx context.Context, known []Written) error {
	digest, err := p.digest(ctx)
	i := slices.IndexFunc(known, func(w Written) bool { return w.Digest == digest })
	switch {
	case isSystemError(err) && !errors.Is(err, fs.ErrNotExist): // another resource may have just removed it
		return err
	case err != nil || i < 0:
		p.problem, p.comparable = "differs from what this resource wrote", true
		return nil
	case known[i].Time == 0:
		p.doubt = unknownTime
	case known[i].Time < p.time:
		p.doubt = replacedSince
	}
	p.owned, p.latest = true, i == len(known)-1
	return nil
}

// digest returns the content digest of the directory, or the checksum of the file in the
// same form.
func (p part) digest(ctx context.Context) (string, error) {
	if p.isDirectory {
		held, err := readTree(ctx, p.name, defaultLimits)
		return held.content().Digest, err
	}
	left := int64(math.MaxInt64)
	sum, err := readSum(ctx, p.name, &left)
	return hex.EncodeToString(sum[:]), err
}

// firstDifference names a path in which a directory differs from the archive that was
// unpacked there. It returns "" if either cannot be read.
func firstDifference(ctx context.Context, archive, directory string) string {
	written, err := readArchive(ctx, archive, defaultLimits, skip)
	if err != nil {
		return ""
	}
	onDisk, err := readTree(ctx, directory, defaultLimits)
	if err != nil {
		return ""
	}
	return ": " + written.difference(onDisk)
}
