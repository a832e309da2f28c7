// Package bundle verifies the bundle of a static export, unpacks it, puts it in place, and recognizes what it wrote.
// It trusts neither archives nor the disk, and knows neither HTTP nor Terraform: the provider words its errors.
//
// A new bundle is staged in a temporary directory beside its target: [Target.Stage], Write, [Staged.Verify].
// [Staged.Commit] renames it into place, and [Target.Remove] deletes it. Both move aside only what has a digest that
// the caller knows as its own, and then delete it file by file, each compared once more.
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
	"os"
	"path/filepath"
	"slices"
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
	return append(others, digest)[max(0, len(others)-19):]
}

// OccupiedError reports something at a target that is not [Owned].
type OccupiedError struct {
	Path   string
	Latest string // the path in a directory that was modified last, or "" if the directory was not read
	Err    error  // of the system, for what may not be read in a directory
}

func (e *OccupiedError) Error() string { return e.Path + " is not owned" }

// LeftError reports a temporary directory beside the target that is not deleted. Err is the cause of a context that has
// ended, or that of the system: that a directory is not empty (fs.ErrExist), if what was moved there was changed since,
// or could not be put back.
type LeftError struct {
	Path string
	Err  error
}

func (e *LeftError) Error() string { return e.Err.Error() }

// Placed is what Commit has put in place. Remove leaves it, because it belongs to a resource that replaces the one that
// is removed.
type Placed struct {
	mu    sync.Mutex // held by Commit too, so that of two resources with one path, one finds what the other has placed
	files []fs.FileInfo
}

func (p *Placed) has(name string) bool {
	info, _ := os.Lstat(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.files, func(file fs.FileInfo) bool { return os.SameFile(info, file) })
}

// Found is what Inspect has seen at a target.
type Found struct {
	Digest string // of what is owned; "" if there is nothing, or an empty directory to unpack into

	info fs.FileInfo // nil if there is nothing
	tree tree        // of what is owned, which itself is ""
}

// is reports whether a file or a directory is the one that was found. Files in a directory are not compared.
func (f Found) is(now fs.FileInfo) bool {
	return os.SameFile(f.info, now) && f.info.Size() == now.Size() && f.info.ModTime().Equal(now.ModTime())
}

// Inspect looks at the target. What is not owned is an [*OccupiedError]. Other errors are those of the system, and
// context.Cause(ctx).
func (t Target) Inspect(ctx context.Context, owned Owned) (found Found, err error) {
	name := filepath.Clean(t.Path) // before a trailing slash, the system would follow a link
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // the latter if a parent is a file
		return Found{}, nil
	case err != nil:
		return Found{}, err
	}
	found = Found{info: info, tree: tree{"": ofDirectory}}
	occupied := &OccupiedError{Path: name}
	switch {
	case t.Unpack && info.IsDir():
		if entries, err := os.ReadDir(name); err != nil || len(entries) == 0 {
			return found, err
		}
		if len(owned) > 0 {
			found.tree, occupied.Latest, err = readTree(ctx, name, maxEntries, maxBytes)
			found.Digest = found.tree.content().Digest
			found.tree[""] = ofDirectory
			if errors.Is(err, fs.ErrPermission) { // of an entry, which is somebody else's
				occupied.Err, err = err, occupied
			}
		}
	case !t.Unpack && info.Mode().IsRegular() && len(owned) > 0:
		found.tree[""], err = readSum(ctx, info, os.Open, name)
		found.Digest = fmt.Sprintf("%x", found.tree[""])
	}
	if ctx.Err() != nil || isSystemError(err) {
		return Found{}, cmp.Or(context.Cause(ctx), err)
	}
	if err != nil || found.Digest == "" || !slices.Contains(owned, found.Digest) {
		return Found{}, occupied
	}
	return found, nil
}

// temporary is a directory beside a target. What was at the target is moved to "old" in it, to be deleted there.
type temporary string

func (t Target) beside() (temporary, error) {
	name, err := os.MkdirTemp(filepath.Dir(t.Path), ".docs-bundle-*")
	return temporary(name), err
}

func (t temporary) in(name string) string { return filepath.Join(string(t), name) }

// delete deletes the directory, but for what is in "old" and not as in the tree, or when ctx ends. The error is a
// [*LeftError].
func (t temporary) delete(ctx context.Context, old tree) error {
	err1 := robustio.RemoveAll(t.in("archive"))
	err2 := robustio.RemoveAll(t.in("directory"))
	err3 := old.remove(ctx, t.in("old"))
	err4 := os.Remove(string(t))
	if err4 == nil || errors.Is(err4, fs.ErrNotExist) {
		return nil
	}
	return &LeftError{string(t), cmp.Or(err1, err2, err3, err4)}
}

// Staged is a new bundle in a temporary directory. What is written to it is appended to the archive.
type Staged struct {
	io.Writer
	SizeBytes int64 // of the archive; known after Verify

	temporary
	target  Target
	archive *os.File
	hash    hash.Hash // of the archive so far
	digest  string    // of what is put in place; known after Verify
	old     tree      // of what Commit has moved into the temporary directory
}

// Stage creates an empty archive in a temporary directory beside the target, and missing parents.
func (t Target) Stage() (*Staged, error) {
	t.Path = filepath.Clean(t.Path)
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o755); err != nil {
		return nil, err
	}
	temporary, err := t.beside()
	if err != nil {
		return nil, err
	}
	s := &Staged{temporary: temporary, target: t, hash: sha256.New()}
	if s.archive, err = os.Create(s.in("archive")); err != nil {
		_ = os.Remove(string(temporary))
		return nil, err
	}
	s.Writer = io.MultiWriter(s.archive, s.hash)
	return s, nil
}

// Restart empties the archive.
func (s *Staged) Restart() error {
	s.hash.Reset()
	_, err := s.archive.Seek(0, io.SeekStart)
	return errors.Join(err, s.archive.Truncate(0))
}

// SHA256 returns the checksum of the archive so far, in lowercase hexadecimal.
func (s *Staged) SHA256() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// Verify reads the archive, and unpacks it if the target is a directory. It decompresses even what is kept as a file,
// because only that shows damage; anything else that keeps an archive from being unpacked will do for a file. Nothing
// may be written after Verify. Errors are *ArchiveError, those of the system, and context.Cause(ctx).
func (s *Staged) Verify(ctx context.Context) (content Content, err error) {
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
	reader := archiveReader{root: root, entries: maxEntries, left: maxBytes}
	content, err = reader.unpack(ctx, s.archive, s.SizeBytes)
	s.digest = content.Digest
	if !s.target.Unpack {
		s.digest = s.SHA256()
		if _, intact := errors.AsType[Fault](err); intact {
			err = nil
		}
	}
	return content, errors.Join(err, s.archive.Close()) // no sync: the next plan detects what a crash has damaged
}

// Commit puts the new bundle in place of what was found, with the permissions of that, and returns what is owned then.
// It fails with an [*OccupiedError] if anything else is there. After an error, the target is unchanged, unless Close
// names where it is. robustio tries again on systems that refuse a rename while another program reads the file, such
// as a virus scanner on Windows.
func (s *Staged) Commit(placed *Placed, found Found, owned Owned) (Owned, error) {
	placed.mu.Lock()
	defer placed.mu.Unlock()
	source, old, target := s.in("archive"), s.in("old"), s.target.Path
	if s.target.Unpack {
		source = s.in("directory")
	}
	now, err := os.Lstat(target)
	exists := err == nil
	if exists && !found.is(now) {
		return nil, &OccupiedError{Path: target}
	}
	moves := exists && s.target.Unpack // a file is replaced by one rename
	if moves {
		if err := robustio.Rename(target, old); err != nil {
			return nil, err
		}
	}
	if exists { // not earlier: from a directory without write permission, Close could delete nothing
		_ = os.Chmod(source, now.Mode().Perm()) // a file system without modes may refuse
	}
	if err := robustio.Rename(source, target); err != nil {
		if moves {
			err = errors.Join(err, robustio.Rename(old, target))
		}
		return nil, err
	}
	info, _ := os.Lstat(target)
	placed.files = append(placed.files, info)
	s.old = found.tree
	return owned.with(s.digest), nil
}

// Close deletes the temporary directory, but for what somebody has changed of what was moved there. When ctx ends, the
// rest of that stays. The error is a [*LeftError].
func (s *Staged) Close(ctx context.Context) error {
	_ = s.archive.Close() // after Verify, it does nothing
	return s.delete(ctx, s.old)
}

// Remove deletes what is owned, and leaves what Commit has placed. It fails with an [*OccupiedError] if anything else
// is there. After a [*LeftError], nothing is at the target; after another error, the target is unchanged.
func (t Target) Remove(ctx context.Context, placed *Placed, owned Owned) error {
	t.Path = filepath.Clean(t.Path)
	found, err := t.Inspect(ctx, owned)
	if placed.has(t.Path) { // perhaps since a moment ago
		return nil
	}
	if err != nil || found.Digest == "" {
		return err
	}
	temporary, err := t.beside()
	if err != nil {
		return err
	}
	if err := robustio.Rename(t.Path, temporary.in("old")); err != nil {
		_ = os.Remove(string(temporary))
		return err
	}
	return temporary.delete(ctx, found.tree)
}
