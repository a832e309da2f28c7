package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

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
//	TYPE SP SUM SP NAME NUL
//
// TYPE is "f" for a file and "d" for a directory. SUM is the SHA-256 in hexadecimal of the file's content, and 64
// zeros for a directory. NAME is slash-separated and neither starts nor ends with a slash. Modes, times, owners, and
// the order of the archive are ignored.
func (t tree) content() (c Content) {
	hash := sha256.New()
	for _, name := range t.names() {
		letter := 'd'
		if t[name] != ofDirectory {
			letter = 'f'
			c.Files++
		}
		_, _ = fmt.Fprintf(hash, "%c %x %s\x00", letter, t[name], name)
	}
	c.Digest = hex.EncodeToString(hash.Sum(nil))
	return c
}

// names returns every name, parents first.
func (t tree) names() []string { return slices.Sorted(maps.Keys(t)) }

// remove deletes top, of which this is the tree. It compares each file right before it deletes it. What is not as in
// the tree stays, and so do the directories that contain it. Nothing outside the parent of top is deleted. When ctx
// has ended, everything else stays, too, and the error is context.Cause(ctx).
func (t tree) remove(ctx context.Context, top string) error {
	root, err := os.OpenRoot(filepath.Dir(top))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, name := range slices.Backward(t.names()) {
		at := path.Join(filepath.Base(top), name)
		info, failed := root.Lstat(at)
		if failed != nil {
			continue
		}
		sum, failed := readSum(ctx, info, root.Open, at)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failed != nil || sum != t[name] {
			continue
		}
		if failed := root.Remove(at); err == nil {
			err = failed
		}
	}
	return err
}

// readTree reads a directory, and says what in it was modified last. It stops with a [Fault] at a link or a device, and
// at more entries or bytes. Other errors are those of the system, and context.Cause(ctx).
func readTree(ctx context.Context, root string, entries int, bytes int64) (found tree, latest string, err error) {
	var newest time.Time
	found = tree{}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.ModTime().Before(newest) { // what was added is newer than its parent, or as old
			latest, newest = name, info.ModTime()
		}
		if !info.IsDir() {
			bytes -= info.Size()
		}
		switch {
		case name == root:
			return nil
		case len(found) == entries:
			return TooMany
		case bytes < 0:
			return TooLarge
		}
		below, _ := filepath.Rel(root, name)
		found[filepath.ToSlash(below)], err = readSum(ctx, info, os.Open, name)
		return err
	})
	return found, latest, err
}

// readSum returns the checksum of a file or a directory.
func readSum(
	ctx context.Context, info fs.FileInfo, open func(string) (*os.File, error), name string,
) (checksum, error) {
	switch {
	case info.IsDir():
		return ofDirectory, nil
	case !info.Mode().IsRegular():
		return checksum{}, SpecialFile
	}
	file, err := open(name)
	if err != nil {
		return checksum{}, err
	}
	defer func() { _ = file.Close() }()
	return sumOf(interruptible(ctx, file, math.MaxInt64))
}

// sumOf reads source to its end.
func sumOf(source io.Reader) (checksum, error) {
	hash := sha256.New()
	_, err := io.Copy(hash, source)
	return checksum(hash.Sum(nil)), err
}

// interruptible reads up to size bytes of a file until ctx has ended.
func interruptible(ctx context.Context, file io.ReaderAt, size int64) *io.SectionReader {
	return io.NewSectionReader(readerAt(func(p []byte, offset int64) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return file.ReadAt(p, offset)
	}), 0, size)
}

// readerAt is an io.ReaderAt that, as a function, can close over a context.
type readerAt func(p []byte, offset int64) (int, error)

func (r readerAt) ReadAt(p []byte, offset int64) (int, error) { return r(p, offset) }

// meter reads from source. It fails when more than *left bytes have been read.
type meter struct {
	source io.Reader
	left   *int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.source.Read(p)
	if *m.left -= int64(n); *m.left < 0 {
		return 0, TooLarge
	}
	return n, err
}
