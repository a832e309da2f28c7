package bundle

import (
	"cmp"
	"context"
	"crypto/sha256"
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
		return fmt.Errorf("%q names a directory, not a file: add a file name, such as bundle.tar.gz", t.Path)
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
		return fmt.Errorf("neither the file %q nor the directory %q may be inside the other: use separate paths, such as out/bundle.tar.gz and out/site", t.Path, t.Directory)
	}
	return nil
}

// isIn reports whether name is directory or is inside it.
func isIn(directory, name string) bool {
	relative, err := filepath.Rel(directory, name)
	return err == nil && filepath.IsLocal(relative)
}

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

// maxOwned is how many digests of files, and of directories, are kept, that of the last bundle included. A
// runner with a persistent disk may hold an earlier one.
const maxOwned = 20

// withLatest moves or adds a digest to the end.
func withLatest(written []Written, latest Written) []Written {
	others := slices.DeleteFunc(slices.Clone(written), func(w Written) bool { return w.Digest == latest.Digest })
	return append(others, latest)[max(0, len(others)+1-maxOwned):]
}

// Found is what is at a target. Its methods replace or remove that.
type Found struct {
	directory *part // nil if the target has none
	file      *part
	owned     Owned // before the change
	keep      bool  // the temporary directories hold what could not be put back
}

// parts returns the directory, if there is one, and the file. The file is last, because it
// replaces a file atomically and cannot be taken back.
func (f *Found) parts() []*part {
	if f.directory == nil {
		return []*part{f.file}
	}
	return []*part{f.directory, f.file}
}

// part is the file or the directory of a target.
type part struct {
	name string
	kind fs.FileMode // as it should be: that of a file or of a directory

	// As it was found:
	stamp  stamp
	origin origin
	tree   tree   // of a directory; nil if it was not or cannot be read
	digest string // of its content; "" if it was not or cannot be read
	unsure bool   // the resource wrote it, but another one may have put it in place since
	// problem describes what is there, such as "is a symbolic link", if the resource did not write
	// it, or unsure.
	problem string

	// As it will be:
	temporary string // directory beside it; "" if there is none
	content   string // digest of the new content
	same      bool   // what was found has the new content
}

// origin is where the content of a part comes from.
type origin int

const (
	originNone      origin = iota // it is missing or empty
	originOther                   // another program wrote it, or another resource
	originOtherKind               // as originOther, and it cannot have the content of a bundle
	originEarlier                 // the resource wrote it, but not last
	originLatest                  // the resource wrote it last
)

// foreign reports whether the resource did not write what is there.
func (o origin) foreign() bool { return o == originOther || o == originOtherKind }

const (
	replacedSince = "has the content that this resource wrote, but has been modified since then, perhaps by the resource that replaces it or by another one"
	unknownTime   = "has the content that this resource wrote, but another resource may have written it again"
)

// Obstacle is something at a target that the resource did not write.
type Obstacle struct {
	Name       string
	Directory  bool   // Name is the directory to unpack into, not the file
	Problem    string // what is there, such as "is a symbolic link"
	Comparable bool   // it may turn out to have the content of the bundle
}

func (p *part) obstacle(problem string) Obstacle {
	return Obstacle{p.name, p.kind.IsDir(), problem, p.origin == originOther}
}

// OccupiedError reports what prevents a change of a target.
type OccupiedError []Obstacle

func (e OccupiedError) Error() string { return e[0].Name + " " + e[0].Problem }

// Complete reports whether the target holds what was written last.
func (f *Found) Complete() bool {
	return !slices.ContainsFunc(f.parts(), func(p *part) bool { return p.origin != originLatest })
}

// Occupied returns what the resource did not write.
func (f *Found) Occupied() (occupied []Obstacle) {
	for _, p := range f.parts() {
		if p.origin.foreign() {
			occupied = append(occupied, p.obstacle(p.problem))
		}
	}
	return occupied
}

// Inspect reads what is on disk and changes nothing. Errors are those of the system, and
// context.Cause(ctx).
func (t Target) Inspect(ctx context.Context, owned Owned) (*Found, error) {
	// Clean drops trailing slashes, before which the system would follow a link.
	found := &Found{file: &part{name: filepath.Clean(t.Path)}, owned: owned}
	err := found.file.inspect(ctx, owned.Files)
	if err == nil && t.Directory != "" {
		found.directory = &part{name: filepath.Clean(t.Directory), kind: fs.ModeDir}
		err = found.directory.inspect(ctx, owned.Trees)
		if found.directory.origin == originOther && found.file.origin == originLatest {
			found.directory.problem += firstDifference(ctx, found.file.name, found.directory.tree)
		}
	}
	return found, cmp.Or(context.Cause(ctx), err)
}

// inspect finds out what is there. The known ones are what the resource wrote there, oldest
// first. If there are none, no content is read.
func (p *part) inspect(ctx context.Context, known []Written) (err error) {
	p.stamp, err = stampOf(p.name)
	switch {
	case isSystemError(err):
		return err
	case err != nil:
		p.origin, p.problem = originOtherKind, err.Error()
	case p.stamp.entries == 0: // it is missing
	case p.stamp.kind != p.kind:
		p.origin, p.problem = originOtherKind, "is "+kindOf(p.stamp.kind)
	case p.kind.IsDir() && p.stamp.entries == 1: // it is empty
	case len(known) == 0:
		p.origin, p.problem = originOther, "already exists, and there is no record that this resource wrote it"
	default:
		return p.recognize(ctx, known)
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode.IsRegular():
		return "a file"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "neither a file nor a directory"
}

// recognize compares the content with what the resource wrote.
func (p *part) recognize(ctx context.Context, known []Written) error {
	err := p.readDigest(ctx)
	i := slices.IndexFunc(known, func(w Written) bool { return w.Digest == p.digest })
	switch {
	case isSystemError(err):
		return err
	case err != nil || i < 0:
		p.origin, p.problem = originOther, "differs from what this resource wrote"
		return nil //nolint:nilerr // such as a link in the directory
	case known[i].Time == 0:
		p.unsure, p.problem = true, unknownTime
	case known[i].Time < p.stamp.time:
		p.unsure, p.problem = true, replacedSince
	}
	p.origin = originEarlier
	if i == len(known)-1 {
		p.origin = originLatest
	}
	return nil
}

// readDigest finds the content digest of the directory, or the checksum of the file in the same
// form.
func (p *part) readDigest(ctx context.Context) error {
	if p.kind.IsDir() {
		held, err := readTree(ctx, p.name)
		if err == nil {
			p.tree, p.digest = held, held.content().Digest
		}
		return err
	}
	left := int64(math.MaxInt64)
	sum, err := readSum(ctx, p.name, &left)
	if err == nil {
		p.digest = hex.EncodeToString(sum[:])
	}
	return err
}

// firstDifference names a path in which a directory differs from the archive that was
// unpacked there. It returns "" if either cannot be read.
func firstDifference(ctx context.Context, archive string, onDisk tree) string {
	if onDisk == nil {
		return ""
	}
	written, err := readArchive(ctx, archive, nil)
	if err != nil {
		return ""
	}
	return ": " + written.difference(onDisk)
}

// stamp identifies a file, or all that is in a directory, by names, kinds, sizes, and times.
type stamp struct {
	entries int // zero if nothing is there; 1 for a file or an empty directory
	kind    fs.FileMode
	time    int64 // when it was modified, in nanoseconds since 1970
	sum     checksum
}

// stampOf returns the stamp of a file or a directory, without reading content.
func stampOf(name string) (s stamp, err error) {
	hash := sha256.New()
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if s.entries > limits.entries { // the directory itself is not counted
			return errTooMany
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		kind, time := info.Mode().Type(), info.ModTime().UnixNano()
		if s.entries == 0 {
			s.kind, s.time = kind, time
		}
		s.entries++
		_, err = fmt.Fprintf(hash, "%q %s %d %d\n", path, kind, info.Size(), time)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // systems differ if a parent is a file
		err = nil
	}
	s.sum = checksum(hash.Sum(nil))
	return s, err
}

// readTree returns the content of the directory. It fails at a link or a device.
func readTree(ctx context.Context, directory string) (tree, error) {
	found, left := tree{}, limits.bytes
	err := fs.WalkDir(os.DirFS(directory), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case entry.IsDir():
			found[name] = ofDirectory
			return nil
		case !entry.Type().IsRegular():
			return errKind
		}
		found[name], err = readSum(ctx, filepath.Join(directory, name), &left)
		return err
	})
	return found, err
}

// readSum returns the checksum of a file, and reduces left by its size.
func readSum(ctx context.Context, name string, left *int64) (checksum, error) {
	file, err := os.Open(name)
	if err != nil {
		return checksum{}, err
	}
	defer func() { _ = file.Close() }()
	return sumOf(&meter{ctx, file, left})
}
