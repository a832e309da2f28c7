// Package bundle verifies the bundle of a static export, unpacks it, puts it in place, and recognizes what it wrote.
// It trusts neither archives nor the disk, and knows neither HTTP nor Terraform: the provider words its errors.
//
// A new bundle is staged in a temporary directory beside its target: [Target.Stage], Write, [Staged.Verify].
// [Staged.Commit] renames it into place, and [Target.Remove] deletes it. Both delete only what has a digest that the
// caller knows as its own, and compare a directory once more after nobody can reach it by its path.
package bundle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"math"
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
}

func (e *OccupiedError) Error() string { return e.Path + " is not owned" }

// LeftError reports a temporary directory beside the target that is not deleted, because the system refused to, or
// because what was moved there is not [Owned] now, or could not be put back. The last two are an [*OccupiedError].
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
	tree tree        // of an owned directory
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
	found.info = info
	occupied := &OccupiedError{Path: name}
	switch {
	case t.Unpack && info.IsDir():
		if entries, err := os.ReadDir(name); err != nil || len(entries) == 0 {
			return found, err
		}
		if len(owned) > 0 {
			found.tree, occupied.Latest, err = readTree(ctx, name)
			found.Digest = found.tree.content().Digest
		}
	case !t.Unpack && info.Mode().IsRegular() && len(owned) > 0:
		var sum checksum
		sum, err = readSum(ctx, name, new(int64(math.MaxInt64)))
		found.Digest = hex.EncodeToString(sum[:])
	}
	if ctx.Err() != nil || isSystemError(err) {
		return Found{}, cmp.Or(context.Cause(ctx), err)
	}
	if err != nil || found.Digest == "" || !slices.Contains(owned, found.Digest) {
		return Found{}, occupied
	}
	return found, nil
}

// Staged is a new bundle in a temporary directory. What is written to it is appended to the archive.
type Staged struct {
	io.Writer
	SizeBytes int64 // of the archive; known after Verify

	target    Target
	temporary string // directory
	archive   *os.File
	hash      hash.Hash // of the archive so far
	digest    string    // of what is put in place; known after Verify
	owned     Owned     // what Close may delete of what was moved into the temporary directory
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
	if s.archive, err = os.Create(s.in("archive")); err != nil {
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
	content, err = readArchive(ctx, io.NewSectionReader(s.archive, 0, s.SizeBytes), root)
	s.digest = content.Digest
	if !s.target.Unpack {
		s.digest = s.SHA256()
		if refused, ok := errors.AsType[*ArchiveError](err); ok && refused.Fault != Damaged {
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
	moves := err == nil && s.target.Unpack // a file is replaced by one rename
	if err == nil {
		if !found.is(now) {
			return nil, &OccupiedError{Path: target}
		}
		_ = os.Chmod(source, now.Mode().Perm()) // a file system without modes may refuse
	}
	if moves {
		if err := robustio.Rename(target, old); err != nil {
			return nil, err
		}
	}
	if err := robustio.Rename(source, target); err != nil {
		if moves {
			err = errors.Join(err, robustio.Rename(old, target))
		}
		return nil, err
	}
	info, _ := os.Lstat(target)
	placed.files = append(placed.files, info)
	s.owned = owned
	return owned.with(s.digest), nil
}

// Close deletes the temporary directory. Of what was moved there, it deletes only what is still owned: somebody may
// have changed it until then. The error is a [*LeftError].
func (s *Staged) Close() error {
	_ = s.archive.Close() // of no file, or again after Verify, it does nothing
	old := Target{s.in("old"), s.target.Unpack}
	found, err := old.Inspect(context.Background(), s.owned) // which an interrupt does not end
	if err == nil && found.info != nil {
		err = found.tree.remove(old.Path)
	}
	if err == nil {
		err = robustio.RemoveAll(s.temporary)
	}
	if err != nil {
		return &LeftError{s.temporary, err}
	}
	return nil
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
	s, err := t.beside()
	if err != nil {
		return err
	}
	s.owned = owned
	err = robustio.Rename(t.Path, s.in("old"))
	return cmp.Or(err, s.Close())
}
