package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Content describes what is in an archive.
type Content struct {
	// Digest is the content digest (see tree.content), or "" if the file is not an archive
	// that can be unpacked.
	Digest string
	Files  int64
}

// checksum is the SHA-256 of a file's content.
type checksum [sha256.Size]byte

// ofDirectory stands for the checksum of a directory.
var ofDirectory checksum

// tree is the content of an archive or of a directory on disk: a checksum for each
// slash-separated name, including parent directories without their own entry.
type tree map[string]checksum

// content counts the files and returns the content digest: the SHA-256, in lowercase
// hexadecimal, of one record for each file and directory, ordered by the bytes of its
// name. A record is
//
//	KIND SP SUM SP NAME NUL
//
// KIND is "f" for a file and "d" for a directory. SUM is the SHA-256 in hexadecimal of
// the file's content, and 64 zeros for a directory. NAME is slash-separated and neither
// starts nor ends with a slash. Modes, times, owners, and the order of the archive are
// ignored.
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

// difference describes the first name that is not the same in another tree.
func (t tree) difference(other tree) string {
	both := maps.Clone(t)
	maps.Copy(both, other)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		before, known := t[name]
		after, kept := other[name]
		switch {
		case !known:
			return fmt.Sprintf("%.200q was added", name)
		case !kept:
			return fmt.Sprintf("%.200q is missing", name)
		case after != before:
			return fmt.Sprintf("%.200q was changed", name)
		}
	}
	return ""
}

// sumOf reads source to its end.
func sumOf(source io.Reader) (checksum, error) {
	hash := sha256.New()
	_, err := io.Copy(hash, source)
	return checksum(hash.Sum(nil)), err
}
