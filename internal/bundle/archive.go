package bundle

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

// limits bounds what an archive may unpack to, and what is read of a directory. Tests lower
// them.
var limits = struct {
	entries int   // files and directories, including parents without an entry
	bytes   int64 // total size of all files, as read and not as declared
}{100_000, 4 << 30}

// refusal says why an intact archive is not unpacked. It has no subject.
type refusal struct {
	ofEntry bool // the subject is an entry, not the archive
	text    string
}

func (r *refusal) Error() string { return r.text }

var (
	errName      = &refusal{true, "has a name that is unsafe or too long"}
	errMethod    = &refusal{true, "uses an unsupported compression method"}
	errEncrypted = &refusal{true, "is encrypted"}
	errKind      = &refusal{true, "is neither a file nor a directory"}
	errConflict  = &refusal{true, "has the same path as another entry"}

	errFormat   = &refusal{false, "is not a tar, gzip-compressed tar, or zip archive"}
	errEmpty    = &refusal{false, "contains no files"}
	errTooMany  = &refusal{false, "has more than 100,000 files and directories"}
	errTooLarge = &refusal{false, "unpacks to more than 4 GiB"}
	errListing  = &refusal{false, "has more than 100,000 files and directories, or a central directory of more than 50 MB"}
)

// ArchiveError reports an archive that cannot be read or is not safe to unpack.
type ArchiveError struct {
	Entry   string // as in the archive: up to 1 MiB of any bytes; "" if the archive is invalid
	Err     error
	Damaged bool // the file is corrupt, not just unsupported
}

// Error returns the reason, in words that can follow "because". It escapes the name of the
// entry, and shows at most 100 characters of it.
func (e *ArchiveError) Error() string {
	refused, intact := errors.AsType[*refusal](e.Err)
	switch {
	case intact && refused.ofEntry:
		return fmt.Sprintf("its entry %.100q %v", e.Entry, e.Err)
	case intact:
		return "it " + e.Err.Error()
	case e.Entry != "":
		return fmt.Sprintf("%v in the entry %.100q", e.Err, e.Entry)
	}
	return e.Err.Error()
}

func (e *ArchiveError) Unwrap() error { return e.Err }

// isSystemError reports whether the system caused the error, for example because the
// disk is full, and not the archive.
func isSystemError(err error) bool {
	_, found := errors.AsType[syscall.Errno](err)
	return found
}

// readArchive reads the archive at name to its end, unpacks it into root unless that is nil,
// and returns its content. It checks each entry before it unpacks it.
//
// Files get mode 0644 and directories 0755, less the umask. Owners, times, and modes of
// the archive are dropped. Errors are *ArchiveError, those of the system, and
// context.Cause(ctx). After an error, root may hold a part of the archive.
func readArchive(ctx context.Context, name string, root *os.Root) (tree, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	a := &archiveReader{ctx: ctx, root: root, tree: tree{}, left: limits.bytes}
	err = a.read(file)
	if err == nil && a.files == 0 {
		err = errEmpty
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !isSystemError(err):
		_, intact := errors.AsType[*refusal](err)
		return nil, &ArchiveError{a.current, err, !intact}
	}
	return a.tree, err
}

// archiveReader is one pass over an archive.
type archiveReader struct {
	ctx     context.Context
	root    *os.Root // where it is unpacked to; nil if it is only read
	current string   // name of the entry that is read, as in the archive; "" between entries
	tree    tree     // every path named or implied so far
	files   int      // of these
	left    int64    // bytes that files may still unpack to
}

func (a *archiveReader) read(file *os.File) error {
	magic := make([]byte, 4)
	if _, err := file.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.Equal(magic, []byte("PK\x03\x04")), bytes.Equal(magic, []byte("PK\x05\x06")):
		return a.zip(file)
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		return a.tar(unzipped)
	}
	return a.tar(file)
}

func (a *archiveReader) tar(source io.Reader) error {
	// This limits how much is read, including headers and padding.
	const perEntry, trailer = 4 << 10, 1 << 20
	left := limits.bytes + int64(limits.entries)*perEntry + trailer
	stream := bufio.NewReader(&meter{a.ctx, source, &left})
	if _, err := stream.Peek(512); err == io.EOF {
		return errFormat // shorter than one block
	}
	r := tar.NewReader(stream)
	for {
		a.current = ""
		header, err := r.Next()
		switch {
		case err == io.EOF:
			// The checksum of a gzip file is at its end, after any padding of the tar.
			_, err := io.Copy(io.Discard, stream)
			return err
		case errors.Is(err, tar.ErrHeader) && len(a.tree) == 0:
			return errFormat
		case err != nil:
			return err
		}
		a.current = header.Name
		var body io.Reader
		switch header.Typeflag {
		case tar.TypeReg:
			body = r
		case tar.TypeDir:
		case tar.TypeXGlobalHeader:
			continue // git archive writes one; it is not a file
		default:
			return errKind
		}
		if err := a.add(body); err != nil {
			return err
		}
	}
}

// zipDirectory limits what zip.NewReader reads, all of which it keeps in memory.
type zipDirectory struct {
	io.ReaderAt
	left int64
}

func (d *zipDirectory) ReadAt(p []byte, at int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, at)
	if d.left -= int64(n); d.left < 0 {
		return 0, errListing
	}
	return n, err
}

func (a *archiveReader) zip(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	directory := &zipDirectory{file, int64(limits.entries)*512 + 1<<20}
	r, err := zip.NewReader(directory, info.Size())
	if err != nil {
		return err
	}
	directory.left = math.MaxInt64
	for _, f := range r.File {
		a.current = f.Name
		if err := a.zipEntry(f); err != nil {
			return err
		}
	}
	a.current = ""
	return nil
}

func (a *archiveReader) zipEntry(f *zip.File) error {
	const encrypted = 1 // bit of the general purpose flags (APPNOTE 4.4.4)
	switch mode := f.Mode(); {
	case f.Flags&encrypted != 0:
		return errEncrypted
	case mode.IsDir():
		return a.add(nil)
	case !mode.IsRegular():
		return errKind
	}
	body, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return errMethod
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return a.add(body)
}

// add adds the current entry, after its parents. A directory has no body.
func (a *archiveReader) add(body io.Reader) error {
	name, err := cleanName(a.current)
	switch {
	case err != nil:
		return err
	case name == "." && body != nil:
		return errName
	case name == ".":
		return nil
	}
	for i, c := range name {
		if c == '/' {
			if err := a.enter(name[:i], nil); err != nil {
				return err
			}
		}
	}
	return a.enter(name, body)
}

// maxName is the longest name of an entry in bytes. With the directory that it is unpacked into, a
// name must fit into a path of the system, and each parent takes time.
const maxName = 1024

// cleanName returns the slash-separated path of an entry, relative to the root of the
// archive, which is ".". On every system, it refuses names that lead out of the archive,
// backslashes, which separate directories on Windows only, and names and elements that are too
// long for common file systems. It also refuses what the system reserves.
func cleanName(raw string) (string, error) {
	name := path.Clean(raw)
	_, err := filepath.Localize(name)
	tooLong := slices.ContainsFunc(strings.Split(name, "/"), func(element string) bool { return len(element) > 255 })
	if err != nil || len(name) > maxName || tooLong || strings.ContainsFunc(name, func(r rune) bool { return r == '\\' || unicode.IsControl(r) }) {
		return "", errName
	}
	return name, nil
}

// enter adds one path to the tree. Only a directory may be entered again.
func (a *archiveReader) enter(name string, body io.Reader) (err error) {
	known, again := a.tree[name]
	switch {
	case again && known == ofDirectory && body == nil:
		return nil
	case again && name == a.current:
		return errConflict
	case again:
		return fmt.Errorf("%w: %.100q", errConflict, name)
	case len(a.tree) == limits.entries:
		return errTooMany
	case body != nil:
		a.files++
		a.tree[name], err = a.readFile(name, &meter{a.ctx, body, &a.left})
	case a.root != nil:
		a.tree[name], err = ofDirectory, a.root.Mkdir(name, 0o755)
	default:
		a.tree[name] = ofDirectory
	}
	if errors.Is(err, fs.ErrExist) {
		return errConflict // the file system ignores case
	}
	return err
}

func (a *archiveReader) readFile(name string, body io.Reader) (checksum, error) {
	if a.root == nil {
		return sumOf(body)
	}
	file, err := a.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return checksum{}, err
	}
	sum, err := sumOf(io.TeeReader(body, file))
	return sum, errors.Join(err, file.Close())
}

// meter reads from source. It fails when ctx has ended, or when more than *left bytes
// have been read.
type meter struct {
	ctx    context.Context
	source io.Reader
	left   *int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.ctx.Err() != nil {
		return 0, context.Cause(m.ctx)
	}
	n, err := m.source.Read(p)
	if *m.left -= int64(n); *m.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
