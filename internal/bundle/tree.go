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
	"path/filepath"
	"slices"
)

// Content describes what is in an archive.
type Content struct {
	// Digest is the content digest (see tree.content), or "" if the file is not an archive that can be unpacked.
	Digest string
	Files  int64
}

// checksum is the SHA-256 of a file's content.
type checksum [sha256.Size]byte

// ofDirectory stands for the checksum of a directory.
var ofDirectory checksum

// tree is the content of an archive or of a directory on disk: a checksum for each slash-separated name, including parent directories without
// their own entry.
type tree map[string]checksum

// content counts the files and returns the content digest: the SHA-256, in lowercase hexadecimal, of one record for each file and directory,
// ordered by the bytes of its name. A record is
//
//	KIND SP SUM SP NAME NUL
//
// KIND is "f" for a file and "d" for a directory. SUM is the SHA-256 in hexadecimal of the file's content, and 64 zeros for a directory. NAME
// is slash-separated and neither starts nor ends with a slash. Modes, times, owners, and the order of the archive are ignored.
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

// sumOf reads source to its end.
func sumOf(source io.Reader) (checksum, error) {
	hash := sha256.New()
	_, err := io.Copy(hash, source)
	return checksum(hash.Sum(nil)), err
}

// digestOf returns the content digest of a directory, or the checksum of a file in the same form. A directory with a link or a device, or
// beyond the limits of an archive, has none: the error is a [Fault]. Others are those of the system, and context.Cause(ctx).
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
