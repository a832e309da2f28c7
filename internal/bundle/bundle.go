// Package bundle verifies the bundle of a static export, unpacks it, puts it in place, and recognizes what it wrote.
// It trusts neither archives nor the disk, and knows neither HTTP nor Terraform: the provider words its errors.
//
// A new bundle is staged in a temporary directory beside its target: [Target.Stage], Write, [Staged.Verify].
// [Staged.Commit] renames it into place, and [Target.Remove] deletes it. Both touch only what has a digest that the
// caller knows as its own.
package bundle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/robustio"
)

// Target is where a bundle is put.
type Target struct {
	Path   string // of the file, or if it is unpacked, of the directory
	Unpack bool
}

// Owned holds digests of what a resource wrote, oldest first: checksums of files, or content digests of directories.
type Owned []string

// with moves or adds a digest to the end. It keeps 20, because a runner with a persistent disk may hold an earlier
// bundle.
func (o Owned) with(digest string) Owned {
	others := slices.DeleteFunc(slices.Clone(o), func(other string) bool { return other == digest })
	return append(others, digest)[max(0, len(others)+1-20):]
}

// OccupiedError reports something at a target that is not [Owned].
type OccupiedError struct {
	Path string
	Kind fs.FileMode // its type bits. If they are those of the target, it has another content.
}

func (e *OccupiedError) Error() string { return fmt.Sprintf("%s (%v) is not owned", e.Path, e.Kind) }

// LeftError reports a directory beside the target that the system refused to delete or to rename.
type LeftError struct {
	Path string
	Old  bool // it is what was at the target, and has to be put back; otherwise, nothing needs it
	Err  error
}

func (e *LeftError) Error() string { return e.Err.Error() }
func (e *LeftError) Unwrap() error { return e.Err }

// Placed is what Commit has put in place. Remove leaves it, because it belongs to a resource that replaces the one that
// is removed. Placed also keeps two changes of one path apart.
type Placed struct {
	changing sync.Map // from each path to a channel that holds a value during a change

	mu    sync.Mutex
	files []fs.FileInfo
}

// lock waits until nothing else changes the target, and returns a function that ends the change. The error is
// context.Cause(ctx).
func (p *Placed) lock(ctx context.Context, t Target) (unlock func(), err error) {
	entry, _ := p.changing.LoadOrStore(t.key(), make(chan struct{}, 1))
	change := entry.(chan struct{})
	select {
	case change <- struct{}{}:
		return func() { <-change }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *Placed) add(name string) {
	if info, err := os.Lstat(name); err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.files = append(p.files, info)
	}
}

func (p *Placed) has(name string) bool {
	info, err := os.Lstat(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	return err == nil && slices.ContainsFunc(p.files, func(file fs.FileInfo) bool { return os.SameFile(info, file) })
}

// key returns the same text for all names of a target, also if one leads through a link or differs in case.
func (t Target) key() string {
	name, _ := filepath.Abs(t.Path) // "" without a working directory, which all paths then have in common
	if parent, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		name = filepath.Join(parent, filepath.Base(name))
	}
	return strings.ToLower(name)
}

// Inspect returns the digest of what is at the target, or "" if there is nothing, or an empty directory to unpack
// into. What is not owned is an [*OccupiedError]. Other errors are those of the system, and context.Cause(ctx).
func (t Target) Inspect(ctx context.Context, owned Owned) (digest string, err error) {
	name := filepath.Clean(t.Path) // before a trailing slash, the system would follow a link
	info, err := os.Lstat(name)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // the latter if a parent is a file
		return "", nil
	case err != nil:
		return "", err
	case t.Unpack && info.IsDir():
		if entries, err := os.ReadDir(name); err != nil || len(entries) == 0 {
			return "", err
		}
	}
	kind := info.Mode().Type()
	if len(owned) > 0 && (kind.IsDir() && t.Unpack || kind.IsRegular() && !t.Unpack) {
		digest, err = digestOf(ctx, name, t.Unpack)
		if ctx.Err() != nil || isSystemError(err) {
			return "", cmp.Or(context.Cause(ctx), err)
		}
		if err == nil && slices.Contains(owned, digest) {
			return digest, nil
		}
	}
	return "", &OccupiedError{name, kind}
}

// Staged is a new bundle in a temporary directory. What is written to it is appended to the archive.
type Staged struct {
	io.Writer
	SizeBytes int64 // of the archive; known after Verify

	target    Target
	temporary string // directory; "" if it is kept
	archive   *os.File
	hash      hash.Hash // of the archive so far
	digest    string    // of what is put in place; known after Verify
}

// Stage creates an empty archive in a temporary directory beside the target, and missing parents.
func (t Target) Stage() (*Staged, error) {
	t.Path = filepath.Clean(t.Path)
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o755); err != nil {
		return nil, err
	}
	s, err := t.beside()
	if err != nil {
		return nil, err
	}
	if s.archive, err = os.OpenFile(s.in("archive"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		_ = s.Close()
		return nil, err
	}
	s.Writer = io.MultiWriter(s.archive, s.hash)
	return s, nil
}

// beside creates only the temporary directory.
func (t Target) beside() (*Staged, error) {
	temporary, err := os.MkdirTemp(filepath.Dir(t.Path), ".docs-bundle-*")
	return &Staged{target: t, temporary: temporary, hash: sha256.New()}, err
}

func (s *Staged) in(name string) string { return filepath.Join(s.temporary, name) }

// Restart empties the archive.
func (s *Staged) Restart() error {
	s.hash.Reset()
	_, err := s.archive.Seek(0, io.SeekStart)
	return errors.Join(err, s.archive.Truncate(0))
}

// SHA256 returns the checksum of the archive so far, in lowercase hexadecimal.
func (s *Staged) SHA256() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// Verify reads the archive, and unpacks it if the target is a directory. For a file, anything but a damaged or
// incomplete archive will do. complete reports whether the archive is known to have its whole length; otherwise, a tar
// must have its end marker. Nothing may be written after Verify. Errors are *ArchiveError, those of the system, and
// context.Cause(ctx).
func (s *Staged) Verify(ctx context.Context, complete bool) (content Content, err error) {
	defer func() {
		// No sync is needed: the next plan detects what a crash has damaged.
		if closed := s.archive.Close(); err == nil {
			err = closed
		}
	}()
	if s.SizeBytes, err = s.archive.Seek(0, io.SeekCurrent); err != nil {
		return Content{}, err
	}
	var root *os.Root
	if s.target.Unpack {
		if err := os.Mkdir(s.in("directory"), 0o755); err != nil {
			return Content{}, err
		}
		if root, err = os.OpenRoot(s.in("directory")); err != nil { // it refuses names that lead out of it
			return Content{}, err
		}
		defer func() { _ = root.Close() }()
	}
	content, err = readArchive(ctx, io.NewSectionReader(s.archive, 0, s.SizeBytes), complete, root)
	s.digest = content.Digest
	if !s.target.Unpack {
		s.digest = s.SHA256()
		refused, ok := errors.AsType[*ArchiveError](err)
		if ok && refused.Fault != Damaged && refused.Fault != Incomplete {
			err = nil
		}
	}
	return content, err
}

// Commit puts the new bundle in place of what is owned, with the permissions of that, and returns what is owned then.
// It fails with an [*OccupiedError] if anything else is there. After an error, the target is unchanged, unless a
// [*LeftError] has the old directory. robustio tries again on systems that refuse a rename while another program
// reads the file, such as a virus scanner on Windows.
func (s *Staged) Commit(ctx context.Context, placed *Placed, owned Owned) (Owned, error) {
	unlock, err := placed.lock(ctx, s.target)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, err := s.target.Inspect(ctx, owned); err != nil {
		return nil, err
	}
	source, old, target := s.in("archive"), s.in("old"), s.target.Path
	if s.target.Unpack {
		source = s.in("directory")
	}
	info, err := os.Lstat(target)
	replaces := err == nil
	if replaces {
		mode := info.Mode().Perm()
		if s.target.Unpack {
			mode |= info.Mode()&fs.ModeSetgid | 0o700 // or Close could not delete it
		}
		// A file system without modes, where all are equal, may refuse to set one.
		if now, err := os.Lstat(source); err == nil && now.Mode()&^fs.ModeDir != mode {
			if err := os.Chmod(source, mode); err != nil {
				return nil, err
			}
		}
	}
	moves := replaces && s.target.Unpack // a file is replaced by one rename
	if moves {
		if err := robustio.Rename(target, old); err != nil {
			return nil, err
		}
	}
	if err = robustio.Rename(source, target); err == nil {
		placed.add(target)
		return owned.with(s.digest), nil
	}
	if moves {
		if undo := robustio.Rename(old, target); undo != nil {
			s.temporary = "" // Close keeps it
			err = &LeftError{old, true, errors.Join(err, undo)}
		}
	}
	return nil, err
}

// Close deletes the temporary directory, unless it holds what could not be put back. The error is a [*LeftError].
func (s *Staged) Close() error {
	_ = s.archive.Close()                                   // of no file, or again after Verify, it does nothing
	if err := robustio.RemoveAll(s.temporary); err != nil { // which does nothing for ""
		return &LeftError{s.temporary, false, err}
	}
	return nil
}

// Remove deletes what is owned, and leaves what Commit has placed. It fails with an [*OccupiedError] if anything else
// is there. After a [*LeftError], nothing is at the target; after another error, the target is unchanged.
func (t Target) Remove(ctx context.Context, placed *Placed, owned Owned) error {
	t.Path = filepath.Clean(t.Path)
	unlock, err := placed.lock(ctx, t)
	if err != nil {
		return err
	}
	defer unlock()
	if placed.has(t.Path) {
		return nil
	}
	if digest, err := t.Inspect(ctx, owned); err != nil || digest == "" {
		return err
	}
	s, err := t.beside()
	if err != nil {
		return err
	}
	err = robustio.Rename(t.Path, s.in("old"))
	if closed := s.Close(); err == nil {
		err = closed
	}
	return err
}

// Content describes what is in an archive.
type Content struct {
	Digest string // the content digest (see tree.content), or "" if the file is not an archive that can be unpacked
	Files  int64
}

type checksum [sha256.Size]byte // SHA-256 of a file's content
var ofDirectory checksum        // stands for that of a directory

// tree is the content of an archive or a directory: a checksum for each slash-separated name, and for each parent.
type tree map[string]checksum

// content counts the files and returns the content digest: the SHA-256, in lowercase hexadecimal, of one record for
// each file and directory, ordered by the bytes of its name. A record is
//
//	KIND SP SUM SP NAME NUL
//
// KIND is "f" for a file and "d" for a directory. SUM is the SHA-256 in hexadecimal of the file's content, and 64
// zeros for a directory. NAME is slash-separated and neither starts nor ends with a slash. Modes, times, owners, and
// the order of the archive are ignored.
func (t tree) content() (c Content) {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		kind := 'd'
		if t[name] != ofDirectory {
			kind = 'f'
			c.Files++
		}
		_, _ = fmt.Fprintf(hash, "%c %x %s\x00", kind, t[name], name)
	}
	c.Digest = hex.EncodeToString(hash.Sum(nil))
	return c
}

// digestOf returns the content digest of a directory, or the checksum of a file in the same form. A directory with a
// link or a device, or beyond the limits of an archive, has none: the error is a [Fault]. Others are those of the
// system, and context.Cause(ctx).
func digestOf(ctx context.Context, name string, directory bool) (string, error) {
	if !directory {
		sum, err := readSum(ctx, name, new(int64(math.MaxInt64)))
		return hex.EncodeToString(sum[:]), err
	}
	found, left := tree{}, limits.bytes
	err := fs.WalkDir(os.DirFS(name), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || path == ".":
			return err
		case len(found) == limits.entries:
			return TooMany
		case entry.IsDir():
			found[path] = ofDirectory
			return nil
		case !entry.Type().IsRegular():
			return SpecialFile
		}
		found[path], err = readSum(ctx, filepath.Join(name, path), &left)
		return err
	})
	return found.content().Digest, err
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
